"""Type checks for the arguments of public methods, run before the method body."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from . import sentences
from .errors import BadArgument

C = TypeVar("C", bound=type[Any])
_ALSO: Mapping[object, tuple[type, ...]] = {float: (int,), Path: (str,)}  # further types accepted for a hint


def checks_arguments(homes: Mapping[str, str]) -> Callable[[C], C]:
    """Decorate a class so that its public coroutine methods check their arguments and raise BadArgument.

    None is replaced by the parameter's default if there is one. Annotations are read at the first call of each method;
    ``homes`` maps types that the class's module imports only for type checking to the modules that define them.
    """

    def decorated(cls: C) -> C:
        types = _Types(homes, cls.__module__.rpartition(".")[0])
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(member):
                setattr(cls, name, _checked(member, types))
        return cls

    return decorated


class _Types(dict[str, object]):
    """A mapping from names to types, each imported when it is looked up."""

    def __init__(self, homes: Mapping[str, str], package: str) -> None:
        self._homes = homes
        self._package = package

    def __missing__(self, name: str) -> object:
        return getattr(import_module(f".{self._homes[name]}", self._package), name)


@dataclass(frozen=True)
class _Parameter:
    """One parameter's name, type hint and default."""

    name: str
    hint: object
    default: object

    def admitted(self, value: object) -> object:
        """Return the value, or the default for None; raise BadArgument for a value of another type."""
        if _fits(value, self.hint):
            return value
        if value is None and self.default is not inspect.Parameter.empty:
            return self.default
        raise BadArgument(sentences.caller.bad_value(self.name, value, sentences.caller.one_of(_names(self.hint))))


def _checked(method: Callable[..., Awaitable[Any]], types: _Types) -> Callable[..., Awaitable[Any]]:
    @functools.cache
    def parameters() -> Mapping[str, _Parameter]:
        return {one.name: one for one in _parameters(method, types)}

    @functools.wraps(method)
    async def call(self: object, *args: object, **kwargs: object) -> object:
        by_name = parameters()
        checked = [one.admitted(value) for one, value in zip(by_name.values(), args, strict=False)]
        named = {name: by_name[name].admitted(value) if name in by_name else value for name, value in kwargs.items()}
        return await method(self, *checked, *args[len(by_name) :], **named)

    return call


def _parameters(method: Callable[..., Awaitable[Any]], types: _Types) -> list[_Parameter]:
    described = list(inspect.signature(method).parameters.values())[1:]
    taken = SimpleNamespace(__annotations__={one.name: one.annotation for one in described})  # not what it returns
    hints = get_type_hints(taken, method.__globals__, types)
    return [_Parameter(one.name, hints[one.name], one.default) for one in described]


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
