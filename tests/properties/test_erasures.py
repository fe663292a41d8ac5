"""After any erasure and with any sharing, no read path finds the erased text, and no byte of it is left."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cognitive_memory_core import CognitiveMemory, Message, MistakeError, ProfileKey, Scene, Settings
from cognitive_memory_core.historian.clock_watch import STEADY
from cognitive_memory_core.store.ledger import ClockState, Ledger
from tests.support.clock import FrozenClock
from tests.support.sizes import sized
from tests.support.telling import EXACT, GAMES, PRIVATE, PRIVATE_MILI, READING, READING_MILI, a_memory, recalled, tell
from tests.support.waiting import PATIENCE, until

ME = PRIVATE.user_id
SCENES = (READING, GAMES, PRIVATE, READING_MILI, PRIVATE_MILI, Scene.operator())


@dataclass(frozen=True)
class Telling:
    """A statement by a person in a place, identified by a unique word, which the bot later repeats."""

    scene: Scene
    word: str

    @property
    def statement(self) -> str:
        """Return the event that the historian makes of it."""
        return f"{self.scene.user_name}({self.scene.user_id}) 喜欢{self.word}"


TOLD = (
    Telling(READING, "三花猫"),
    Telling(READING, "皮划艇"),
    Telling(READING_MILI, "葫芦丝"),
    Telling(GAMES, "乌龙茶"),
    Telling(PRIVATE, "星轨展"),
    Telling(PRIVATE_MILI, "酸豆角"),
)
Tells = Callable[[Telling], bool]
ERASURES: dict[str, Tells] = {
    "forget_user": lambda one: one.scene.user_id == ME,
    "forget_scene of a group": lambda one: one.scene.scope == READING.scope,
    "forget_scene of a private chat": lambda one: one.scene.scope == PRIVATE.scope,
    "forget_event": lambda one: one == TOLD[0],
    "opt_out": lambda one: one.scene.user_id == ME,
}


async def told(memory: CognitiveMemory, clock: FrozenClock, tellings: Sequence[Telling]) -> None:
    """Play everything: lines, turns, profiles, and the bot's repetitions."""
    for number, one in enumerate(tellings):
        clock.advance(minutes=1)
        await memory.observe(Message(f"m{number}", one.scene, f"我喜欢{one.word}", clock.now()))
        await tell(memory, one.scene, one.statement, message_ids=(f"m{number}",))
        await memory.observe(Message(f"b{number}", one.scene, f"记得你喜欢{one.word}", clock.now(), is_bot=True))


async def erased(memory: CognitiveMemory, how: str) -> None:
    """Run one kind of erasure."""
    if how == "forget_user":
        await memory.forget_user(PRIVATE, ME)
    elif how == "forget_event":
        [event] = [event for event in await memory.events(READING) if TOLD[0].word in event.text]
        await memory.forget_event(READING, event.id)
    elif how == "opt_out":
        await memory.opt_out(ME)
    else:
        await memory.forget_scene(READING if "group" in how else PRIVATE)


async def everything(memory: CognitiveMemory, query: str) -> str:
    """Return everything that any scene is shown about a query, by every read path."""
    found: list[object] = []
    for scene in SCENES:
        reads: list[Awaitable[object]] = [
            recalled(memory, scene, query),
            memory.search_profiles(scene, query),
            *(memory.get_profile(scene, "user", user_id) for user_id in (ME, PRIVATE_MILI.user_id)),
        ]
        if scene.kind != "operator":
            reads += [memory.recent_messages(scene, 50), memory.memos(scene), memory.pins(scene)]
        for key in keys():
            reads.append(memory.profile_revisions(scene, key))
        for read in reads:
            with suppress(MistakeError):
                found.append(await read)
    return repr(found)


def keys() -> list[ProfileKey]:
    """Return the keys of all possible profiles."""
    people = (ME, PRIVATE_MILI.user_id)
    groups = (READING.group_id, GAMES.group_id)
    members = [ProfileKey.member(group, person) for group in groups for person in people]
    return [*map(ProfileKey.user, people), *map(ProfileKey.group, groups), *members]


def bytes_of(data: Path) -> bytes:
    """Return the content of all files; one that was just removed counts as empty."""
    found = list[bytes]()
    for path in sorted(data.rglob("*")):
        with suppress(FileNotFoundError, IsADirectoryError):
            found.append(path.read_bytes())
    return b"\n".join(found)


async def thirty_days_later(data: Path, clock: FrozenClock) -> None:
    """Advance a trusted clock beyond the days in which an event can be restored."""
    clock.advance(days=31)
    ledger = await Ledger.open(data / "ledger.db", clock=clock)
    await ledger.housekeeping.keep_clock(ClockState(clock.now(), clock.now(), STEADY))
    await ledger.close()


async def lived(data: Path, how: str, sharing: str, tellings: Sequence[Telling]) -> None:
    """Play, erase and search everywhere; then purge, and search every file."""
    clock, goes = FrozenClock(), [one.word for one in TOLD if ERASURES[how](one)]
    stays = [one.word for one in TOLD if one.word not in goes]
    chosen = Settings(sharing="shared" if sharing == "shared" else "isolated", vector_store=EXACT.vector_store)
    async with a_memory(data, chosen, clock=clock) as memory:
        for person in (ME, PRIVATE_MILI.user_id) if sharing == "opened" else ():
            await memory.set_sharing(person, shared=True)
        await told(memory, clock, tellings)
        await erased(memory, how)
        for is_settled in (False, True):
            shown = [word for word in goes if word in await everything(memory, f"喜欢{word}吗")]
            assert shown == [], (how, sharing, is_settled)
            assert await memory.drain(PATIENCE)
        assert [word for word in stays if word not in await everything(memory, f"喜欢{word}吗")] == []
    if how == "opt_out":  # it stops recording and recall, and erases nothing
        return
    if how == "forget_event":
        await thirty_days_later(data, clock)
    async with a_memory(data, chosen, clock=clock) as memory:

        async def is_gone() -> bool:
            is_purged = (await memory.status()).purge.erased_at is None
            return is_purged and not any(word.encode() in bytes_of(data) for word in goes)

        await asyncio.wait_for(until(is_gone), PATIENCE)
    left = bytes_of(data)
    assert [word for word in goes if word.encode() in left] == []
    assert how == "forget_event" or all(word.encode() in left for word in stays)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("how", "sharing"),
    [
        (how, sharing)
        for row, how in enumerate(ERASURES)
        for column, sharing in enumerate(("isolated", "shared", "opened"))
        if (row + column) % sized(3, 1) == 0
    ],
)
def test_what_is_erased_is_found_by_nobody_and_on_no_disk(how: str, sharing: str) -> None:
    """Erased text is not found from that moment on, nor in any byte after the purge, whatever was told first."""

    @settings(max_examples=sized(1, 5), phases=[Phase.generate], deadline=None)
    @given(st.permutations(TOLD))
    def in_any_order(tellings: Sequence[Telling]) -> None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            asyncio.run(lived(Path(folder) / "data", how, sharing, tellings))

    in_any_order()
