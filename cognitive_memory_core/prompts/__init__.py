"""Builds the prompts for models and parses their answers: one typed function per prompt."""
