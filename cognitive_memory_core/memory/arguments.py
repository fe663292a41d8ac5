"""Type checks for the arguments of public methods, run before the method body."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .. import sentences
from ..domain.ids import checked_id
from ..errors import BadArgument

C = TypeVar("C", bound=type[Any])
_ALSO: Mapping[object, tuple[type, ...]] = {float: (int,), Path: (str,)}  # further types accepted for a hint


def checks_arguments(cls: C) -> C:
    """Let the public coroutine methods of a class check their arguments, and raise BadArgument.

    None is replaced by the parameter's default if there is one. A text for a parameter whose name ends in ``_id`` must
    be an id. Annotations are read at the first call of each method.
    """
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") and inspect.iscoroutinefunction(member):
            setattr(cls, name, _checked(member))
    return cls


def _checked(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    defaults = {one.name: one.default for one in list(inspect.signature(method).parameters.values())[1:]}

    @functools.cache
    def hints() -> Mapping[str, Any]:
        annotations = {name: method.__annotations__[name] for name in defaults}
        return get_type_hints(SimpleNamespace(__annotations__=annotations), method.__globals__)

    def admitted(name: str, value: object) -> object:
        hint, default = hints().get(name), defaults.get(name, inspect.Parameter.empty)
        if hint is None or type(value) is hint or _fits(value, hint):
            return checked_id(value, name) if name.endswith("_id") and isinstance(value, str) else value
        if value is None and default is not inspect.Parameter.empty:
            return default
        raise BadArgument(sentences.caller.bad_value(name, value, sentences.caller.one_of(_names(hint))))

    @functools.wraps(method)
    async def call(self: object, *args: object, **kwargs: object) -> object:
        checked = [admitted(name, value) for name, value in zip(defaults, args, strict=False)]
        named = {name: admitted(name, value) for name, value in kwargs.items()}
        return await method(self, *checked, *args[len(defaults) :], **named)

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
    return [getattr(origin or hint, "__name__", str(hint))]
