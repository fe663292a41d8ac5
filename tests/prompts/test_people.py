"""Tests of which people a prompt lists, and under which names."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.prompts.library import Task
from tests.prompts.asked import (
    EVENING,
    GROUP_ID,
    LIBRARY,
    LIN,
    PEOPLE,
    QI,
    TANG,
    evening,
    facts,
    given,
    job_context,
    merge,
    said,
    scene,
    told,
)

STRANGER = Person("5550000001", "路人甲")
CROWD = tuple(Person(str(6_000_000 + at), f"潜水{at}号") for at in range(60))


def listed(prompt: str) -> list[str]:
    """Return the lines of the list of people."""
    return prompt.partition("<名单>\n")[2].partition("\n</名单>")[0].split("\n")


def rewrite(*texts: str, source: str = "", lines: Any = (), **fields: Any) -> str:
    """Return the prompt that rewrites some observations."""
    tasks = [Task(at, text) for at, text in enumerate(texts or ("甲",), 1)]
    return LIBRARY.rewrite(tasks, job_context(**fields), source=source, lines=lines).prompt


def test_who_took_part_comes_first() -> None:
    """The list of people starts with the person who caused the turn, then the other speakers, with earlier names."""
    prompt = rewrite(lines=evening(), people=(STRANGER, *PEOPLE))
    assert listed(prompt) == [
        "阿棠(1903370001) 又名 海棠未眠",
        "老齐(28470003) 又名 白卷、齐师傅修船",
        "林檎(3075520002) 又名 苹果派",
    ]


def test_whoever_is_spoken_of_is_shown() -> None:
    """Somebody whose name, earlier name, short name or id occurs in a text is listed, and nobody else is."""
    people = (*PEOPLE, STRANGER, Person("5550000002", "陈皮(已还魂)"), Person("5550000003", "Bob"), *CROWD)
    prompt = rewrite("苹果派欠陈皮钱", source="bob 呢", lines=["5550000001 也在"], people=people)
    assert {line.split(" ")[0] for line in listed(prompt)} == {
        "阿棠(1903370001)",
        "林檎(3075520002)",
        "陈皮〔已还魂〕(5550000002)",
        "Bob(5550000003)",
        "路人甲(5550000001)",
    }


def test_two_of_one_name_are_both_shown() -> None:
    """If a name is the current name of one person and an earlier name of another, both are listed with ids."""
    prompt = rewrite("白卷不来了")
    assert "老齐(28470003) 又名 白卷、齐师傅修船" in listed(prompt)
    assert "白卷(1157200004)" in listed(prompt)


def test_an_earlier_name_that_was_said_is_not_left_out() -> None:
    """Of many earlier names those that occur in a text are listed first."""
    person = Person(QI, "老齐", tuple(f"旧名{at}号" for at in range(9)))
    prompt = rewrite("旧名8号说好", people=(person,))
    assert "老齐(28470003) 又名 旧名8号、旧名0号、旧名1号、旧名2号" in listed(prompt)


def test_a_triage_knows_the_place() -> None:
    """A triage prompt lists up to twelve people of the place, because people use names that no text reveals."""
    lines = [said(1, TANG, "哈哈")]
    assert len(listed(LIBRARY.triage(lines, job_context(people=(*PEOPLE, *CROWD))).prompt)) == 12
    assert len(listed(rewrite(lines=lines, people=(*PEOPLE, *CROWD)))) == 1


def test_everybody_has_one_name_in_a_prompt() -> None:
    """A person has one name in a prompt; a line sent under an earlier name is marked with that name."""
    prompt = rewrite(lines=[said(1, LIN, "好"), said(2, LIN, "的", scene=scene(LIN, "苹果派"))])
    assert "\n1. 周四 21:37 林檎(3075520002)：好\n2. 周四 21:38 林檎(3075520002)[当时叫苹果派]：的\n" in prompt
    assert "苹果派(" not in prompt


def test_a_speaker_beyond_the_roster_can_be_named() -> None:
    """With more than forty speakers, the last one is named on their line, and an answer can name them."""
    lines = [
        said(at, str(5_550_000_000 + at), "好", scene=scene(str(5_550_000_000 + at), f"客{at}号"))
        for at in range(1, 61)
    ]
    ask = LIBRARY.triage(lines, job_context())
    assert "客60号(5550000060)：好" in ask.prompt
    seen = ask.parse('{"observations": [{"text": "甲", "lines": [60], "speaker": "客60号(5550000060)"}]}')
    assert seen[0].speaker == "5550000060"


def test_nameless_people_are_shown_by_id() -> None:
    """A person without a name is written QQ(id), and a group without a name 群(id)."""
    nameless = Person("5550000007")
    prompt = rewrite(speaker=nameless, people=(), place_name="")
    assert listed(prompt) == ["QQ(5550000007)"]
    assert f"地点：群聊 群({GROUP_ID})" in prompt


def test_the_trigger_is_pointed_at_where_it_stands() -> None:
    """A source that is one of the lines is not repeated; equal words of somebody else are not mistaken for it."""
    lines = [said(1, LIN, "周二我不来"), said(2, TANG, "周二我不来")]
    assert "<来源>\n即聊天第2条\n</来源>" in rewrite(source=" 周二我不来\n", lines=lines)
    assert "<来源>\n周二我不来\n</来源>" in rewrite(source="周二我不来", lines=lines[:1])


def test_a_long_quote_leaves_room_for_the_answer() -> None:
    """A quote takes at most a third of its line's length, and the words after it are shown."""
    lines = [said(at, QI, f"> {'引' * 500}\n别闹{at}") for at in range(1, 41)]
    shown = rewrite(lines=lines).split("\n")
    (line,) = [one for one in shown if one.startswith("40. ")]
    assert line.endswith("…] 别闹40")
    assert line.count("引") < 210


def test_facts_are_shown_with_their_day_and_line() -> None:
    """Each fact has the day on which it was said, oldest first, and one that stands in the profile its line."""
    prompt = merge(given(PEOPLE[0], facts("我怕鹅"), told("我住青岛", "做木工的"))).prompt
    assert "1. 2026年3月4日 [行1] “做木工的”\n" in prompt
    assert "2026年3月5日 “我怕鹅”\n" in prompt


def test_a_source_that_replies_says_to_whom() -> None:
    """A source that is one of the lines is shown there, with the line that it replies to."""
    lines = [said(1, LIN, "谁去爬山"), said(2, QI, "好冷"), said(3, TANG, "我去", reply_to="m1")]
    prompt = rewrite(source="我去", lines=lines)
    assert "3. 周四 21:39 阿棠(1903370001)[回复1 林檎]：我去" in prompt
    assert "<来源>\n即聊天第3条\n</来源>" in prompt


def test_days_of_another_year_name_it() -> None:
    """Around New Year a date of the other year includes the year, also among the Mondays."""
    when = datetime(2027, 1, 1, 9, 0, tzinfo=EVENING.tzinfo)
    prompt = rewrite(lines=[said(1, LIN, "好", minutes=0)], when=when)
    assert prompt.startswith("时间：2027年1月1日 周五 09:00（Asia/Shanghai），本周一2026年12月28日，下周一1月4日\n")
    assert "1. 2026年3月5日周四 21:48 林檎" in prompt


def test_what_a_bot_said_is_marked() -> None:
    """A line of the bot has a marker and the person it addresses, and never a person's own label."""
    line = replace(said(1, TANG, "你对花生过敏"), is_bot=True)
    assert "1. 周四 21:37 [机器人]对阿棠：你对花生过敏" in rewrite(lines=[line])
    prompt = rewrite(lines=[said(1, "5550000008", "好", scene=scene("5550000008", "[灯芯]"), is_bot=True)])
    assert "1. 周四 21:37 [机器人]对〔灯芯〕：好" in prompt
    assert listed(prompt) == ["阿棠(1903370001) 又名 海棠未眠"]


def test_an_answer_names_the_line_that_it_answers() -> None:
    """A reply names the line and the person that it replies to; if that line is not shown, it says so."""
    lines = [
        said(1, LIN, "谁的锅"),
        replace(said(2, TANG, "我查查"), is_bot=True),
        said(3, QI, "我的", reply_to="m1"),
        said(4, QI, "谢", reply_to="m2"),
        said(5, QI, "啊", reply_to="x9"),
    ]
    prompt = rewrite(lines=lines)
    assert "老齐(28470003)[回复1 林檎]：我的" in prompt
    assert "老齐(28470003)[回复2 机器人]：谢" in prompt
    assert "老齐(28470003)[回复更早的消息]：啊" in prompt


def test_quotes_are_told_from_own_words() -> None:
    """A quote in either of the usual forms is marked as a quote; a single bracket is not one."""
    lines = [
        said(1, QI, "> 林檎：我退群\n> 真的\n别闹"),
        said(2, QI, "「林檎：我退群」\n- - - - - - -\n别闹"),
        said(3, QI, "「我退群」这歌不错"),
    ]
    prompt = rewrite(lines=lines)
    assert "1. 周四 21:37 老齐(28470003)：[引用：林檎：我退群 › 真的] 别闹" in prompt
    assert "2. 周四 21:38 老齐(28470003)：[引用：林檎：我退群] 别闹" in prompt
    assert "3. 周四 21:39 老齐(28470003)：「我退群」这歌不错" in prompt
