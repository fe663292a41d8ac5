"""What a statement says: offences, sameness, amounts, intent."""
