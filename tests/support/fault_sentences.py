"""The sentences that users can see, read from the code, and docs/troubleshooting.md, which explains those of faults.

``python -m tests.support.fault_sentences`` writes the sentences of the page anew after one was reworded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
ROOMS = {"sentences": "cognitive_memory_core/sentences", "replies": "nonebot_plugin_cognitive_memory/replies"}
SHOWN = re.compile(r"<!-- ((?:sentences|replies)/[\w.]+) -->(.*?)(?=<br>| \|)")
QUOTED = re.compile(r"<!-- says ((?:sentences|replies)/\w+) -->(.*?)(?=<br>| \|)")
BLANK = re.compile(r"\{[^{}]*\}")


@cache
def sentences() -> Mapping[str, str]:
    """Return every public sentence by ``room/module.NAME``, with … where values stand."""
    found: dict[str, str] = {}
    for room, folder in ROOMS.items():
        for path in sorted((ROOT / folder).glob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            for name, text in _named(tree):
                if _is_sentence(text):
                    found[f"{room}/{path.stem}.{name}"] = text
    return found


def explained(page: str) -> Mapping[str, str]:
    """Return the sentences that a page explains, by their names."""
    return dict(SHOWN.findall(page))


def rewritten(page: str) -> str:
    """Return the page with each sentence as it is in the code; a name that is gone keeps its text."""
    return SHOWN.sub(lambda found: f"<!-- {found[1]} -->{cell(sentences().get(found[1], found[2]))}", page)


def cell(text: str) -> str:
    """Return a sentence as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def quoted(page: str) -> list[tuple[str, str]]:
    """List the remarks that a page quotes from a module which puts them together, with the module."""
    return QUOTED.findall(page)


def _named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value) | ast.AnnAssign(target=ast.Name(name), value=value):
                yield from _valued(name, value)
            case ast.Assign(targets=[ast.Tuple(names)], value=ast.Tuple(values)):
                for name, value in zip(names, values, strict=True):
                    yield from _valued(name.id if isinstance(name, ast.Name) else "", value)
            case ast.FunctionDef(name=name):
                returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
                yield name, max((_text(value) for value in returned), key=len, default="")
            case _:
                pass


def _valued(name: str, value: ast.expr | None) -> Iterator[tuple[str, str]]:
    if isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield f"{name}.{key.value}", BLANK.sub("…", _text(one))
    elif value is not None:
        text = _text(value).replace("{{", "｛").replace("}}", "｝")
        yield name, BLANK.sub("…", text).translate({ord("｛"): "{", ord("｝"): "}"})


def _text(node: ast.expr) -> str:
    """Return the words of an expression, with … where a value stands."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(values):
            return re.sub("…+", "…", "".join(_text(one) for one in values))
        case ast.BinOp(left, ast.Add(), right):
            return _text(left) + _text(right)
        case ast.IfExp(_, body, _):
            return _text(body)
        case _:
            return "…"


def _is_sentence(text: str) -> bool:
    return len(re.findall(r"[\u4e00-\u9fff]", text)) > 1


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
