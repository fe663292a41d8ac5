"""Names in statements follow the ids beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.text.speakers import with_current_names

QI = Person("28471095", "齐师傅修船", ("老齐", "白卷", "QiQi"))
TANG = Person("2000001", "阿棠")
PEOPLE = {person.id: person for person in (QI, TANG)}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("老齐(28471095)对花生过敏", "齐师傅修船(28471095)〔当时叫老齐〕对花生过敏"),
        ("齐师傅修船(28471095)对花生过敏", "齐师傅修船(28471095)对花生过敏"),
        ("QQ(28471095)对花生过敏", "齐师傅修船(28471095)对花生过敏"),
        ("阿棠(2000001)说老齐(28471095)欠钱", "阿棠(2000001)说齐师傅修船(28471095)〔当时叫老齐〕欠钱"),
        ("老齐(28471095)和白卷(28471095)是一个人", "齐师傅修船(28471095)〔当时叫老齐〕和齐师傅修船(28471095)是一个人"),
        ("QiQi(28471095) moved", "齐师傅修船(28471095)〔当时叫QiQi〕 moved"),
        ("NotQiQi(28471095) moved", "NotQiQi(28471095) moved"),
        ("老齐（28471095）来过", "齐师傅修船（28471095）〔当时叫老齐〕来过"),
        ("路人(3000001)说好", "路人(3000001)说好"),
        ("某位成员说老齐喜欢茶", "某位成员说老齐喜欢茶"),
        ("没见过的名字(28471095)来过", "没见过的名字(28471095)来过"),
        ("四月(4月)到五月(5月)", "四月(4月)到五月(5月)"),
        ("(28471095)来过", "(28471095)来过"),
    ],
)
def test_who_is_meant_is_called_by_the_present_name(written: str, shown: str) -> None:
    """A known id gets its present name, with the one that was written; all else stays as it was written."""
    assert with_current_names(written, PEOPLE) == shown


def test_nobody_breaks_out_by_a_name() -> None:
    """A card with brackets in it forges no label of somebody else."""
    wearer = Person("1", "管理员(28471095)", ("小明",))
    assert with_current_names("小明(1)来了", {"1": wearer, **PEOPLE}) == "管理员〔28471095〕(1)〔当时叫小明〕来了"


@given(st.lists(st.sampled_from(["老齐(28471095)", "阿棠(2000001)", "，", "白卷(28471095)", "路人(9)", "说了"])))
def test_ids_survive(pieces: list[str]) -> None:
    """Whoever is renamed, every id stays where it was."""
    text = "".join(pieces)
    shown = with_current_names(text, PEOPLE)
    assert [shown.count(f"({one})") for one in ("28471095", "2000001", "9")] == [
        text.count(f"({one})") for one in ("28471095", "2000001", "9")
    ]
