"""The sentences that users can see, read from the code, and docs/troubleshooting.md, which explains those of faults.

``python -m tests.support.fault_sentences`` writes the sentences of the page anew after one was reworded; a new sentence
of a fault needs a row there (what it means, what to do), any other a name in ``NO_FAULTS``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
ROOMS = {"sentences": "cognitive_memory_core/sentences", "replies": "nonebot_plugin_cognitive_memory/replies"}
SHOWN = re.compile(r"<!-- ((?:sentences|replies)/[\w.]+) -->(.*?)(?=<br>| \|)")
QUOTED = re.compile(r"<!-- says ((?:sentences|replies)/\w+) -->(.*?)(?=<br>| \|)")
BLANK = re.compile(r"\{[^{}]*\}")
NO_FAULTS = (  # patterns of names that are no fault; what the page explains is one all the same
    *("sentences/caller.NOT_TAKEN.*", "sentences/caller.outcome", "sentences/caller.DONE", "sentences/caller.READING*"),
    *("sentences/context.*", "sentences/models.FEEDBACK*", "sentences/report.*", "sentences/context.*"),
    *(
        "replies/commands.ALLOWED",
        "replies/commands.ALREADY",
        "replies/commands.FORBIDDEN",
        "replies/commands.PROGRESS",
    ),
    *("replies/commands.STOP*", "replies/commands.STARTED", "replies/commands.ENDED"),
    "replies/commands.NOTHING_TO_STOP",
    *(
        "replies/status.[A-Z]*",
        "replies/console_en.*",
        "replies/console_zh.*",
        "replies/http_guide.*",
        "replies/chat_plugins.PLUGIN_*",
    ),
    *("replies/commands.SEARCHED.*", "replies/http.HELP.*", "*._*"),
    *("sentences/command_line.*_OPTION", "sentences/command_line.*_SUMMARY", "sentences/command_line.*_ARGUMENT"),
    *("sentences/command_line.USAGE", "sentences/command_line.OPTIONS", "sentences/command_line.COMMAND_OVERVIEW"),
    *("sentences/command_line.RETRIED", "sentences/command_line.*ING", "sentences/command_line.EXPORTED*"),
    *("sentences/command_line.*DOWNLOADED", "sentences/command_line.IMPORTED", "sentences/command_line.REINDEXED*"),
    *(
        "sentences/command_line.MARKS.*",
        "sentences/command_line.PROBE",
        "sentences/command_line.*_READ",
        "sentences/command_line.WRITABLE",
    ),
    *("sentences/command_line.HASHING", "sentences/command_line.ENCODER", "sentences/command_line.LOCAL_MODEL"),
    *(
        "sentences/command_line.BORROWED",
        "sentences/models.LENT",
        "sentences/models.LENT_NO_MORE",
        "sentences/models.LOCAL_MODEL_LOADS",
        "sentences/models.LENT_TO.*",
        "sentences/caller.HERE",
        "sentences/caller.EACH_PERSON",
    ),
    *("sentences/command_line.OFFLINE", "sentences/command_line.*_ANSWERS", "sentences/command_line.PACKAGES_FIT"),
    *("sentences/command_line.FONT_FOUND", "sentences/command_line.summary"),
    *("sentences/caller.*_BY_HAND", "sentences/caller.REASONS.*", "sentences/caller.summary"),
    *("sentences/caller.STRENGTH_SET", "sentences/log.PARTS.*", "sentences/log.INDEX_*", "sentences/log.EVOLVED"),
    *(
        "sentences/log.TIMES_SWAPPED",
        "sentences/log.WORKS_AGAIN",
        "sentences/log.PART_IS_BACK",
        "sentences/log.PROFILE_FACTS_LEFT",
    ),
    *("sentences/caller.KINDS.*", "sentences/caller.READING", "sentences/caller.CHROMA_FOLDER"),
    *("sentences/caller.ROW", "sentences/caller.PREVIEWED", "sentences/caller.MIGRATED"),
    "sentences/caller.TAKEN_OVER",
    *("sentences/settings.HIDDEN", "sentences/report.*", "sentences/caller.SUGGESTION_*"),
    *("sentences/caller.draft", "sentences/tools.TOOL_TEXTS.*"),
    *("sentences/tools.PROFILE_RESOURCES", "sentences/tools.AGENT_GUIDE"),
    *("replies/*MOUNTED", "replies/memories.RETIRED", "replies/memories.RESTORED", "replies/memories.changes"),
    *(
        "replies/chat_plugins.ANY_PLUGIN",
        "replies/chat_plugins.ATTACHED",
        "replies/chat_plugins.MEMO",
        "replies/commands.CODE",
    ),
    *("replies/commands.UNPINNED", "replies/commands.INCOGNITO_ENDED", "replies/commands.VERSION"),
    *("replies/commands.OPTED_*", "replies/commands.CONFIRM_*", "replies/commands.EXPORTED*"),
    *("replies/commands.switched", "replies/commands.CONSIDERED", "replies/commands.SUMMARY"),
    *("replies/commands.TRIED_NOW", "replies/commands.TAKEN_BY_RULES", "replies/status.refused"),
    *("replies/commands.REVIVED", "replies/commands.REINDEXED", "replies/commands.PAUSED", "replies/commands.RESUMED"),
    *("replies/status.nothing_yet", "replies/status.waiting_lines_text", "replies/commands.pinned"),
    *("replies/commands.CORRECTED", "replies/commands.INCOGNITO", "replies/commands.announcement"),
    *("replies/status.status_title", "replies/status.failed_list", "replies/memories.forgotten"),
    *(
        "replies/memories.NOT_READ_HERE",
        "replies/memories.UNKNOWN_ANSWER",
        "replies/memories.NOTHING_BEHIND",
        "replies/memories.caught_up",
        "replies/memories.reasons",
        "replies/memories.speaker_of",
    ),
    *("replies/memories.restored", "replies/memories.pin_list", "replies/commands.viewed", "replies/commands.*SHARED"),
    *("replies/commands.ROLLED_BACK", "replies/log.KEYWORD", "replies/log.left_place", "replies/log.forgot_place"),
    *("replies/log.started", "replies/log.historian", "replies/commands.NOTHING_CHANGED", "replies/commands.RELOADED"),
    *("replies/commands.SAME_VALUE", "replies/memories.ACCEPTED"),
    *("replies/memories.DISMISSED", "replies/chat_plugins.TOOL_GUIDE"),
)


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


def undecided(page: str) -> list[str]:
    """List the sentences that are neither explained nor known to be no faults."""
    known = explained(page)
    return [name for name in sentences() if name not in known and not is_no_fault(name)]


def is_no_fault(name: str) -> bool:
    """Return whether a sentence is listed as no fault."""
    return any(fnmatchcase(name, pattern) for pattern in NO_FAULTS)


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
