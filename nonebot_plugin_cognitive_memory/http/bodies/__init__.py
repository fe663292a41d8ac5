"""Bodies of requests and answers as pydantic models, each made from the core's own nouns."""
