"""Everything that a context rests on, failing or hanging, in turn and together: there is less of it, in time."""

from __future__ import annotations

import asyncio
from itertools import combinations

import pytest

from cognitive_memory_core.adapters.embedding import EmbeddingQueue
from cognitive_memory_core.adapters.inmemory.ledger import InMemoryLedger
from cognitive_memory_core.consent import Consent
from cognitive_memory_core.context.builder import DEGRADED, ContextBuilder
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.errors import PermanentError, StorageRefused, TransientError, UnavailableError
from cognitive_memory_core.recall.profile_reader import ProfileReader, ProfileReadLimits
from cognitive_memory_core.recall.retriever import Retriever
from cognitive_memory_core.settings import Live, Settings
from tests.support.builders import GROUP, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.portraits import ListedIndex, ListedPortraits, ListedWithdrawals, a_portrait
from tests.support.ports import Away, CountingEmbedder, ListedEvents, ListedNotes, ListedVectors, ListedWords
from tests.support.waiting import PATIENCE

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea")
PIN = Pin("p", GROUP.scope, "群规：不剧透", "", NOON)
STORED, WAITING = (
    Memo(name, GROUP.scope, text, NOON, "2000001") for name, text in (("s", "推荐了乌龙茶"), ("w", "刚刚说完"))
)
PERSON = a_portrait(ProfileKey.member("10001", "2000001"), "在学泡茶。")
READING = a_portrait(ProfileKey.group("10001"), "每周读一本小说。", name="读书会")
TITLES = ("置顶", "用户侧写", "群聊背景", "相关回忆", "近期备忘")
BOUNDS = HANGING, LEGS, FILES = 0.9, 0.7, 0.4  # seconds for what hangs, in the order of those in use: 6, 5 and 1
AMPLE = (PATIENCE, PATIENCE, PATIENCE)  # where nothing hangs, so that a busy machine is no failure

# Each part: what is missing without it, by word and by what is not shown; what is left is shown.
PARTS = {
    "embedder": ("embedding", ()),
    "vectors": ("vectors", ()),
    "words": ("lexical", ()),
    "portraits": ("profiles", ("在学泡茶", "每周读一本小说")),
    "facts": ("profiles", ("在学泡茶", "每周读一本小说")),
    "notes": ("ledger", ("群规：不剧透", "推荐了乌龙茶")),
}
SHOWN = ("群规：不剧透", "在学泡茶", "每周读一本小说", "乌龙茶", "推荐了乌龙茶", "刚刚说完")


class Hanging:
    """A store or model that never answers; a stubborn one takes no notice of being cancelled either."""

    def __init__(self, *, stubborn=False):
        """Hang from the first call on, until :attr:`may_go`."""
        self.stubborn = stubborn
        self.may_go = asyncio.Event()
        self.fingerprint, self.calibration = CountingEmbedder.fingerprint, CountingEmbedder.calibration

    def __getattr__(self, name):
        """Hang in any call."""

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
    """Make a builder with something in every section; ``parts`` stand in for those of the same name."""
    live, clock, ledger = Live(Settings()), FrozenClock(), InMemoryLedger()
    whole, legs, files = BOUNDS if hangs or any(isinstance(part, Hanging) for part in parts.values()) else AMPLE
    embedder = parts.get("embedder", CountingEmbedder())
    retriever = Retriever(
        parts.get("events", ListedEvents(TEA)),
        parts.get("words", ListedWords([(TEA, 3.0)])),
        parts.get("vectors", ListedVectors((TEA, 0.9))),
        embedder,
        live,
        clock,
        legs,
    )
    portraits = ProfileReader(
        parts.get("portraits", ListedPortraits(PERSON, READING)),
        ListedIndex(PERSON, READING),
        embedder,
        Consent(ledger.consent, ledger.names),
        live,
        ProfileReadLimits(files),
        facts=parts.get("facts", ListedWithdrawals()),
    )
    notes = parts.get("notes", ListedNotes([STORED], [PIN]))
    return ContextBuilder(retriever, notes, lambda _scope: [WAITING], live, portraits=portraits, patience=whole)


async def built(**parts):
    """Build a context in which these parts stand in."""
    return await asyncio.wait_for(a_builder(**parts).build(GROUP, "阿棠喜欢什么茶"), PATIENCE)


def check(context, broken):
    """See that what is missing is named, in the contract's order, and that all the rest is there."""
    words = {PARTS[part][0] for part in broken}
    gone = {text for part in broken for text in PARTS[part][1]}
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
    """Of a leg the first part that fails is named: nobody asks what stands behind it."""
    if "embedder" in broken:
        words = words - {"vectors"}
        return words - ({"ledger"} if "notes" not in broken else set())
    if "vectors" in broken and "notes" not in broken:
        return words - {"ledger"}
    return words


async def test_nothing_is_missing_where_all_is_well():
    """With everything there, every section stands and nothing is named."""
    context = await built()
    check(context, ())
    assert [section.title for section in context.sections] == list(TITLES)


@pytest.mark.parametrize(
    "error", [UnavailableError("away"), StorageRefused("full"), TransientError("busy"), PermanentError("no")]
)
@pytest.mark.parametrize("part", PARTS)
async def test_each_part_may_fail(part, error):
    """Whatever fails in whatever way costs its own share and nothing else."""
    stand_in = Away(error)
    if part == "embedder":
        stand_in.fingerprint, stand_in.calibration = CountingEmbedder.fingerprint, CountingEmbedder.calibration
    check(await built(**{part: stand_in}), (part,))


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("part", PARTS)
async def test_each_part_may_hang(part, stubborn):
    """Whatever hangs, and will not even be cancelled, is not waited for; what is left is there."""
    hanging = Hanging(stubborn=stubborn)
    check(await built(**{part: hanging}), (part,))
    hanging.may_go.set()


@pytest.mark.parametrize("pair", list(combinations(PARTS, 2)), ids="-".join)
async def test_any_two_may_fail_at_once(pair):
    """Of two that are away each costs its own, and the words stand in the contract's order."""
    check(await built(**{part: Away() for part in pair}), pair)


@pytest.mark.parametrize("make", [Away, Hanging, lambda: Hanging(stubborn=True)], ids=["away", "hanging", "stubborn"])
async def test_everything_may_be_away_at_once(make):
    """With every store and model gone, what waits in the queue is still known, in time."""
    stand_ins = {part: make() for part in PARTS}
    context = await built(**stand_ins)
    check(context, tuple(PARTS))
    assert context.degraded == ("embedding", "lexical", "profiles", "ledger")
    assert [section.title for section in context.sections] == ["近期备忘"]
    for one in stand_ins.values():
        if isinstance(one, Hanging):
            one.may_go.set()


async def test_a_model_that_hangs_is_asked_once():
    """Turns that ask the same while a model hangs all wait for its one answer, and the next turn has it."""
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
    """Should search as such take too long, the rest is there, and both its legs are named."""

    class Never(Retriever):
        async def search(self, *_args, **_kwargs):
            await asyncio.Event().wait()

    live, clock = Live(Settings()), FrozenClock()
    retriever = Never(ListedEvents(), ListedWords(), ListedVectors(), CountingEmbedder(), live, clock)
    builder = ContextBuilder(retriever, ListedNotes([STORED], [PIN]), lambda _scope: [], live, patience=FILES)
    context = await asyncio.wait_for(builder.build(GROUP, "阿棠喜欢什么茶"), PATIENCE)
    assert context.degraded == ("vectors", "lexical")
    assert [section.title for section in context.sections] == ["置顶", "近期备忘"]


async def test_switched_off_memos_that_hang_are_not_waited_for():
    """The memory that is switched off gives what waits in the queue where the ledger hangs."""
    notes = Hanging()
    context = await asyncio.wait_for(a_builder(notes=notes).memos_only(GROUP), PATIENCE)
    assert context.degraded == ("ledger", "disabled")
    assert "刚刚说完" in context.text
    notes.may_go.set()
