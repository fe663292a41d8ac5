"""A18: every text parser at the longest text it accepts, built to backtrack, nest or stay unclosed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import duplicate_key
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.historian.statements import GivenLines, verdict_on
from cognitive_memory_core.models.json_answers import LONGEST, object_in
from cognitive_memory_core.text.fences import defused

from ..fault_row import Extent, Row

SLOWEST = 0.05  # seconds
GROWN = 3.2  # ratio for twice the text: linear parsers stay well below, quadratic ones reach 4
NOTICED = 0.004  # seconds below which growth is not measurable
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
PERSON = Person("2000001", "小雨")
JOB_CONTEXT = JobContext(NOW, Scope("default", "group", "100001"), "茶会", PERSON, (PERSON, Person("1000002", "阿棠")))
PIECES = (
    "a", " ", "\n", "(", ")", "（", "「", "」", "『", "“", '"', "'", "<", ">", "[", "]", "{", "}", "```", "\\", "-",
    "1", "12345", "12345(", "(12345)", "小雨(2000001)", "小雨", "[CQ:at,qq=1]", "@", "今天", "下个", "下", "周",
    "周三", "一", "一十百千", "年", "2026年", "3月", "日", "1点", "半", "前", "天前", "三", "星期", "next ",
    "last ", "in 3 ", "days ", "ago ", "我", "他", "他们", "我们的", "这", "那", "这里", "自", "其", "《", "》",
    "不", "是", "\u0301", "\u200d", "\U0001f600\u200d", "。", "，", "：", "/", "http://", "a@", "0.", "1e", "٣",
    "Ⅻ", "½", "ß", "ﷺ", "下午三点", "晚上", "at 3pm ", "q1 ", "01/", "2mo",
)  # fmt: skip


def a18(extent: Extent) -> Row:
    """Run every parser on the worst texts at full and half length; report the slowest and its growth."""
    tried, worst, culprit, steep = 0, 0.0, "", list[str]()
    core.offences("今天")  # compiles patterns once
    for name, (read, longest) in READERS.items():
        for text in _texts(longest, 5 if extent.quick else 1):
            seconds, which = _timed(read, text), f"{name} of {text[:6]!a}"
            tried += 1
            worst, culprit = max((worst, culprit), (seconds, which))
            half = _timed(read, text[: longest // 2])
            if seconds > NOTICED and seconds > GROWN * max(half, NOTICED / GROWN):
                steep.append(which)
    note = f"worst {1000 * worst:.0f} ms ({culprit}); more than linear: {len(steep)} {'; '.join(steep[:3])}"
    return Row(tried, seconds=worst, note=note, failed=worst > SLOWEST)


def _texts(longest: int, step: int) -> Iterator[str]:
    for piece in PIECES[::step]:
        flood = piece * (longest // len(piece) + 1)
        yield flood[:longest]
        yield flood[: longest - 1] + "!"
    for first, second in zip(PIECES[:: step * 2], PIECES[1 :: step * 2], strict=False):
        yield ((first + second) * longest)[:longest]


def _timed(read: Callable[[str], object], text: str) -> float:
    """Return the fastest of some runs, since the machine has other load; each text is new to every cache."""
    tries: list[float] = []
    for ending in "~^_":
        started = time.thread_time()
        read(text[:-1] + ending)
        tries.append(time.thread_time() - started)
        if tries[-1] < NOTICED:
            break
    return min(tries)


def _judged(text: str) -> object:
    return verdict_on(text, text[:500], GivenLines((text[:800], *[text[:240]] * 12)), JOB_CONTEXT)


def _read(text: str) -> object:
    try:
        return object_in("{" + text)
    except BadAnswer:
        return None


READERS: dict[str, tuple[Callable[[str], object], int]] = {
    "offences": (core.offences, 2_000),
    "gate": (_judged, 2_000),
    "time_window": (lambda text: core.time_window(text, NOW), 4_000),
    "clean_name": (core.clean_name, 100_000),
    "defused": (defused, 8_000),
    "duplicate_key": (duplicate_key, 2_000),
    "answer": (_read, LONGEST - 1),
}
