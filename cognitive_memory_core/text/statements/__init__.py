"""Analysis of statements: offences, sameness, amounts, intent."""
