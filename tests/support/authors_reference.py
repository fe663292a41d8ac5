"""The reference page for authors of chat plugins, made from the code.

``python -m tests.support.authors_reference`` writes docs/authors-reference.md; tests/plugin/test_reference.py compares.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import cognitive_memory_core as core
from tests.house.test_front_door import ERRORS, NOUNS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "authors-reference.md"
HEAD = """\
# Reference for authors

Made from the code by `python -m tests.support.authors_reference`; recipes stand in [authors.md](authors.md).
Everything is imported from `nonebot_plugin_cognitive_memory`, nouns and errors from `cognitive_memory_core`.
"""


def page(plugin: ModuleType) -> str:
    """Return the page for the loaded plugin."""
    return "\n".join([HEAD, *_injected(plugin), *_plain(plugin), *_facade(), *_nouns(), *_errors()])


def _injected(plugin: ModuleType) -> Iterator[str]:
    yield "## Injected\n\nParameters of a handler, by annotation.\n"
    for name, said in _strings_after_assignments(inspect.getsource(plugin.injected)):
        yield f"### `{name}`\n\n`{_kind(getattr(plugin, name).__origin__)}`\n\n{said.replace('``', '`')}\n"


def _plain(plugin: ModuleType) -> Iterator[str]:
    yield "## Plain functions\n\nFor code without injection.\n"
    for name in plugin.__all__:
        if inspect.isfunction(function := getattr(plugin, name)):
            yield _function(name, function)


def _facade() -> Iterator[str]:
    yield "## `CognitiveMemory`\n\nWhat `Memory` and `get_memory()` give.\n"
    for kind in reversed(core.CognitiveMemory.__mro__):  # reads come first
        for name, method in vars(kind).items():
            if not name.startswith("_") and inspect.iscoroutinefunction(method):
                yield _function(name, method)


def _nouns() -> Iterator[str]:
    yield "## Nouns\n"
    for name in sorted(NOUNS):
        kind = getattr(core, name)
        yield f"### `{name}`\n\n{_text(kind)}\n"
        if dataclasses.is_dataclass(kind):
            yield "\n".join(f"- `{one.name}: {one.type}`" for one in dataclasses.fields(kind)) + "\n"


def _errors() -> Iterator[str]:
    yield "## Errors\n\n| error | is a | meaning |\n| --- | --- | --- |"
    for name in sorted(ERRORS):
        kind = getattr(core, name)
        yield f"| `{name}` | `{kind.__bases__[0].__name__}` | {_text(kind).splitlines()[0]} |"


def _function(name: str, function: Any) -> str:
    keyword = "async def" if inspect.iscoroutinefunction(function) else "def"
    return f"### `{name}`\n\n```python\n{keyword} {name}{_signature(function)}\n```\n\n{_text(function)}\n"


def _signature(function: Any) -> str:
    return re.sub(r"'([^']*)'", r"\1", str(inspect.signature(function))).replace("(self, ", "(").replace("(self)", "()")


def _kind(kind: Any) -> str:
    is_plain = inspect.isclass(kind) and not get_args(kind)  # on Python 3.10 Callable[...] counts as a class
    return kind.__name__ if is_plain else re.sub(r"(?:\w+\.)+(\w+)", r"\1", str(kind))


def _text(documented: Any) -> str:
    return re.sub(r":\w+:`~?\.?([^`]*)`", r"`\1`", inspect.cleandoc(documented.__doc__ or "")).replace("``", "`")


def _strings_after_assignments(source: str) -> list[tuple[str, str]]:
    return re.findall(r'^(\w+) = Annotated\[.*?\n"""(.*?)"""', source, re.MULTILINE | re.DOTALL)


def main() -> None:
    """Write the page."""
    import nonebot

    nonebot.init(driver="~none")
    assert nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    import nonebot_plugin_cognitive_memory as plugin

    PAGE.write_text(page(plugin), "utf-8")


if __name__ == "__main__":
    main()
