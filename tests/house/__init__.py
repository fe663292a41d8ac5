"""What the house promises of itself: layers, names, language, weight; checked by reading the code."""
