"""Analysis of statements: offences, sameness, amounts, who is asked about."""
