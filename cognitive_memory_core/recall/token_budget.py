"""Division of a token budget among the sections, and the order in which sentences are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from ..domain.context import Section
from ..text.caches import cleared_on_erasure
from ..text.lexical.tokens import sentences_of, token_count
from .render import fenced, heading

Kind = Literal["profiles", "events", "memos", "rest"]
SHARES: Mapping[Kind, float] = MappingProxyType({"profiles": 0.35, "events": 0.35, "memos": 0.15, "rest": 0.15})


@dataclass(frozen=True)
class Part:
    """A section to be fitted, the kind that sets its share of the budget, and whether its newest lines come last."""

    kind: Kind
    section: Section
    newest_last: bool = False


def fitted(parts: Sequence[Part], budget: int) -> tuple[Section, ...]:
    """Return the non-empty sections, in order, cut so that their block has at most ``budget`` tokens.

    Each kind has a share of the budget. Tokens that one part does not use are passed to the parts that were cut, in the
    order of the parts. Whole sentences are cut from the least relevant end: the last lines first, or the first lines if
    the newest come last. Token counts are added up line by line, each rounded up, so the block never exceeds the
    budget.
    """
    room = budget - _fence_cost()
    if sum(section_tokens(part.section) for part in parts) <= room:  # as in most turns
        return tuple(part.section for part in parts if part.section.lines)
    left = {kind: int(room * share) for kind, share in SHARES.items()}
    kept: list[Section] = []
    for part in parts:
        kept.append(_cut(part, left[part.kind]))
        left[part.kind] -= section_tokens(kept[-1])
    spare = room - sum(map(section_tokens, kept))
    for at, (part, section) in enumerate(zip(parts, kept, strict=True)):
        if section != part.section:
            kept[at] = _cut(part, section_tokens(section) + spare)
            spare -= section_tokens(kept[at]) - section_tokens(section)
    return tuple(section for section in kept if section.lines)


def _cut(part: Part, limit: int) -> Section:
    left = limit - _line_cost(heading(part.section))
    kept: list[str] = []
    for line in reversed(part.section.lines) if part.newest_last else part.section.lines:
        fitting = _head(line, left)
        if fitting:
            kept.append(fitting)
        if fitting != line:
            break
        left -= _line_cost(line)
    return replace(part.section, lines=tuple(reversed(kept) if part.newest_last else kept))


def _head(line: str, limit: int) -> str:
    """Return the leading whole sentences of a line that fit into ``limit`` tokens."""
    if _line_cost(line) <= limit:
        return line
    fitting, limit = "", limit - _line_cost("")
    for sentence in sentences_of(line):
        limit -= token_count(sentence)
        if limit < 0:
            break
        fitting += sentence
    return fitting


def section_tokens(section: Section) -> int:
    """Return how many tokens a section takes with its title; 0 without lines."""
    return sum(map(_line_cost, (heading(section), *section.lines))) if section.lines else 0


@cache
def _fence_cost() -> int:
    return token_count(fenced(()))


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # many lines are the same in every turn
def _line_cost(line: str) -> int:
    return token_count(line + "\n")
