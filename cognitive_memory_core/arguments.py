"""Type checks for the arguments of public methods, run before the method body."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from . import sentences
from .errors import BadArgument

C = TypeVar("C", bound=type[Any])
_ALSO: Mapping[object, tuple[type, ...]] = {float: (int,), Path: (str,)}  # further types accepted for a hint


def checks_arguments(cls: C) -> C:
    """Check the arguments of a class's public coroutine methods against their annotations; raise BadArgument if wrong.

    None is replaced by the default if there is one.
    """
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") and inspect.iscoroutinefunction(member):
            setattr(cls, name, _checked(member))
    return cls


@dataclass(frozen=True)
class _Parameter:
    """One parameter's name, type hint and default."""

    name: str
    hint: object
    default: object

    def admitted(self, value: object) -> object:
        """Return the value, or the default for None; raise BadArgument for what does not fit."""
        if _fits(value, self.hint):
            return value
        if value is None and self.default is not inspect.Parameter.empty:
            return self.default
        raise BadArgument(sentences.caller.bad_value(self.name, value, sentences.caller.one_of(_names(self.hint))))


def _checked(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    hints = get_type_hints(method)
    described = list(inspect.signature(method).parameters.values())[1:]
    parameters = [_Parameter(one.name, hints[one.name], one.default) for one in described]
    by_name = {one.name: one for one in parameters}

    @functools.wraps(method)
    async def call(self: object, *args: object, **kwargs: object) -> object:
        checked = [one.admitted(value) for one, value in zip(parameters, args, strict=False)]
        named = {name: by_name[name].admitted(value) if name in by_name else value for name, value in kwargs.items()}
        return await method(self, *checked, *args[len(parameters) :], **named)

    return call


def _fits(value: object, hint: object) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is Sequence:  # items are checked where they are used
        return isinstance(value, Iterable) and not isinstance(value, Mapping | bytes)
    return isinstance(hint, type) and isinstance(value, (hint, *_ALSO.get(hint, ())))


def _names(hint: object) -> list[str]:
    """Return the names of the accepted types or literals, without None."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return [name for one in get_args(hint) if one is not NoneType for name in _names(one)]
    if origin is Literal:
        return [str(one) for one in get_args(hint)]
    if origin is Sequence:
        return ["Sequence"]
    return [hint.__name__] if isinstance(hint, type) else [str(hint)]
