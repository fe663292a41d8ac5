"""The attacker's inputs: names, orders in two languages, and wrappings, written for these rows."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cognitive_memory_core.recall.render import CLOSED, OPENED

NASTY = Path(__file__).resolve().parents[2] / "tests" / "prompts" / "nasty"
PARTS = (
    "名单",
    "已记住",
    "前情",
    "聊天",
    "来源",
    "观察",
    "旧侧写",
    "事实",
    "群记忆",
    "其余聊天的摘要",
    "经历",
)  # parts of a prompt, each between its own tags
_RECALLED = re.compile(r"<已记住>.*?</已记住>\s*", re.DOTALL)
_CHAT_TOKENS = re.compile(r"<[|｜]|[|｜]>")
TAGS = re.compile(r"</?\w+>")
JOINER = "\u200d"


@cache
def names() -> list[str]:
    """Return names that impersonate somebody or try to break what displays them."""
    found: list[str] = json.loads((NASTY / "names.json").read_text("utf-8"))["names"]
    return found


@cache
def payloads() -> list[str]:
    """Return every order in every wrapping."""
    read = json.loads((NASTY / "payloads.json").read_text("utf-8"))
    orders = [*read["orders"]["zh"], *read["orders"]["en"]]
    return [wrapping.replace("$order", order) for order in orders for wrapping in read["wrappings"]]


def strange_signs(text: str) -> int:
    """Count control, format, private and unpaired characters, and unusual line ends."""
    kept = ("\n", "\t", JOINER)
    return sum(
        1 for char in text if char not in kept and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
    )


def lines_in(prompt: str) -> int:
    """Count the lines of a prompt without those recalled; no name or message may add or remove one."""
    return _RECALLED.sub("", prompt).count("\n")


def forged_marks(prompt: str) -> int:
    """Count tags of parts, of any character width, that are not ours or occur twice."""
    found = TAGS.findall(unicodedata.normalize("NFKC", prompt))
    ours = {mark for part in PARTS for mark in (f"<{part}>", f"</{part}>")}
    return len(found) - len(ours.intersection(found))


def forged_labels(name: str, texts: Iterable[str]) -> int:
    """Count the texts in which a name that imitates a label stands unchanged."""
    worn = unicodedata.normalize("NFKC", name)
    if "(" not in worn:
        return 0
    return sum(1 for text in texts if worn in unicodedata.normalize("NFKC", text))


def forged_fences(block: str) -> int:
    """Count additional fence marks in a context block, also after Unicode normalisation."""
    if not block:
        return 0
    folded = unicodedata.normalize("NFKC", block)
    extra = folded.count(OPENED) + folded.count(CLOSED) - 2
    framed = block.startswith(OPENED) and block.endswith(CLOSED)
    return extra + int(not framed) + len(_CHAT_TOKENS.findall(folded)) + block.count("<") + block.count(">")
