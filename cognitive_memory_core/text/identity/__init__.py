"""Names and ids of people, as they stand in text."""
