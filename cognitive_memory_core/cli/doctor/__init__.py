"""``cognitive-memory doctor``: checks, each of which finds one kind of fault and says what to do."""
