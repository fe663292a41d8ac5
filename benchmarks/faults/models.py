"""F14 to F18: chat models that hang, fail, send Retry-After or answer nonsense, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.historian import rewriter
from cognitive_memory_core.models.answer_text import object_in
from cognitive_memory_core.models.breaker import FIRST_PAUSE, MAX_FAILURES
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.ports.models import Ask
from tests.support import model_server as served
from tests.support import puppet
from tests.support.model_server import Asked, Behaviour, ModelServer, Reply
from tests.support.puppet import MERGE, Puppet, Question, answering, as_text, careful

from ..fault_row import Extent, Row
from ..measure import percentile
from . import turns
from .tally import Counts

CONCURRENCY = 4
DEADLINE = 0.5  # seconds that the model may take in these rows
PATIENCE = 180.0
HUNG_EVERY = 5  # one turn in so many
GRACE = 0.1  # seconds
SLOWEST = 0.2  # seconds in which one answer must be parsed
LONGEST_WISH = 60.0
HISTORIAN = {"concurrency": CONCURRENCY}
NO_TRIES = {"job_max_retries": 1}  # a job that is tried in vain more than once is buried, and the row shows it


# F14.


async def f14(extent: Extent) -> Row:
    """Let a fifth of the requests hang or drip; all others are answered, and in the end these are too."""
    number = extent.of(100, 20)
    struck = frozenset(range(0, number, HUNG_EVERY))
    calm = await _paced(number, frozenset())
    hung = await _paced(number, struck)
    extra = [hung.at[one] - calm.at.get(one, 0.0) for one in hung.at if one not in struck]
    unanswered = number - len(struck) - len(extra)
    wait = percentile(extra, 0.95) if extra else math.inf
    note = (
        f"{len(struck)} of {number} hung or dripped at first; each has {DEADLINE:g} s, {CONCURRENCY} at once; others: "
        f"extra wait p95 {wait:.2f} s, never answered {unanswered}; {hung.calls} calls; seconds: until all were done"
    )
    total = hung.counts
    return Row(
        len(struck),
        total.lost,
        total.twice,
        total.stuck,
        hung.seconds,
        note,
        unanswered > 0,
    )


@dataclass
class _Pace:
    """When each turn was answered, and the final counts."""

    at: dict[int, float] = field(default_factory=dict[int, float])
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    calls: int = 0


async def _paced(number: int, struck: frozenset[int]) -> _Pace:
    pace, seen = _Pace(), set[int]()
    async with ModelServer() as server, _open(server.url) as memory:
        await memory.pause()
        await turns.hand_in(memory, range(number))
        started = time.perf_counter()

        def behave(asked: Asked) -> Reply:
            one = turns.number_in("".join(asked.texts))
            if one in struck and one not in seen:
                seen.add(one)
                return served.never(asked) if one % 2 else served.dripping(0.2, answering())(asked)
            pace.at.setdefault(one, time.perf_counter() - started)
            return answering()(asked)

        server.chat = behave
        await memory.resume()
        await turns.drained(memory, PATIENCE)
        pace.seconds, pace.calls = time.perf_counter() - started, len(server.asked)
        pace.counts = await turns.counted(memory, range(number))
    return pace


# F15.

BROKEN: dict[str, Behaviour] = {
    "500": served.status(500),
    "502": served.status(502),
    "503": served.status(503),
    "reset": served.cut,
    "cut": served.cut_within,
    "page": served.raw(b"<html>502 Bad Gateway</html>", status=502),
    "401": served.status(401),
}


def f15(extent: Extent) -> Row:
    """Let the endpoint fail in every way for a while; no job is lost, no attempt counted, and few calls are made."""
    kinds = ("503", "reset", "401") if extent.quick else tuple(BROKEN)
    return asyncio.run(_broken(kinds, float(extent.of(9, 2))))


async def _broken(kinds: Sequence[str], seconds: float) -> Row:
    total, calls, waits, over = Counts(), list[str](), list[float](), 0
    for name in kinds:
        counts, made, wait = await _broken_for(BROKEN[name], seconds)
        total, waits, over = total + counts, [*waits, wait], over + (made > _budget(seconds))
        calls.append(f"{name} {made}")
    for name, address in (("TLS", "https://127.0.0.1:{port}/v1"), ("DNS", "http://nobody.example:9/v1")):
        counts, wait = await _elsewhere(address, seconds)
        total, waits = total + counts, [*waits, wait]
        calls.append(f"{name} -")
    note = (
        f"{seconds:g} s each, {_TURNS} turns wait; calls made: {', '.join(calls)}; budget {_budget(seconds)}; "
        f"seconds: the longest from mended to done"
    )
    return Row(len(calls), total.lost, total.twice, total.stuck, max(waits), note, over > 0)


_TURNS = 10


def _budget(seconds: float) -> int:
    """Return how many calls may be made in a time: those until a breaker opens, then one per pause, pauses doubling."""
    probes = math.floor(math.log2(seconds / FIRST_PAUSE + 1)) + 1
    return MAX_FAILURES + CONCURRENCY + probes


async def _broken_for(behaviour: Behaviour, seconds: float) -> tuple[Counts, int, float]:
    async with ModelServer() as server, _open(server.url) as memory:
        server.chat = behaviour
        await turns.hand_in(memory, range(_TURNS))
        await asyncio.sleep(seconds)
        made, server.chat = len(server.asked), answering()
        started = time.perf_counter()
        await turns.drained(memory, PATIENCE)
        return await turns.counted(memory, range(_TURNS)), made, time.perf_counter() - started


async def _elsewhere(address: str, seconds: float) -> tuple[Counts, float]:
    """Start with a wrong address and correct it as an operator does, by a restart."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        async with ModelServer() as server:
            port = server.url.rpartition(":")[2].partition("/")[0]
            async with core.CognitiveMemory.open(_settings(address.format(port=port)), data) as memory:
                await turns.hand_in(memory, range(_TURNS))
                await asyncio.sleep(min(seconds, 4.0))
            server.chat = answering()
            started = time.perf_counter()
            async with core.CognitiveMemory.open(_settings(server.url), data) as memory:
                await turns.drained(memory, PATIENCE)
                return await turns.counted(memory, range(_TURNS)), time.perf_counter() - started


# F36.


async def f36(extent: Extent) -> Row:
    """Refuse key, account and model: the operator is told, jobs wait, and after a time the rules take them."""
    number, seconds = extent.of(20, 3), float(extent.of(10, 2))
    total, told, made, hour = Counts(), list[float](), list[str](), rewriter.REFUSED_FOR
    done_early = unmarked = 0
    for code in (401, 403, 404):
        async with ModelServer() as server, _open(server.url) as memory:
            server.chat, started = served.status(code), time.perf_counter()
            await turns.hand_in(memory, range(number))
            while not (await memory.status()).refusal and time.perf_counter() < started + LONGEST_WISH:
                await memory.drain(0.02)
            told.append(time.perf_counter() - started)
            await asyncio.sleep(seconds)
            done_early += sum([len(await memory.events(turns.scene(one))) for one in range(number)])
            made.append(f"{code} {len(server.asked)}")
            rewriter.REFUSED_FOR = seconds
            await turns.drained(memory, PATIENCE)
            rewriter.REFUSED_FOR = hour
            events = [event for one in range(number) for event in await memory.events(turns.scene(one))]
            unmarked += sum(event.is_absolute for event in events)
            total += await turns.counted(memory, range(number))
    note = (
        f"{number} turns each; an hour is {seconds:g} s here; calls made: {', '.join(made)}; stored before it was "
        f"over {done_early}, unmarked {unmarked}; seconds: until the operator was told, of 60 allowed"
    )
    is_bad = bool(done_early or unmarked) or max(told) > LONGEST_WISH
    return Row(3 * number, total.lost, total.twice, total.stuck, max(told), note, is_bad)


# F16.

Wish = tuple[str, Callable[[], Mapping[str, str]], float]
WISHES: Sequence[Wish] = (
    ("2", lambda: {"Retry-After": "2"}, 2.0),
    ("a date", lambda: {"Retry-After": format_datetime(turns.now() + timedelta(seconds=3), usegmt=True)}, 2.0),
    ("0", lambda: {"Retry-After": "0"}, 0.0),
    ("-1", lambda: {"Retry-After": "-1"}, 0.0),
    ("garbage", lambda: {"Retry-After": "soon; \t 2 x"}, 0.0),
    ("nothing", dict, 0.0),
)
LONG_WISH: Wish = ("86400", lambda: {"Retry-After": "86400"}, LONGEST_WISH)


async def f16(extent: Extent) -> Row:
    """Send every form of Retry-After; the historian waits as long as asked, and never more than a minute."""
    wishes = [*WISHES, LONG_WISH] if not extent.quick else WISHES
    total, early, longest, said = Counts(), 0, 0.0, list[str]()
    for name, headers, wished in wishes:
        counts, within, pause = await _refused_once(headers, wished)
        total, early, longest = total + counts, early + within, max(longest, pause)
        said.append(f"{name}: {pause:.1f} s")
    note = f"asked too early {early}; longest pause {longest:.1f} s ({'; '.join(said)})"
    is_bad = early > 0 or longest > LONGEST_WISH + 10
    return Row(len(wishes), total.lost, total.twice, total.stuck, longest, note, is_bad)


async def _refused_once(headers: Callable[[], Mapping[str, str]], wished: float) -> tuple[Counts, int, float]:
    """Refuse requests while the pause holds; return how many came too early, and the longest time without one."""
    at: list[float] = []
    async with ModelServer() as server, _open(server.url) as memory:

        def behave(asked: Asked) -> Reply:
            at.append(time.perf_counter())
            is_early = len(at) == 1 or at[-1] - at[0] < wished - GRACE
            return served.status(429, headers())(asked) if is_early else answering()(asked)

        server.chat = behave
        await turns.hand_in(memory, range(_TURNS))
        await turns.drained(memory, PATIENCE)
        counts = await turns.counted(memory, range(_TURNS))
    within = sum(1 for one in at if one - at[0] < wished - GRACE)
    return counts, max(within - CONCURRENCY, 0), max((later - one for one, later in pairwise(at)), default=0.0)


# F17.


def nonsense(good: str) -> dict[str, str]:
    """Return every kind of bad answer into which a good one can be turned."""
    nested = json.loads(good)
    return {
        "prose": "好的，我已经记住了。",
        "empty": "",
        "blanks": " \n\t ",
        "truncated": good[: len(good) // 2],
        "cut and closed": good[: len(good) // 2] + '"}]}',
        "two objects": good + good,
        "an array": f"[{good}]",
        "a string": json.dumps(good),
        "wrong types": json.dumps(_wrong(nested)),
        "nulls": json.dumps(_nulled(nested)),
        "unknown ids": good.replace("2000001", "9999999").replace("2000002", "8888888"),
        "NaN": good.replace("0.9", "NaN"),
        "Infinity": good.replace("0.9", "-Infinity"),
        "1e999": good.replace("0.9", "1e999"),
        "duplicate keys": good.replace("{", '{"text": "a", "text": "b", "summary": "", "summary": "b", ', 1),
        "5000 digits": good.replace(": 1", ": " + "1" * 5000, 1),
        "10 MB": good.replace("茶", "茶" * 3_400_000, 1),
        "10 MB of blanks": good + " " * 10_000_000,
        "100k [": "[" * 100_000,
        "100k {": '{"a":' * 20_000,
        "600 kB of quotes": "{" + '"' * 600_000,
        "60 kB of quotes": "{" + '"' * 60_000 + "}",
        "lone surrogates": good.replace("茶", "\\ud800"),
        "BOM": "\ufeff" + good,
        "NUL": good.replace("茶", "\\u0000"),
        "raw NUL": good.replace("茶", "\0"),
        "fenced": f"当然！\n```json\n{good}\n```\n还有别的吗？",
        "two fences": f"```json\n{good}\n```\n```json\n{good}\n```",
        "thoughts": f"<think>{good}</think>\n{good}",
        "single quotes": good.replace('"', "'"),
        "trailing commas": good.replace("}", ",}").replace("]", ",]"),
        "comments": "// hm\n" + good,
        "HTML": "<!doctype html><title>502</title>",
    }


def f17(extent: Extent) -> Row:
    """Parse mutated answers, then send each kind to a memory; nothing crashes, nothing is lost."""
    asks = asyncio.run(_asks())
    executions, crashes, worst, seconds = _fuzzed(asks, extent.of(60_000, 2_000), extent.seed)
    total, kinds, accepted = asyncio.run(_met(extent.quick))
    note = (
        f"{executions} executions, {executions / seconds:.0f} a s, crashes {crashes}, worst {1000 * worst:.0f} ms; "
        f"{kinds} kinds over HTTP, each good again afterwards: lost 0 expected, foreign people stored {accepted}"
    )
    is_bad = crashes > 0 or accepted > 0 or worst > SLOWEST
    return Row(
        executions + kinds,
        total.lost,
        total.twice,
        total.stuck,
        worst,
        note,
        is_bad,
    )


async def _asks() -> list[tuple[Ask[object], str]]:
    """Return one prompt of each kind as a memory sends it, with a good answer."""
    chat = _Recorder()
    with tempfile.TemporaryDirectory() as folder:
        async with core.CognitiveMemory.open(turns.settings(), Path(folder) / "data", chat=chat) as memory:
            await turns.hand_in(memory, range(2))
            lines = [core.Message(f"m{one}", turns.scene(0), turns.sentence(0), turns.now()) for one in range(3)]
            await memory.consider(turns.scene(0), lines)
            await turns.drained(memory, PATIENCE)
    by_name = {ask.name: (ask, answer) for ask, answer in chat.pairs}
    return list(by_name.values())


class _Recorder(Puppet):
    """A careful model that records every prompt with its answer."""

    def __init__(self) -> None:
        """Start without records."""
        super().__init__()
        self.pairs: list[tuple[Ask[object], str]] = []

    async def ask(self, ask: Ask[puppet.T]) -> puppet.T:
        """Answer well, and record both."""
        answer = await super().ask(ask)
        self.pairs.append((ask, self.written[-1]))  # pyright: ignore[reportArgumentType]  # whatever it answers
        return answer


def _fuzzed(asks: Sequence[tuple[Ask[object], str]], times: int, seed: int) -> tuple[int, int, float, float]:
    dice, crashes, worst = random.Random(seed), 0, 0.0
    started = time.perf_counter()
    for number in range(times):
        ask, good = asks[number % len(asks)]
        text = _mutated(good, dice)
        before = time.thread_time()
        crashes += not _is_read_or_refused(ask, text)
        worst = max(worst, time.thread_time() - before)
    for ask, good in asks:
        for text in nonsense(good).values():
            before = time.thread_time()
            crashes += not _is_read_or_refused(ask, text)
            worst, times = max(worst, time.thread_time() - before), times + 1
    return times, crashes, worst, time.perf_counter() - started


def _is_read_or_refused(ask: Ask[object], text: str) -> bool:
    try:
        value = ask.parse(object_in(text, is_strict=ask.strict))
        repr(value).encode()
    except BadAnswer:
        return True
    except Exception:  # noqa: BLE001  # whatever else escapes is what the row looks for
        return False
    return True


_SPLICES = (
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "NaN",
    "1e999",
    "\\ud800",
    "\0",
    "\ufeff",
    "-",
    "```",
    "\\",
    "true",
)


def _mutated(good: str, dice: random.Random) -> str:
    """Delete, truncate, repeat or insert at random places a few times."""
    text = good
    for _ in range(dice.randrange(1, 5)):
        at, to = sorted((dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)))
        changes = (
            lambda at=at, to=to, text=text: text[:at] + text[to:],
            lambda at=at, text=text: text[:at],
            lambda at=at, to=to, text=text: text[:to] + text[at:to] * 3 + text[to:],
            lambda at=at, text=text: text[:at] + dice.choice(_SPLICES) + text[at:],
            lambda at=at, text=text: text[:at] + chr(dice.randrange(0x110000)) + text[at + 1 :],
        )
        text = dice.choice(changes)() or "{"
    return text


async def _met(is_quick: bool) -> tuple[Counts, int, int]:
    """Send every kind of bad answer to a memory over HTTP, once each, and then a good one."""
    kinds = list(nonsense('{"a": "茶", "c": 0.9, "n": 1}'))
    kinds = kinds[:: 4 if is_quick else 1]
    async with ModelServer() as server, _open(server.url, seconds=20.0) as memory:
        met: set[int] = set()
        server.chat = partial(_badly_once, kinds, met)
        await turns.hand_in(memory, range(len(kinds)))
        await turns.drained(memory, PATIENCE)
        counts = await turns.counted(memory, range(len(kinds)))
        people = {str(2_000_001 + number) for number in range(len(kinds))}
        foreign = sum(1 for event in await turns.listed(memory) if {event.sender_id, *event.subjects} - people - {""})
    return counts, len(kinds), foreign


def _badly_once(kinds: Sequence[str], met: set[int], asked: Asked) -> Reply:
    number = turns.number_in("".join(asked.texts))
    if "tools" not in asked.body or number in met or number < 0:
        return answering()(asked) if "tools" in asked.body else served.words("…")(asked)
    met.add(number)
    good = as_text(careful(puppet.question_of(asked)))
    return served.tool_call(nonsense(good)[kinds[number]])(asked)


def _wrong(value: object) -> object:
    """Convert texts to numbers, numbers to texts, lists to objects and objects to lists, recursively."""
    if isinstance(value, dict):
        return {key: _wrong(part) for key, part in value.items()}
    if isinstance(value, list):
        return (
            {str(at): _wrong(part) for at, part in enumerate(value)}
            if len(value) > 1
            else [_wrong(part) for part in value]
        )
    return [value] if isinstance(value, bool) else str(value) if isinstance(value, int | float) else 7


def _nulled(value: object) -> object:
    if isinstance(value, dict):
        return {key: _nulled(part) for key, part in value.items()}
    return [_nulled(part) for part in value] if isinstance(value, list) else None


# F18.


def f18(extent: Extent) -> Row:
    """Truncate the answer that replaces a profile at every position, closed and unclosed; none may be accepted."""
    asks = asyncio.run(_asks())
    merges = [(ask, good) for ask, good in asks if ask.name == MERGE]
    tried, taken = 0, 0
    for ask, good in merges:
        for text in _cut(good, 1 if not extent.quick else 7):
            tried += 1
            taken += _is_taken(ask, text)
    kept, struck = asyncio.run(_profile_kept(extent.of(12, 3)))
    note = f"{tried} cut answers, taken {taken}; over HTTP {struck} merges cut off, the profile stood {kept} times"
    is_bad = kept < struck or not merges
    return Row(tried + struck, taken, note=note, failed=is_bad)


def _cut(good: str, step: int) -> Iterator[str]:
    for at in range(1, len(good.rstrip("} \n")), step):
        yield from (good[:at] + ending for ending in ("", '"}', '"]}', "}", "]}", '"', '"}]}'))


def _is_taken(ask: Ask[object], text: str) -> bool:
    """Return whether a truncated text is accepted, unless it happens to be a complete object."""
    try:
        ask.parse(object_in(text, is_strict=ask.strict))
    except BadAnswer:
        return False
    with suppress(ValueError):
        json.loads(text)
        return False
    return True


async def _profile_kept(rounds: int) -> tuple[int, int]:
    """Return in how many rounds a profile survived truncated merges unchanged and got the facts afterwards."""
    kept = 0
    profile = {"merge_delay_seconds": 0}
    clock = turns.LeapingClock()
    async with ModelServer() as server, _open(server.url, clock=clock, profile=profile) as memory:
        server.chat = answering()
        await memory.consider(turns.scene(0), [_again(-1)])
        await turns.drained(memory, PATIENCE)
        for number in range(rounds):
            before = await memory.get_profile(turns.scene(0), "user", turns.scene(0).user_id)
            server.chat = answering(partial(_cut_merge, number / rounds))
            await memory.consider(turns.scene(0), [_again(number)])
            await turns.wait_idle(memory, PATIENCE)
            await memory.drain(1.0)
            after = await memory.get_profile(turns.scene(0), "user", turns.scene(0).user_id)
            server.chat = answering()
            clock.leap()
            await turns.drained(memory, PATIENCE)
            mended = await memory.get_profile(turns.scene(0), "user", turns.scene(0).user_id)
            kept += before == after and mended is not None and f"第 {100 + number} 号" in mended.summary
    return kept, rounds


def _again(number: int) -> core.Message:
    return core.Message(f"again{number}", turns.scene(0), f"我喜欢第 {100 + number} 号茶", turns.now())


def _cut_merge(share: float, question: Question) -> object:
    good = as_text(careful(question))
    if question.name != MERGE:
        return good
    return good[: max(int(len(good) * share), 1)]  # closing it could complete it


# Shared.


class _open:  # noqa: N801  # reads as the open() that it is
    """Opens a memory in a temporary folder with its model at an address."""

    def __init__(
        self, url: str, seconds: float = DEADLINE, *, clock: Clock | None = None, **groups: Mapping[str, object]
    ) -> None:
        """Take the address and settings."""
        self._clock = clock
        self._settings = _settings(url, seconds, **groups)
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    async def __aenter__(self) -> core.CognitiveMemory:
        data = Path(self._folder.name) / "data"
        self._memory = core.CognitiveMemory.open(self._settings, data, clock=self._clock)
        return await self._memory.__aenter__()

    async def __aexit__(self, *why: object) -> None:
        await self._memory.__aexit__(None, None, None)
        self._folder.cleanup()


def _settings(url: str, seconds: float = DEADLINE, **groups: Mapping[str, object]) -> core.Settings:
    historian = {**HISTORIAN, "shutdown_seconds": 0.5}
    return turns.settings(url, {"timeout_seconds": seconds}, historian=historian, queue=NO_TRIES, **groups)
