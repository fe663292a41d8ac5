"""Checks that a chat plugin to bridge is loaded, in a version that was tried, with the functions to wrap or call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from nonebot import get_loaded_plugins

from .. import replies

PREFIX = "cm_"
"""Begins the names of the memory's tools, so that they differ from those of the chat plugin's own tools."""


class NotAttachedError(Exception):
    """The bridge to a chat plugin was not attached; the message is the reason in Chinese.

    The chat plugin runs as usual, but without this memory.
    """


@dataclass(frozen=True)
class Companion:
    """A chat plugin that a bridge connects to the memory: its module, and the function that attaches the bridge.

    ``tried`` gives for each of its distributions the versions with which the bridge was tried.
    """

    name: str
    module: str
    tried: Mapping[str, str]
    attach: Callable[[], None] = field(repr=False)

    def checked(self) -> str:
        """Return the chat plugin's version; raise NotAttachedError unless it is loaded in a version that was tried."""
        if not any(plugin.module_name == self.module for plugin in get_loaded_plugins()):
            raise NotAttachedError(replies.bridges.not_loaded(self.module))
        return self.checked_versions()

    def checked_versions(self) -> str:
        """Return the version of the first distribution; raise NotAttachedError if the version of any was not tried."""
        found = [_checked_version(name, specifier) for name, specifier in self.tried.items()]
        return found[0]


def part_of(module: str, name: str, parameters: tuple[str, ...] = ()) -> Any:
    """Return the attribute ``name`` of a chat plugin's module; "Class.method" is a method.

    Raises NotAttachedError if it is missing, or is a function that lacks one of ``parameters``.
    """
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    except (ImportError, AttributeError) as missing:
        raise NotAttachedError(replies.bridges.missing_part(f"{module}.{name}")) from missing
    if parameters and not set(parameters) <= set(inspect.signature(getattr(found, "__func__", found)).parameters):
        raise NotAttachedError(replies.bridges.missing_part(f"{module}.{name}({', '.join(parameters)})"))
    return found


def _checked_version(distribution: str, specifier: str) -> str:
    try:
        found = version(distribution)
    except PackageNotFoundError:
        found = replies.bridges.NO_VERSION
    if found == replies.bridges.NO_VERSION or not _is_among(found, specifier):
        raise NotAttachedError(replies.bridges.untried_version(distribution, found, specifier))
    return found


def _is_among(found: str, specifier: str) -> bool:
    """Return whether a version matches a specifier; imports ``packaging``, which is needed only by bridges."""
    specifiers: Any = import_module("packaging.specifiers")
    return specifiers.SpecifierSet(specifier).contains(found, prereleases=True)
