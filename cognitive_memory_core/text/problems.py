"""Problems and solutions as people tell them: which problems are the same, what a solution consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .characters import folded
from .numbers import ID_LABEL
from .retelling import share, trace_of

_READ = 500  # characters of a text that are read
SAME, LEAST = 0.58, 0.42  # measured on 28 pairs of problems: 13 of 15 equal ones are joined, no two different ones
BY_SOLUTION = 0.3  # how much an equal solution adds
_AGAIN = re.compile(r"又|了|老是|总是?|一直|经常|有时候?|的|以后|之后|突然|今天|刚才?")
_CODE = re.compile(r"[a-z]*[0-9]+[a-z0-9]*")
_STEPS = re.compile(
    r"先(?!生|前|进|锋).{2,}?(?:再|然后|接着|最后)|第[一二三四1-4]步|[，,；;。]\s*(?:然后|接着)|(?:^|\s)1[.、)）].+2[.、)）]"
)
_STEP_ENDS = re.compile(
    r"[，,；;。]?\s*(?:然后|接着|最后|第[一二三四五六七八九十1-9]步[：:，,]?|(?<![0-9.])[1-9][.、)）](?![0-9]))"
    r"|[，,；;。]\s*再|[；;]"
)
_TOOL = re.compile(
    r"`[^`]+`|(?<![a-z0-9])(?:[a-z][a-z0-9_.-]*\s+(?:-{1,2}[a-z][\w-]*|install|run|pull|push|update|add|config)"
    r"|[a-z_]+\([^)]*\)|--[a-z-]+)|脚本|写(?:了|个|一个)?(?:程序|宏|工具|机器人)|自动化|定时任务"
)
_LEAST_STEP = 2  # characters


@dataclass(frozen=True)
class ProblemReading:
    """The terms of a problem and of its solution, and the numbers and codes in the problem."""

    problem: frozenset[str]
    solution: frozenset[str]
    codes: frozenset[str]

    @classmethod
    def of(cls, problem: str, solution: str = "") -> ProblemReading:
        """Extract the terms of both texts, and the numbers and codes of the problem."""
        codes = _CODE.findall(ID_LABEL.sub("", folded(problem[:_READ])))
        return cls(_problem(problem), _problem(solution), frozenset(codes))

    def is_same(self, other: ProblemReading) -> bool:
        """Return whether two problems are the same by their words; similar solutions count a little."""
        has_other_codes = bool(self.codes and other.codes) and self.codes.isdisjoint(other.codes)
        alike = _likeness(self.problem, other.problem)
        if alike >= LEAST:
            alike += BY_SOLUTION * _likeness(self.solution, other.solution)
        return alike >= SAME and not has_other_codes


def shared(text: str, told: str) -> float:
    """Return the share of the term weight of ``text`` whose terms also occur in ``told``, in [0, 1]."""
    return share(_problem(text), _problem(told, len(told)))


def uses_tool(solution: str) -> bool:
    """Return whether a solution is a command, a script or a program."""
    return bool(_TOOL.search(folded(solution[:_READ])))


def has_steps(solution: str) -> bool:
    """Return whether a solution lists several steps in order."""
    return bool(_STEPS.search(folded(solution[:_READ]))) and len(steps_of(solution)) > 1


def steps_of(solution: str) -> list[str]:
    """Split a solution into its steps."""
    parts = (part.strip(" ，,；;。.、：:") for part in _STEP_ENDS.split(solution[:_READ]))
    return [part.removeprefix("先") for part in parts if len(part) >= _LEAST_STEP]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    here, there = share(one, other), share(other, one)
    return 2 * here * there / (here + there) if here else 0.0


def _problem(text: str, length: int = _READ) -> frozenset[str]:
    return trace_of(_AGAIN.sub("", ID_LABEL.sub("", text[:length])))
