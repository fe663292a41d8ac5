"""Tests that a context is built in time, with less in it, while parts of it fail or hang, alone or together."""

from __future__ import annotations

import asyncio
from itertools import combinations

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.context.builder import DEGRADED, ContextBuilder
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import PermanentError, StorageRefused, TransientError, UnavailableError
from cognitive_memory_core.models.embedding_queue import EmbeddingQueue
from cognitive_memory_core.read_access import ReadAccess
from cognitive_memory_core.recall.message_search import MessageSearch
from cognitive_memory_core.recall.profile_reader import ProfileReader, ProfileReadLimits
from cognitive_memory_core.recall.quotations import Quotations
from cognitive_memory_core.recall.retriever import Retriever
from cognitive_memory_core.settings import Live, Settings
from tests.support.builders import GROUP, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed
from tests.support.ports import (
    Away,
    CountingEmbedder,
    ListedEvents,
    ListedNotes,
    ListedVectors,
    ListedWords,
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
BOUNDS = HANGING, LEGS, FILES = 0.9, 0.7, 0.4  # limits in seconds while 6, 5 or 1 parts hang
AMPLE = (PATIENCE, PATIENCE, PATIENCE)  # used if nothing hangs, so that a slow machine does not fail the test

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


class ListedLog:
    """A log in which no line is replied to."""

    async def settle(self):
        """Write nothing."""


class Hanging:
    """A store or model that never answers; a stubborn one also ignores cancellation."""

    def __init__(self, *, stubborn=False):
        """Hang from the first call on, until :attr:`may_go` is set."""
        self.stubborn = stubborn
        self.may_go = asyncio.Event()
        self.fingerprint, self.calibration = CountingEmbedder.fingerprint, CountingEmbedder.calibration

    def __getattr__(self, name):
        """Return a coroutine function that hangs."""

        async def hang(*_args, **_kwargs):
            while not self.may_go.is_set():
                try:
                    await self.may_go.wait()
                except asyncio.CancelledError:
                    if not self.stubborn:
                        raise
            raise UnavailableError(name)

        return hang


def a_builder(*, hangs=False, **parts):
    """Return a builder with something in every section; ``parts`` replaces those of the same name."""
    live, clock, ledger = Live(Settings()), FrozenClock(), a_ledger()
    whole, legs, files = BOUNDS if hangs or any(isinstance(part, Hanging) for part in parts.values()) else AMPLE
    embedder = parts.get("embedder", CountingEmbedder())
    access = ReadAccess(Consent(ledger.consent, ledger.names), live)
    retriever = Retriever(
        parts.get("events", ListedEvents(TEA)),
        parts.get("words", ListedWords([(TEA, 3.0)])),
        parts.get("vectors", ListedVectors((TEA, 0.9))),
        embedder,
        live,
        clock,
        legs,
    )
    profiles = ProfileReader(
        parts.get("profiles", ListedProfiles(PERSON, READING)),
        ListedIndex(PERSON, READING),
        embedder,
        access,
        live,
        ProfileReadLimits(files),
        facts=parts.get("facts", ListedWithdrawals()),
    )
    notes = parts.get("notes", ListedNotes([STORED], [PIN]))
    words = parts.get("words", ListedWords(messages=[(SAID, 3.0)]))
    log = parts.get("log", ListedLog())
    messages = MessageSearch(words, clock, log.settle, patience=legs)
    quotations = Quotations(messages, clock)
    given = {"profiles": profiles, "quotations": quotations, "patience": whole}
    return ContextBuilder(retriever, notes, lambda _scope: [WAITING], live, access, **given)


async def built(**parts):
    """Build a context with these parts replaced."""
    return await asyncio.wait_for(a_builder(**parts).build(GROUP, "阿棠喜欢什么茶"), PATIENCE)


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


async def test_nothing_is_missing_where_all_is_well():
    """If nothing fails, every section is present and nothing is named as missing."""
    context = await built()
    check(context, ())
    assert [section.title for section in context.sections] == list(TITLES)


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
    assert context.degraded
    assert "乌龙茶" in context.text
    with pytest.raises(RuntimeError, match="a bug"):
        await built(notes=Away(RuntimeError("a bug")))


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("part", PARTS)
async def test_each_part_may_hang(part, stubborn):
    """A part that hangs, even if it ignores cancellation, is not waited for, and the rest is shown."""
    hanging = Hanging(stubborn=stubborn)
    check(await built(**{part: hanging}), (part,))
    hanging.may_go.set()


class Unanswered:
    """A store that answers by futures, as the ledger does, and never sets one; each is kept."""

    def __init__(self):
        """Hand out no future yet."""
        self.given = []

    def __getattr__(self, name):
        """Return a function that hands out a future which is never set."""

        def ask(*_args, **_kwargs):
            self.given.append(asyncio.get_running_loop().create_future())
            return self.given[-1]

        return ask


async def test_a_ledger_whose_futures_are_never_set_is_not_waited_for():
    """Reads of the ledger that are late are cancelled and count as missing; no cancellation reaches the caller."""
    notes = Unanswered()
    check(
        await asyncio.wait_for(a_builder(hangs=True, notes=notes).build(GROUP, "阿棠喜欢什么茶"), PATIENCE), ("notes",)
    )
    assert notes.given
    assert all(future.cancelled() for future in notes.given)


@pytest.mark.parametrize("pair", list(combinations(PARTS, 2)), ids="-".join)
async def test_any_two_may_fail_at_once(pair):
    """If two parts fail, the contents of both are missing, and they are named in the documented order."""
    check(await built(**{part: Away() for part in pair}), pair)


@pytest.mark.parametrize("make", [Away, Hanging, lambda: Hanging(stubborn=True)], ids=["away", "hanging", "stubborn"])
async def test_everything_may_be_away_at_once(make):
    """If every store and model fails or hangs, pending memos are still shown in time."""
    stand_ins = {part: make() for part in PARTS}
    context = await built(**stand_ins)
    check(context, tuple(PARTS))
    assert context.degraded == ("embedding", "lexical", "profiles", "ledger")
    assert [section.title for section in context.sections] == ["近期备忘"]
    for one in stand_ins.values():
        if isinstance(one, Hanging):
            one.may_go.set()


async def test_a_model_that_hangs_is_asked_once():
    """While a model hangs, turns with the same question share one call, and the next turn has its answer."""
    embedder = CountingEmbedder()
    embedder.may_answer.clear()
    builder = a_builder(hangs=True, embedder=EmbeddingQueue(embedder, FrozenClock(), Live(embedder.calibration)))
    contexts = await asyncio.gather(*(builder.build(GROUP, "阿棠喜欢什么茶") for _ in range(3)))
    assert [context.degraded for context in contexts] == [("embedding",)] * 3
    assert len(embedder.asked) == 1
    embedder.may_answer.set()
    assert (await builder.build(GROUP, "阿棠喜欢什么茶")).degraded == ()
    assert len(embedder.asked) == 1


async def test_a_search_that_hangs_as_a_whole_is_given_up():
    """If the whole search takes too long, the rest is shown, and both kinds of search are named as missing."""

    class Never(Retriever):
        async def search(self, *_args, **_kwargs):
            await asyncio.Event().wait()

    live, clock, ledger = Live(Settings()), FrozenClock(), a_ledger()
    access = ReadAccess(Consent(ledger.consent, ledger.names), live)
    retriever = Never(ListedEvents(), ListedWords(), ListedVectors(), CountingEmbedder(), live, clock)
    builder = ContextBuilder(retriever, ListedNotes([STORED], [PIN]), lambda _scope: [], live, access, patience=FILES)
    context = await asyncio.wait_for(builder.build(GROUP, "阿棠喜欢什么茶"), PATIENCE)
    assert context.degraded == ("vectors", "lexical")
    assert [section.title for section in context.sections] == ["置顶", "近期备忘"]


async def test_switched_off_memos_that_hang_are_not_waited_for():
    """A switched-off memory shows the pending memos if the ledger hangs."""
    notes = Hanging()
    context = await asyncio.wait_for(a_builder(notes=notes).memos_only(GROUP), PATIENCE)
    assert context.degraded == ("ledger", "disabled")
    assert "刚刚说完" in context.text
    notes.may_go.set()
