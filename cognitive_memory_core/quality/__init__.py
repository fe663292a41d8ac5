"""The quality report: counters, comparisons of what is stored, and the report as Markdown, JSON and a page."""
