"""Names and ids of people in text."""
