"""F14 to F18 and F36: chat models that hang, fail, send Retry-After, answer nonsense or refuse, on loopback."""

from __future__ import annotations

import asyncio
import json
import math
import random
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime
from functools import partial
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.historian import rewriter
from cognitive_memory_core.models.breaker import FIRST_PAUSE, MAX_FAILURES
from cognitive_memory_core.models.json_answers import object_in
from cognitive_memory_core.ports import Ask, Clock
from tests.support import model_server as served
from tests.support import puppet
from tests.support.model_server import Asked, Behaviour, ModelServer, Reply
from tests.support.puppet import MERGE, Puppet, Question, answering, as_text, careful

from ..fault_row import Extent, Row, Seen
from ..measure import percentile
from . import world

CONCURRENCY = 4
DEADLINE = 0.5  # seconds that the model may take in these rows
PATIENCE = 180.0
HUNG_EVERY = 5  # one turn in so many
GRACE = 0.1  # seconds
SLOWEST = 0.2  # seconds in which one answer must be parsed
LONGEST_WISH = 60.0
TURNS = range(10)  # that wait while a model is in trouble


def _settings(url: str, seconds: float = DEADLINE, **groups: Mapping[str, object]) -> core.Settings:
    historian = {"concurrency": CONCURRENCY, "shutdown_seconds": 0.5}
    queue = {"job_max_retries": 1}  # a job that is tried in vain more than once is buried, and the row shows it
    return world.model_settings(url, {"timeout_seconds": seconds}, historian=historian, queue=queue, **groups)


@asynccontextmanager
async def _opened(
    seconds: float = DEADLINE, clock: Clock | None = None, *, lender: str = "", **groups: Mapping[str, object]
) -> AsyncGenerator[tuple[ModelServer, core.CognitiveMemory], None]:
    """Open a memory with a model server of its own, or with one that a ``lender`` lends."""
    async with ModelServer() as server:

        async def lend() -> core.LentModel:
            return core.LentModel(lender, server.url, "sk-lent", "m")

        settings = _settings("" if lender else server.url, seconds, **groups)
        async with world.a_memory(settings, clock=clock, lend=lend if lender else None) as (memory, _):
            yield server, memory


async def _handed_in(memory: core.CognitiveMemory, numbers: Iterable[int]) -> None:
    for number in numbers:
        await memory.remember(world.own_turn(number))


async def _mended(memory: core.CognitiveMemory, seen: Seen, numbers: Sequence[int] = TURNS) -> None:
    """Let everything be done, now that the model works; count what became of the turns, and note the seconds."""
    with seen.timed():
        await world.drained(memory, PATIENCE)
    seen.update(await world.counted(memory, numbers, ["event"]))


async def f14(extent: Extent) -> Row:
    """Let a fifth of the requests hang or drip; all others are answered, and in the end these are too."""
    number = extent.of(100, 20)
    struck = frozenset(range(0, number, HUNG_EVERY))
    (calm, _), (at, seen) = [await _paced(number, struck_now) for struck_now in (frozenset[int](), struck)]
    extra = [when - calm.get(one, 0.0) for one, when in at.items() if one not in struck]
    unanswered = number - len(struck) - len(extra)
    wait = percentile(extra, 0.95) if extra else math.inf
    note = (
        f"{len(struck)} of {number} hung or dripped at first; each has {DEADLINE:g} s, {CONCURRENCY} at once; others: "
        f"extra wait p95 {wait:.2f} s, never answered {unanswered}; seconds: until all were done"
    )
    return seen.row(len(struck), note, failed=unanswered > 0)


async def _paced(number: int, struck: frozenset[int]) -> tuple[dict[int, float], Seen]:
    """Return when each turn was answered, and what became of them."""
    at, met, seen = dict[int, float](), set[int](), Seen()
    async with _opened() as (server, memory):
        await memory.pause()
        await _handed_in(memory, range(number))
        started = time.perf_counter()

        def behave(asked: Asked) -> Reply:
            one = world.number_in("".join(asked.texts))
            if one in struck and one not in met:
                met.add(one)
                return served.never(asked) if one % 2 else served.dripping(0.2, answering())(asked)
            at.setdefault(one, time.perf_counter() - started)
            return answering()(asked)

        server.chat = behave
        await memory.resume()
        await _mended(memory, seen, range(number))
        seen["calls"] = len(server.asked)
    return at, seen


BROKEN: dict[str, Behaviour] = {
    "500": served.status(500),
    "502": served.status(502),
    "503": served.status(503),
    "reset": served.cut,
    "cut": served.cut_within,
    "page": served.raw(b"<html>502 Bad Gateway</html>", status=502),
    "401": served.status(401),
}


async def f15(extent: Extent) -> Row:
    """Let the endpoint fail in every way for a while; no job is lost, no attempt counted, and few calls are made."""
    seconds, seen, over = float(extent.of(9, 2)), Seen(), 0
    probes = math.floor(math.log2(seconds / FIRST_PAUSE + 1)) + 1  # one a pause, and pauses double
    budget = MAX_FAILURES + CONCURRENCY + probes
    ways = ("503", "reset", "401") if extent.quick else tuple(BROKEN)
    for name in ways:
        async with _opened() as (server, memory):
            server.chat = BROKEN[name]
            await _handed_in(memory, TURNS)
            await asyncio.sleep(seconds)
            made, server.chat = len(server.asked), answering()
            await _mended(memory, seen)
        over += made > budget
        seen[f"calls at {name}"] = made
    addresses = ("https://127.0.0.1:{port}/v1", "http://nobody.example:9/v1")  # no TLS, no DNS
    for address in addresses:
        await _elsewhere(address, seconds, seen)
    note = f"{seconds:g} s each, {len(TURNS)} turns wait; budget {budget}; seconds: the longest from mended to done"
    return seen.row(len(ways) + len(addresses), note, failed=over)


async def _elsewhere(address: str, seconds: float, seen: Seen) -> None:
    """Start with a wrong address and correct it as an operator does, by a restart."""
    with tempfile.TemporaryDirectory() as folder:
        async with ModelServer() as server:
            port = server.url.rpartition(":")[2].partition("/")[0]
            async with core.CognitiveMemory.open(_settings(address.format(port=port)), Path(folder)) as memory:
                await _handed_in(memory, TURNS)
                await asyncio.sleep(min(seconds, 4.0))
            server.chat = answering()
            async with core.CognitiveMemory.open(_settings(server.url), Path(folder)) as memory:
                await _mended(memory, seen)


async def f36(extent: Extent) -> Row:
    """Refuse key, account and model, the memory's own and lent ones: jobs wait, and after a time the rules take them.

    The operator is told, by the name of whose model it is.
    """
    numbers, seconds = range(extent.of(20, 3)), float(extent.of(10, 2))
    seen, longest, hour = Seen(), 0.0, rewriter.REFUSED_FOR
    for code, lender in product((401, 403, 404), ("", "llmchat")):
        async with _opened(lender=lender) as (server, memory):
            server.chat, started = served.status(code), time.perf_counter()
            await _handed_in(memory, numbers)
            while not (refusal := (await memory.status()).refusal) and time.perf_counter() < started + LONGEST_WISH:
                await memory.drain(0.02)
            longest = max(longest, time.perf_counter() - started)
            await asyncio.sleep(seconds)
            seen.update(early=len(await world.listed(memory)), nameless=lender not in refusal)
            seen[f"calls at {code}{' lent' if lender else ''}"] = len(server.asked)
            rewriter.REFUSED_FOR = seconds
            await _mended(memory, seen, numbers)
            rewriter.REFUSED_FOR = hour
            seen["unmarked"] += sum(event.is_absolute for event in await world.listed(memory))
    note = f"{len(numbers)} turns each; an hour is {seconds:g} s here; seconds: until the operator was told"
    seen.seconds, is_bad = longest, seen["early"] or seen["unmarked"] or seen["nameless"] or longest > LONGEST_WISH
    return seen.row(6 * len(numbers), note, failed=is_bad)


WISHES: Sequence[tuple[str, Callable[[], str | None], float]] = (  # the header, and how long it wants us to wait
    ("2", lambda: "2", 2.0),
    ("a date", lambda: format_datetime(world.now() + timedelta(seconds=3), usegmt=True), 2.0),
    ("0", lambda: "0", 0.0),
    ("-1", lambda: "-1", 0.0),
    ("garbage", lambda: "soon; \t 2 x", 0.0),
    ("nothing", lambda: None, 0.0),
    ("86400", lambda: "86400", LONGEST_WISH),
)


async def f16(extent: Extent) -> Row:
    """Send every form of Retry-After; the historian waits as long as asked, and never more than a minute."""
    wishes = WISHES[: extent.of(len(WISHES), -1)]
    seen, said, longest = Seen(), list[str](), 0.0
    for name, header, wished in wishes:
        pause = await _refused_once(header, wished, seen)
        longest = max(longest, pause)
        said.append(f"{name}: {pause:.1f} s")
    seen.seconds = longest
    note = f"longest pause {longest:.1f} s ({'; '.join(said)})"
    return seen.row(len(wishes), note, failed=seen["early"] or longest > LONGEST_WISH + 10)


async def _refused_once(header: Callable[[], str | None], wished: float, seen: Seen) -> float:
    """Refuse requests while the pause holds; count how many came too early, return the longest time without one."""
    at: list[float] = []
    async with _opened() as (server, memory):

        def behave(asked: Asked) -> Reply:
            at.append(time.perf_counter())
            if len(at) > 1 and at[-1] - at[0] >= wished - GRACE:
                return answering()(asked)
            value = header()
            return served.status(429, {} if value is None else {"Retry-After": value})(asked)

        server.chat = behave
        await _handed_in(memory, TURNS)
        await _mended(memory, seen)
    seen["early"] += max(sum(one - at[0] < wished - GRACE for one in at) - CONCURRENCY, 0)
    return max((later - one for one, later in pairwise(at)), default=0.0)


# F17 and F18: what a model writes.


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


def _wrong(value: object) -> object:
    """Convert texts to numbers, numbers to texts, lists to objects and objects to lists, recursively."""
    if isinstance(value, dict):
        return {key: _wrong(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [_wrong(part) for part in value]
        return {str(at): part for at, part in enumerate(parts)} if len(parts) > 1 else parts
    return [value] if isinstance(value, bool) else str(value) if isinstance(value, int | float) else 7


def _nulled(value: object) -> object:
    if isinstance(value, dict):
        return {key: _nulled(part) for key, part in value.items()}
    return [_nulled(part) for part in value] if isinstance(value, list) else None


def f17(extent: Extent) -> Row:
    """Parse mutated answers, then send each kind to a memory; nothing crashes, nothing is lost."""
    seen, asks = Seen(), asyncio.run(_asks())
    started = time.perf_counter()
    worst = _fuzzed(asks, extent.of(60_000, 600), extent.seed, seen)
    pace = seen["executions"] / (time.perf_counter() - started)
    kinds = asyncio.run(_met(extent.of(1, 4), seen))
    seen.seconds = worst
    is_bad = seen["crashes"] or seen["foreign"] or worst > SLOWEST
    return seen.row(seen["executions"] + kinds, f"{pace:.0f} a s; {kinds} kinds over HTTP", failed=is_bad)


async def _asks() -> list[tuple[Ask[Any], str]]:
    """Return one prompt of each kind as a memory sends it, with a good answer."""
    pairs: dict[str, tuple[Ask[Any], str]] = {}

    class Recorder(Puppet):
        """A careful model that records every prompt with its answer."""

        async def ask(self, ask: Ask[puppet.T]) -> puppet.T:
            """Answer well, and record both."""
            answer = await super().ask(ask)
            pairs[ask.name] = ask, self.written[-1]
            return answer

    async with world.a_memory(world.model_settings(), chat=Recorder()) as (memory, _):
        await _handed_in(memory, range(2))
        lines = [core.Message(f"m{one}", world.own_scene(0), world.sentence(0), world.now()) for one in range(3)]
        await memory.consider(world.own_scene(0), lines)
        await world.drained(memory, PATIENCE)
    return list(pairs.values())


def _fuzzed(asks: Sequence[tuple[Ask[Any], str]], times: int, seed: int, seen: Seen) -> float:
    """Parse mutated answers and every kind of nonsense; return the seconds of the slowest."""
    dice, worst = random.Random(seed), 0.0
    mutated = ((ask, _mutated(good, dice)) for ask, good in (asks[number % len(asks)] for number in range(times)))
    nonsensical = ((ask, text) for ask, good in asks for text in nonsense(good).values())
    for ask, text in chain(mutated, nonsensical):
        seen["executions"] += 1
        before = time.thread_time()
        try:
            repr(ask.parse(object_in(text, is_strict=ask.strict))).encode()
        except BadAnswer:
            pass
        except Exception:  # noqa: BLE001  # whatever else escapes is what the row looks for
            seen["crashes"] += 1
        worst = max(worst, time.thread_time() - before)
    return worst


SPLICES = (*'"{}[],:-\\', "null", "NaN", "1e999", "\\ud800", "\0", "\ufeff", "```", "true")


def _mutated(good: str, dice: random.Random) -> str:
    """Delete, truncate, repeat or insert at random places a few times."""
    text = good
    for _ in range(dice.randrange(1, 5)):
        at, to = sorted((dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)))
        changed = (
            text[:at] + text[to:],
            text[:at],
            text[:to] + text[at:to] * 3 + text[to:],
            text[:at] + dice.choice(SPLICES) + text[at:],
            text[:at] + chr(dice.randrange(0x110000)) + text[at + 1 :],
        )
        text = dice.choice(changed) or "{"
    return text


async def _met(every: int, seen: Seen) -> int:
    """Send kinds of bad answers to a memory over HTTP, once each, and then a good one; return how many kinds."""
    kinds, met = list(nonsense('{"a": "茶", "c": 0.9, "n": 1}'))[::every], set[int]()

    def badly_once(asked: Asked) -> Reply:
        number = world.number_in("".join(asked.texts))
        if "tools" not in asked.body or number in met or number < 0:
            return answering()(asked) if "tools" in asked.body else served.words("…")(asked)
        met.add(number)
        good = as_text(careful(puppet.question_of(asked)))
        return served.tool_call(nonsense(good)[kinds[number]])(asked)

    numbers = range(len(kinds))
    async with _opened(20.0) as (server, memory):
        server.chat = badly_once
        await _handed_in(memory, numbers)
        await _mended(memory, seen, numbers)
        known = {"", *(str(2_000_001 + number) for number in numbers)}
        seen["foreign"] += sum(bool({one.sender_id, *one.subjects} - known) for one in await world.listed(memory))
    return len(kinds)


def f18(extent: Extent) -> Row:
    """Truncate the answer that replaces a profile at every position, closed and unclosed; none may be accepted."""
    merges = [(ask, good) for ask, good in asyncio.run(_asks()) if ask.name == MERGE]
    cut = [(ask, text) for ask, good in merges for text in _cut(good, extent.of(1, 7))]
    taken, rounds = sum(_is_taken(ask, text) for ask, text in cut), extent.of(12, 3)
    kept = asyncio.run(_profile_kept(rounds))
    note = f"{len(cut)} cut answers, taken {taken}; over HTTP {rounds} merges cut off, the profile stood {kept} times"
    return Seen(lost=taken).row(len(cut) + rounds, note, failed=kept < rounds or not merges)


def _cut(good: str, step: int) -> Iterator[str]:
    endings = ("", '"}', '"]}', "}", "]}", '"', '"}]}')
    positions = range(1, len(good.rstrip("} \n")), step)
    return (good[:at] + ending for at, ending in product(positions, endings))


def _is_taken(ask: Ask[Any], text: str) -> bool:
    """Return whether a truncated text is accepted, unless it happens to be a complete object."""
    try:
        ask.parse(object_in(text, is_strict=ask.strict))
        json.loads(text)
    except BadAnswer:
        return False
    except ValueError:
        return True
    return False


async def _profile_kept(rounds: int) -> int:
    """Return in how many rounds a profile survived truncated merges unchanged and got the facts afterwards."""
    kept, clock, scene = 0, world.MachineClock(), world.own_scene(0)

    def again(number: int) -> core.Message:
        return core.Message(f"again{number}", scene, f"我喜欢第 {100 + number} 号茶", world.now())

    async with _opened(clock=clock, profile={"merge_delay_seconds": 0}) as (server, memory):
        server.chat = answering()
        await memory.consider(scene, [again(-1)])
        await world.drained(memory, PATIENCE)
        for number in range(rounds):
            before = await memory.get_profile(scene, "user", scene.user_id)
            server.chat = answering(partial(_cut_merge, number / rounds))
            await memory.consider(scene, [again(number)])
            await world.wait_idle(memory, PATIENCE)
            await memory.drain(1.0)
            after = await memory.get_profile(scene, "user", scene.user_id)
            server.chat = answering()
            clock.ahead += timedelta(hours=2)  # longer than any pause
            await world.drained(memory, PATIENCE)
            mended = await memory.get_profile(scene, "user", scene.user_id)
            kept += before == after and mended is not None and f"第 {100 + number} 号" in mended.summary
    return kept


def _cut_merge(share: float, question: Question) -> object:
    good = as_text(careful(question))
    return good[: max(int(len(good) * share), 1)] if question.name == MERGE else good  # closing could complete it
