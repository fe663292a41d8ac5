"""Portraits as they may be kept: whatever a model or an editor wrote, one name, plain tags, clean text."""

from __future__ import annotations

from dataclasses import replace

from ...domain.profile import Profile
from ..identity.names import NAME_LENGTH, clean_name, clean_text, one_line


def tidy(profile: Profile) -> Profile:
    """Give a portrait whose words break no line, file or prompt; the very words where they are fine."""
    tags = tuple(tag for tag in map(one_line, profile.tags) if tag)
    return replace(profile, name=_name(profile.name), tags=tags, summary=clean_text(profile.summary).strip())


def _name(name: str) -> str:
    """Clean a name, and keep one that looks like a placeholder: who put it here meant it."""
    return clean_name(name) or one_line(name, NAME_LENGTH)
