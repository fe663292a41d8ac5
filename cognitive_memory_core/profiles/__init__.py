"""Profiles: one Markdown file each, with its revisions beside it."""
