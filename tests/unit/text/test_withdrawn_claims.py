"""Tests of whether a text or a line repeats a withdrawn statement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.text.retelling import WithdrawnClaim, retells, untelling, without
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import later

WHO = ("阿棠", "2000001", "10001")
CODE = "阿棠(2000001) 家门锁密码是七零四二"


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (CODE, "家门锁密码是七零四二"),
        (CODE, "密码七零四二"),
        (CODE, "七零四二"),
        (CODE, "在青岛开一间木工房，家门锁密码是七零四二"),
        ("阿棠(2000001) 喜欢乌龙茶", "乌龙茶"),
        ("阿棠(2000001) 不喜欢吃辣", "不吃辣"),
        ("阿棠(2000001) 2026年3月5日 21:30 弄丢了门卡", "弄丢过门卡"),
        ("阿棠(2000001) 养了一只猫", "猫"),
        ("阿棠(2000001) 的手机号是13800001111", "电话 13800001111"),
        ("Tang(2000001) drinks green tea every morning", "likes green tea"),
    ],
)
def test_what_is_put_in_other_order_is_told_still(statement: str, text: str) -> None:
    """A shortened, longer or undated form of the statement, or a tag of it, counts as containing it."""
    assert WithdrawnClaim(statement, WHO).is_told_by(text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (CODE, "家住青岛"),
        ("阿棠(2000001) 不喜欢吃辣", "不喜欢吃鱼"),
        ("阿棠(2000001) 喜欢乌龙茶", "喜欢普洱茶"),
        ("阿棠(2000001) 喜欢乌龙茶", "阿棠"),
        ("阿棠(2000001) 喜欢乌龙茶", "常客"),
        ("阿棠(2000001) 住在上海", "住在杭州"),
        ("阿棠(2000001) 打算2026年3月5日去北京", "打算2026年3月5日学德语"),
        ("阿棠(2000001) 第3件事", "第4件事"),
        ("Tang(2000001) likes green tea", "likes old films"),
        (CODE, ""),
        ("", "家门锁密码是七零四二"),
    ],
)
def test_what_only_begins_alike_is_not_told(statement: str, text: str) -> None:
    """The same wording about something else, the same time or the same person is a different statement."""
    assert not WithdrawnClaim(statement, WHO).is_told_by(text)


def test_what_others_tell_may_stay() -> None:
    """What a new statement says as well does not count as containing the old one."""
    old, new = "阿棠(2000001) 喜欢乌龙茶", "阿棠(2000001) 最喜欢的是乌龙茶"
    assert WithdrawnClaim(old, WHO).is_told_by("喜欢乌龙茶")
    assert not WithdrawnClaim(old, (*WHO, new)).is_told_by("最喜欢的是乌龙茶")


def test_sentences_go_and_the_rest_stays() -> None:
    """A sentence is removed from its line, a line without rest is removed, and nothing else changes."""
    lines = "- 家门锁密码：七零四二\n- 家门锁密码是七零四二。怕高。"
    body = f"阿棠是插画师。家门锁密码是七零四二；养猫。\n\n{lines}\n\n> 老照片 "
    left = without(body, WithdrawnClaim(CODE, WHO).is_told_by)
    assert left == "阿棠是插画师。养猫。\n\n- 怕高。\n\n> 老照片 "


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("周二都在休假", True),
        ("休假在周二", True),
        ("周三休假", False),
        ("周二教画画", False),
        ("周三休假，养猫", False),
    ],
)
def test_an_old_value_is_recognised_where_nothing_else_differs(text: str, *, is_told: bool) -> None:
    """If only a value of a claim was replaced, a text tells the claim that has this value of the same thing."""
    replaced = WithdrawnClaim("阿棠(2000001) 周二休假", (*WHO, "阿棠(2000001) 周三休假"))
    assert replaced.is_told_by(text) == is_told


RECITED = (  # an event; lines that repeat it, in the same or other words; lines that do not
    (
        "阿禾(2156083317) 要搬去上海",
        (
            "记得记得，阿禾要搬去上海～",
            "你不是要搬去上海吗",
            "听说你下个月就要搬到上海啦",
            "搬去上海的话记得找房子",
            "上海那边房租挺贵的，你要搬去的话早点看房",
        ),
        (
            "好的，晚安",
            "你昨天说想吃火锅",
            "阿禾养了一只三花猫",
            "搬家辛苦了，早点休息",
            "阿禾在准备面试",
            "上海今天下雨",
        ),
    ),
    (
        "阿禾(2156083317) 对花生过敏",
        ("点餐注意：阿禾对花生过敏", "你花生过敏，这个别吃", "我记得你吃花生会过敏的"),
        ("你春天花粉过敏好点了吗", "花生酱到货了", "好的，已经记下了", "阿禾喜欢乌龙茶"),
    ),
    (
        "阿禾(2156083317) 2026年3月5日 在杭州西湖边的书店面试了编辑岗位",
        ("你在西湖边那家书店面试了编辑吧", "面试的编辑岗位，是杭州西湖边的书店"),
        ("阿禾去杭州出差了", "面试加油", "那家书店周末打折", "编辑好了，请查收"),
    ),
    (
        "米粒(2680914375) 养了一只叫豆包的柯基",
        ("豆包是米粒养的柯基", "你的柯基叫豆包嘛"),
        ("豆包子好吃", "米粒今天没来", "柯基腿短"),
    ),
    (
        "阿禾(2156083317) 喜欢乌龙茶",
        ("给你泡了你喜欢的乌龙茶", "阿禾爱喝乌龙茶"),
        ("阿禾喜欢红茶", "乌云来了", "阿禾喜欢猫"),
    ),
    (
        "群里定好周五晚上八点去江湖烧烤聚餐",
        ("提醒：周五晚八点江湖烧烤聚餐", "聚餐定在江湖烧烤哦"),
        ("烧烤配啤酒", "周五晚上八点有比赛"),
    ),
    (
        "Alice(12345678) is allergic to peanuts",
        ("Careful, Alice is allergic to peanuts!",),
        ("Alice went home", "peanuts are on sale"),
    ),
)
EVENT = an_event("阿棠(2000001) 要搬去上海")
SAME = "你要搬去上海吗"


def labelled() -> list[tuple[str, str, bool]]:
    """Return the labelled set, one case per line."""
    told = [(event, line, True) for event, lines, _ in RECITED for line in lines]
    return told + [(event, line, False) for event, _, lines in RECITED for line in lines]


@pytest.mark.parametrize(("text", "line", "is_recital"), labelled())
def test_recitals_are_told_from_other_lines(text: str, line: str, is_recital: bool) -> None:
    """A message of the bot that repeats an event, also in other words, is recognised; other messages are not."""
    assert retells(a_message(line, GROUP, is_bot=True), an_event(text, GROUP)) is is_recital


@pytest.mark.parametrize(
    ("scene", "is_meant"),
    [
        (GROUP, True),
        (replace(GROUP, user_id="2000002"), True),
        (OTHER_GROUP, True),
        (PRIVATE, True),
        (replace(OTHER_GROUP, user_id="2000002"), False),
        (Scene.private("2000002"), False),
        (replace(PRIVATE, agent="another"), False),
    ],
)
def test_a_recital_counts_where_the_event_is_known(scene: Scene, is_meant: bool) -> None:
    """A repetition counts in the scope of the event, and anywhere in messages to the person who stated it."""
    assert retells(a_message(SAME, scene, is_bot=True), EVENT) is is_meant


def test_a_persons_line_counts_where_an_event_rests_on_none() -> None:
    """A person's message counts only for an event without source messages: from before, in its scope, by its sender."""
    forgotten = replace(EVENT, retired_at=NOON)
    assert retells(a_message(SAME, GROUP, NOON), forgotten)
    assert not retells(a_message(SAME, GROUP, later(minutes=1)), forgotten)
    assert not retells(a_message(SAME, OTHER_GROUP, NOON), forgotten)
    assert not retells(a_message(SAME, replace(GROUP, user_id="2000002"), NOON), forgotten)
    assert not retells(a_message(SAME, GROUP, NOON), replace(forgotten, message_ids=("m1",)))


def test_a_sentence_that_tells_it_is_taken_out() -> None:
    """Only the sentence that repeats the event is removed from a text."""
    untold = untelling([EVENT])
    assert untold("喜欢乌龙茶。下个月要搬去上海。\n- 搬去上海\n- 养猫") == "喜欢乌龙茶。\n- 养猫"
    assert untelling([])("要搬去上海") == "要搬去上海"
