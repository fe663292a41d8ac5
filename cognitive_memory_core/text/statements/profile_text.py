"""Sanitising of profiles that a model or an editor wrote, before they are stored."""

from __future__ import annotations

from dataclasses import replace

from ...domain.profile import Profile
from ..names import NAME_LENGTH, clean_name, clean_text, one_line


def tidy(profile: Profile) -> Profile:
    """Return a profile with sanitised name, tags and summary; clean text is unchanged."""
    tags = tuple(tag for tag in map(one_line, profile.tags) if tag)
    return replace(profile, name=_name(profile.name), tags=tags, summary=clean_text(profile.summary).strip())


def _name(name: str) -> str:
    """Clean a name; one that looks like a placeholder is kept, because somebody chose it."""
    return clean_name(name) or one_line(name, NAME_LENGTH)
