"""The façade, and what it opens: the only package that knows every other one."""
