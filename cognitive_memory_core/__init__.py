"""The memory of chat bots: an asyncio library without a dependency on any bot framework.

``__init__.pyi`` names what is public and where it is defined. Each name is imported when it is first used, so that
importing the package costs little; a failed import is tried again at the next use.
"""

import re
from importlib import import_module
from pathlib import Path

_DECLARED = Path(__file__).with_name("__init__.pyi").read_text("utf-8")
_HOMES = {name: home for home, name in re.findall(r"^from \.(\S*) import (\w+)", _DECLARED, re.MULTILINE)}
__all__ = sorted(_HOMES)  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]  # checkers read the stub


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_HOMES[name] or name}", __name__)  # a name without a home is a module itself
    value: object = getattr(module, name) if _HOMES[name] else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
