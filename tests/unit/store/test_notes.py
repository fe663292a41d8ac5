"""The contract of NoteBook."""

from __future__ import annotations

from dataclasses import replace

from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE
from tests.support.ledgers import Ledger, a_memo, later


async def test_memos_of_a_place_come_newest_last(ledger: Ledger) -> None:
    """The newest memos of a place are returned, newest last."""
    memos = [a_memo(f"第{hour}次", at=later(hours=hour), user_id="2000001") for hour in (2, 0, 1)]
    for memo in (*memos, a_memo("别处", OTHER_GROUP), a_memo("私", PRIVATE)):
        await ledger.notes.write_memo(memo)
    assert await ledger.notes.memos(GROUP.scope, 9) == [memos[1], memos[2], memos[0]]
    assert await ledger.notes.memos(GROUP.scope, 2) == [memos[2], memos[0]]
    assert await ledger.notes.memos(GROUP.scope, 0) == []
    await ledger.notes.write_memo(a_memo("别人的", at=later(hours=9), user_id="2000002"))
    assert await ledger.notes.memos(GROUP.scope, 2, without={"2000002"}) == [memos[2], memos[0]]
    assert await ledger.notes.memos(PRIVATE.scope, -1) == []


async def test_a_memo_is_kept_once(ledger: Ledger) -> None:
    """A memo with a known id is not overwritten."""
    memo = a_memo()
    await ledger.notes.write_memo(memo)
    await ledger.notes.write_memo(replace(memo, text="别的"))
    assert await ledger.notes.memos(GROUP.scope, 9) == [memo]


async def test_the_latest_memos_are_of_all_places(ledger: Ledger) -> None:
    """The latest memos of all places are returned, newest last."""
    memos = [a_memo("一"), a_memo("二", OTHER_GROUP), a_memo("三", PRIVATE)]
    for memo in memos:
        await ledger.notes.write_memo(memo)
    assert await ledger.notes.latest_memos(9) == memos
    assert await ledger.notes.latest_memos(2) == memos[1:]
    assert await ledger.notes.latest_memos(0) == []


async def test_a_persons_memos_are_those_of_their_turns(ledger: Ledger) -> None:
    """The memos of a person's turns are found in every place, and nobody else's."""
    theirs = [a_memo("一", user_id="2000001"), a_memo("二", PRIVATE, user_id="2000001")]
    for memo in (*theirs, a_memo("三", user_id="2000002")):
        await ledger.notes.write_memo(memo)
    assert sorted(await ledger.notes.memo_ids("2000001")) == sorted(memo.id for memo in theirs)
