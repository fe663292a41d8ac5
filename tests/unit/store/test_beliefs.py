"""The contract of the ledger's beliefs: versions, changes, vectors, and what evolution has read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cognitive_memory_core.domain.belief import Belief, BeliefEdit, logged
from cognitive_memory_core.text.redaction import Redaction
from tests.support.beliefs import LIN, MO, TEA, a_belief, a_chat, begun
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_vector, archived, later


def next_version(belief: Belief, statement: str, belief_id: str, **fields: Any) -> BeliefEdit:
    """Return the edit that updates a belief."""
    dated = {"version": belief.version + 1, "parent_id": belief.id, "updated_at": later(hours=1)}
    after = replace(belief, id=belief_id, statement=statement, **{**dated, **fields})
    return logged("update", after, belief, "说得更细", later(hours=1))


def retired(belief: Belief) -> BeliefEdit:
    """Return the edit that retires a belief."""
    after = replace(belief, status="deprecated")
    return logged("delete", after, belief, "不办了", later(hours=2))


async def statements(ledger: Ledger, status: str = "active") -> list[str]:
    """Return the statements of the group's current beliefs."""
    page = await ledger.beliefs.page(GROUP.scope, status, 100)  # type: ignore[arg-type]  # a listing
    assert page.total == len(page.beliefs)
    return [one.statement for one in page.beliefs]


async def test_an_edit_that_was_overtaken_is_skipped(ledger: Ledger) -> None:
    """An edit of a version that is no longer current, or retired meanwhile, changes nothing; the others apply."""
    first, other = a_belief(), a_belief("不讨论政治", "b5")
    await ledger.beliefs.commit([begun(first), begun(other)])
    await ledger.beliefs.commit([next_version(first, "改到周六", "b2")])
    late = [next_version(first, "改到周日", "b3"), retired(first), retired(other)]
    assert await ledger.beliefs.commit(late) == [late[2]]
    assert await statements(ledger) == ["改到周六"]
    assert await statements(ledger, "deprecated") == ["不讨论政治"]
    again = next_version(replace(other, status="deprecated"), "可以讨论政治", "b6", status="active")
    assert await ledger.beliefs.commit([next_version(other, "换个说法", "b7"), again]) == [again]


async def test_two_active_beliefs_never_say_the_same(ledger: Ledger) -> None:
    """A belief in the words of an active one is skipped, however it is spelled; in another group it is not."""
    await ledger.beliefs.commit([begun(a_belief("不要剧透"))])
    twin, elsewhere = begun(a_belief("不要 剧透！", "b2")), begun(a_belief("不要剧透", "b3", OTHER_GROUP))
    assert await ledger.beliefs.commit([twin, elsewhere]) == [elsewhere]
    (first,) = (await ledger.beliefs.page(GROUP.scope, "active", 9)).beliefs
    await ledger.beliefs.commit([retired(first)])
    assert await ledger.beliefs.commit([twin]) == [twin]
    assert await ledger.beliefs.commit([BeliefEdit(first, replace(first, status="deprecated"))]) == []


async def test_a_vector_belongs_to_its_words(ledger: Ledger) -> None:
    """Only active beliefs wait for vectors; another statement loses the vector, a changed strength keeps it."""
    first = a_belief()
    await ledger.beliefs.commit([begun(first)])
    assert await ledger.belief_vectors.waiting(MODEL, 9) == [(first.id, first.statement)]
    await ledger.belief_vectors.store(MODEL, [(first.id, "别的话", a_vector(0, 1))])
    await ledger.belief_vectors.store(MODEL, [(first.id, first.statement, a_vector(1, 0))])
    assert await ledger.belief_vectors.waiting(MODEL, 9) == []
    stronger = replace(first, strength=0.9)
    await ledger.beliefs.commit([BeliefEdit(stronger, first)])
    assert await ledger.beliefs.near(GROUP.scope, "another", a_vector(0.6, 0.8)) == [(stronger, None)]
    assert await ledger.beliefs.near(GROUP.scope, MODEL, a_vector(0.6, 0.8)) == [(stronger, pytest.approx(0.6))]
    assert await ledger.beliefs.near(GROUP.scope, MODEL, a_vector(1, 0, 0)) == [(stronger, None)]
    assert await ledger.beliefs.near(GROUP.scope, MODEL, None) == [(stronger, None)]
    edit = next_version(stronger, "改到周六", "b2")
    await ledger.beliefs.commit([edit])
    assert await ledger.belief_vectors.waiting(MODEL, 9) == [(edit.belief.id, "改到周六")]
    assert await ledger.beliefs.near(GROUP.scope, MODEL, a_vector(0.6, 0.8)) == [(edit.belief, None)]


async def test_a_withdrawn_message_supports_nothing(ledger: Ledger) -> None:
    """A belief loses a withdrawn message; one that rested on it alone is retired, and none is stored on it later."""
    await ledger.log.append(a_chat((TEA, "不要剧透"), (LIN, "同意")))
    both, alone = a_belief(message_ids=("m1", "m2")), a_belief("不讨论政治", "b2", message_ids=("m1",))
    await ledger.beliefs.commit([begun(both), begun(alone)])
    await ledger.log.withdraw(GROUP.scope, "m1", later(hours=1))
    assert [one.message_ids for one in (await ledger.beliefs.page(GROUP.scope, "active", 9)).beliefs] == [("m2",)]
    assert await statements(ledger, "deprecated") == ["不讨论政治"]
    assert [one.action for one in await ledger.beliefs.changes(GROUP.scope, later(hours=1))] == ["delete"]
    late = begun(a_belief("晚来的", "b3", message_ids=("m1",)))
    partly = begun(a_belief("还有一条", "b4", message_ids=("m1", "m2")))
    assert await ledger.beliefs.commit([late, partly]) == [partly]
    assert (await ledger.beliefs.history("b4"))[0].message_ids == ("m2",)


async def test_a_forgotten_person_leaves_the_beliefs(ledger: Ledger) -> None:
    """What only they said is erased and its chain linked again; elsewhere they are nobody, in the log, too."""
    await ledger.log.append(a_chat((TEA, "不要剧透"), (LIN, "同意")))
    first = a_belief("小林(2000002)说不要剧透", tags=("小林",))
    alone = next_version(first, "小林说可以剧透", "b2", supporters=(LIN[0],))
    again = next_version(alone.belief, "还是不要剧透，小林赞成", "b3", supporters=(TEA[0], LIN[0]))
    await ledger.beliefs.commit([begun(first)])
    await ledger.beliefs.commit([alone])
    await ledger.beliefs.commit([again])
    await ledger.beliefs.commit([begun(a_belief("只有小林说的", "b9", supporters=(LIN[0],)))])

    def hide(text: str) -> str:
        return text.replace("小林(2000002)", "某位成员").replace("小林", "某位成员")

    wiped, _ = await ledger.eraser.forget_person(LIN[0], later(hours=3), hide)
    assert wiped.beliefs == 2
    old, new = await ledger.beliefs.history("b1")
    assert (old.statement, old.tags, old.is_current) == ("某位成员说不要剧透", ("某位成员",), False)
    assert (new.parent_id, new.statement, new.supporters) == ("b1", "还是不要剧透，某位成员赞成", (TEA[0],))
    assert await ledger.beliefs.find("b9") is None
    left = [str(row) for row in await archived(ledger)]
    assert not [row for row in left if "小林" in row or LIN[0] in row]


async def test_an_erased_person_is_not_imported_again(ledger: Ledger) -> None:
    """A belief of an earlier export comes back without an erased supporter, and not at all if only they said it."""
    await ledger.eraser.forget_person(LIN[0], later(hours=1), str)
    both, alone = a_belief("不要剧透"), a_belief("不谈政治", "b2", supporters=(LIN[0],))
    named = a_belief(f"听小林({'2000002'})的安排来", "b3")
    assert await ledger.archive.import_rows([both, alone, named]) == 1
    assert (await ledger.beliefs.history("b1"))[0].supporters == (TEA[0],)


async def test_a_withdrawer_supports_no_belief_and_an_erased_person_leaves_no_message_id(ledger: Ledger) -> None:
    """Who withdraws the only own message is no supporter any more; ids of messages of erased people are dropped."""
    lines = [a_message("别剧透", replace(GROUP, user_id=one), NOON, id=f"m{one}") for one in (TEA[0], LIN[0], MO[0])]
    await ledger.log.append(lines)
    said = a_belief("不要剧透", supporters=(TEA[0], LIN[0], MO[0]), message_ids=tuple(line.id for line in lines))
    await ledger.beliefs.commit([begun(said)])
    await ledger.log.withdraw(GROUP.scope, f"m{MO[0]}", later(hours=1))
    [left] = await ledger.beliefs.history("b1")
    assert left.supporters == (TEA[0], LIN[0])
    await ledger.eraser.forget_person(LIN[0], later(hours=2), Redaction.of([LIN[0]], ()))
    [left] = await ledger.beliefs.history("b1")
    assert (left.supporters, left.message_ids) == ((TEA[0],), (f"m{TEA[0]}",))
