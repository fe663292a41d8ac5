"""Tests that a context is built in time, with less in it, while parts of it fail or hang, alone or together."""

from __future__ import annotations

import asyncio
import threading
from types import MethodType

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import PermanentError, StorageRefused, TransientError, UnavailableError
from cognitive_memory_core.models.breaker import MAX_FAILURES, Breaker
from cognitive_memory_core.recall.beliefs_and_profiles import ProfileReader
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.recall.one_pass import DEGRADED
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed
from tests.support.ports import (
    Away,
    CountingEmbedder,
    ListedEvents,
    ListedNotes,
    ListedVectors,
    ListedWords,
    a_recall,
    direct,
)
from tests.support.waiting import PATIENCE

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea")
PIN = Pin("p", GROUP.scope, "群规：不剧透", "", NOON)
STORED, WAITING = (
    Memo(name, GROUP.scope, text, NOON, "2000001") for name, text in (("s", "推荐了乌龙茶"), ("w", "刚刚说完"))
)
PERSON = a_listed(ProfileKey.member("10001", "2000001"), "在学泡茶。")
READING = a_listed(ProfileKey.group("10001"), "每周读一本小说。", name="读书会")
TITLES = ("置顶", "用户侧写", "群聊背景", "相关回忆", "相关原话", "近期备忘")
SAID = a_message("喜欢的茶在南门买", Scene.group("10001", "2000002", user_name="小满"), NOON)
HANGING = 0.5  # limit in seconds while a part hangs; if nothing hangs, a slow machine does not fail the test

# For each part: the name reported without it, and the texts not shown; all others are shown.
PARTS = {
    "embedder": ("embedding", ()),
    "vectors": ("vectors", ()),
    "words": ("lexical", ()),
    "profiles": ("profiles", ("在学泡茶", "每周读一本小说")),
    "facts": ("profiles", ("在学泡茶", "每周读一本小说")),
    "notes": ("ledger", ("群规：不剧透", "推荐了乌龙茶")),
}
SHOWN = ("茶在南门买", "群规：不剧透", "在学泡茶", "每周读一本小说", "乌龙茶", "推荐了乌龙茶", "刚刚说完")


class Hanging:
    """An embedder that never answers; a stubborn one also ignores cancellation."""

    def __init__(self, *, stubborn=False):
        """Hang from the first call on, until :attr:`may_go` is set."""
        self.stubborn = stubborn
        self.may_go = asyncio.Event()
        self.fingerprint, self.calibration = CountingEmbedder.fingerprint, CountingEmbedder.calibration

    async def embed_query(self, _text):
        """Hang."""
        while not self.may_go.is_set():
            try:
                await self.may_go.wait()
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise
        raise UnavailableError("embedder")


class Stuck:
    """A table, or the files, on a disk that does not answer until :attr:`may_go` is set: its thread is held."""

    def __init__(self):
        """Hold every thread that calls."""
        self.may_go = threading.Event()

    def load(self):
        """Load nothing."""

    def __getattr__(self, name):
        """Return a function that waits."""

        def wait(*_args, **_kwargs):
            self.may_go.wait(PATIENCE)
            raise UnavailableError(name)

        return wait if name == "read" or name.startswith(("found_", "is_")) else MethodType(direct(wait), self)


def a_builder(*, hangs=False, **parts):
    """Return a recall with something in every section; ``parts`` replace those of the same name."""
    live, ledger = Live(Settings()), a_ledger()
    embedder = parts.get("embedder", CountingEmbedder())
    consent = Consent(ledger, live)
    profiles = ProfileReader(
        parts.get("profiles", ListedProfiles(PERSON, READING)),
        ListedIndex(PERSON, READING),
        embedder,
        consent,
        live,
        facts=parts.get("facts", ListedWithdrawals()),
        names=CurrentNames(ledger.names),
    )
    hangs = hangs or any(isinstance(part, Hanging | Stuck) for part in parts.values())
    return a_recall(
        ledger,
        embedder,
        live,
        consent=consent,
        events=ListedEvents(TEA),
        words=parts.get("words", ListedWords([(TEA, 3.0)], messages=[(SAID, 3.0)])),
        vectors=parts.get("vectors", ListedVectors((TEA, 0.9))),
        notes=parts.get("notes", ListedNotes([STORED], [PIN])),
        waiting_memos=lambda _scope: [WAITING],
        profiles=profiles,
        patience=HANGING if hangs else PATIENCE,
    )


async def built(**parts):
    """Build a context with these parts replaced."""
    return await asyncio.wait_for(a_builder(**parts).context(GROUP, "阿棠喜欢什么茶"), PATIENCE)


def check(context, broken):
    """Check that missing parts are named in the documented order, and that everything else is shown."""
    words = {PARTS[part][0] for part in broken}
    gone = {text for part in broken for text in PARTS[part][1]}
    if "words" in broken:
        gone.add("茶在南门买")
    if {"embedder", "vectors", "events"} & set(broken) and "words" in broken:
        gone.add("乌龙茶")
    for text in SHOWN:
        section = context.text.replace("推荐了乌龙茶", "") if text == "乌龙茶" else context.text
        assert (text in section) == (text not in gone), text
    assert set(context.degraded) == _said(words, broken)
    assert list(context.degraded) == [word for word in DEGRADED if word in context.degraded]
    assert [section.title for section in context.sections] == [
        title for title in TITLES if title in {section.title for section in context.sections}
    ]


def _said(words, broken):
    """Return the reported names: if one part of a search fails, those that depend on it are not asked."""
    if "embedder" in broken:
        words = words - {"vectors"}
        return words - ({"ledger"} if "notes" not in broken else set())
    if "vectors" in broken and "notes" not in broken:
        return words - {"ledger"}
    return words


@pytest.mark.parametrize(
    "error", [UnavailableError("away"), StorageRefused("full"), TransientError("busy"), PermanentError("no")]
)
@pytest.mark.parametrize("part", PARTS)
async def test_each_part_may_fail(part, error):
    """A part that fails, with whatever error, removes only its own contents."""
    stand_in = Away(error)
    if part == "embedder":
        stand_in.fingerprint, stand_in.calibration = CountingEmbedder.fingerprint, CountingEmbedder.calibration
    check(await built(**{part: stand_in}), (part,))


async def test_a_part_that_gets_no_thread_is_left_out():
    """Where the system gives no new thread a context has less; a RuntimeError that says anything else is raised."""
    context = await built(notes=Away(RuntimeError("can't start new thread")))
    assert "ledger" in context.degraded
    assert "刚刚说完" in context.text
    with pytest.raises(RuntimeError, match="a bug"):
        await built(notes=Away(RuntimeError("a bug")))


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_model_may_hang(stubborn):
    """An embedder that hangs, even if it ignores cancellation, is not waited for, and the rest is shown."""
    hanging = Hanging(stubborn=stubborn)
    check(await built(embedder=hanging), ("embedder",))
    hanging.may_go.set()


@pytest.mark.parametrize(
    ("part", "left", "degraded"),
    [
        ("profiles", {"相关回忆", "相关原话", "置顶", "近期备忘"}, ("profiles",)),
        ("vectors", {"相关原话", "置顶", "近期备忘"}, ("vectors", "profiles")),
        ("words", {"近期备忘"}, ("vectors", "lexical", "profiles", "ledger")),
    ],
)
async def test_a_disk_that_is_stuck_is_not_waited_for(part, left, degraded):
    """When the time is over, what was read before and what needs no store is shown, and the rest is named."""
    stuck = Stuck()
    context = await built(**{part: stuck})
    assert {section.title for section in context.sections} == left
    assert set(context.degraded) == set(degraded)
    assert "刚刚说完" in context.text
    stuck.may_go.set()


async def test_stuck_questions_are_refused_by_the_breaker():
    """After five questions that a disk held up, the next ones are answered at once, without the ledger."""
    stuck, breaker = Stuck(), Breaker("ledger")
    recall = a_builder(words=stuck)
    recall._guarded = breaker.call
    for _ in range(MAX_FAILURES):
        await recall.context(GROUP, "阿棠喜欢什么茶")
    assert breaker.state == "failed"
    recall._patience = PATIENCE
    context = await asyncio.wait_for(recall.context(GROUP, "阿棠喜欢什么茶"), PATIENCE / 2)
    assert [section.title for section in context.sections] == ["近期备忘"]
    stuck.may_go.set()
