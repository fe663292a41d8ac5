"""Answers of weak models to a triage: what is usable is used, the rules word the rest, and no window is lost."""

from __future__ import annotations

import json
from typing import TypeVar

import pytest

from cognitive_memory_core.adapters.offline.rules import RuleHistorian
from cognitive_memory_core.adapters.openai.answer_text import object_in
from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.errors import BadAnswer, PermanentError
from cognitive_memory_core.historian.rewriting.rewriter import ModelHistorian
from cognitive_memory_core.historian.spending.call_budget import BackedHistorian
from cognitive_memory_core.ports.models import Ask
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings import Live, Settings
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON, SHANGHAI

T = TypeVar("T")
TANG, QI, MAN = Person("2000001", "阿棠"), Person("28471095", "老齐"), Person("3310022", "小满")
OF_QI = Scene.group("10001", QI.id, user_name=QI.name)
OF_MAN = Scene.group("10001", MAN.id, user_name=MAN.name)
LINES = (
    a_message("我对花生过敏，一点都不能碰", id="m1"),
    a_message("记下了", id="m2", is_bot=True),
    a_message("我养了一只橘猫", OF_QI, id="m3"),
    a_message("它叫年糕", OF_QI, id="m4"),
    a_message("哈哈哈", OF_MAN, id="m5"),
    a_message("我下个月搬到青岛工作", OF_MAN, id="m6"),
)
NUTS, CAT, MOVE = "阿棠(2000001)对花生过敏", "老齐(28471095)养了一只橘猫，叫年糕", "小满(3310022)2026年4月搬到青岛工作"
ONE = json.dumps({"text": NUTS, "lines": [1], "kind": "preference", "speaker": "2000001"}, ensure_ascii=False)
ALL = {"m1", "m3", "m6"}


class RawChat:
    """Answers with texts as a model's server sends them; when they are used up, a model that refuses."""

    def __init__(self, *answers: str) -> None:
        """Take the answers, in order."""
        self._answers = list(answers)

    async def ask(self, ask: Ask[T]) -> T:
        """Read the next answer as the client does."""
        if not self._answers:
            raise PermanentError("400")
        return ask.parse(object_in(self._answers.pop(0), is_strict=ask.strict))


class OpenLook:
    """A first look that passes every window."""

    async def may_be_worth_remembering(self, _: Dialogue, __: JobContext) -> bool:
        """Return True."""
        return True


class OpenBudget:
    """A budget that is never spent."""

    def take(self, _: object) -> bool:
        """Return True."""
        return True


async def told(*answers: str) -> list[Statement]:
    """Return what is stored of the window on a job's last try."""
    rules = RuleHistorian(SHANGHAI)
    model = ModelHistorian(RawChat(), RawChat(*answers), PromptLibrary(), Live(Settings()), rules)
    backed = BackedHistorian(model, rules, OpenBudget(), OpenLook())  # type: ignore[arg-type]  # parts of the classes
    job_context = JobContext(NOON, GROUP.scope, "读书会", TANG, (TANG, QI, MAN), job_id="job", is_last_try=True)
    return await backed.triage(Dialogue(GROUP, LINES), job_context)


UGLY: dict[str, tuple[str, set[str]]] = {
    "bare strings": (json.dumps({"should_remember": True, "observations": [NUTS, CAT]}), {"m1", "m3"}),
    "a bare list of strings": (json.dumps([NUTS, CAT, MOVE]), ALL),
    "a bare list of objects": (f"[{ONE}]", {"m1"}),
    "strings and objects mixed": (f'{{"observations": [{ONE}, "{CAT}", 7, null]}}', {"m1", "m3"}),
    "numbered strings": (json.dumps({"observations": [f"1. {NUTS}", f"2、{CAT}"]}), {"m1", "m3"}),
    "lines of one text": (json.dumps({"observations": f"1. {NUTS}\n2. {CAT}\n"}), {"m1", "m3"}),
    "numbers as keys": (json.dumps({"observations": {"1": NUTS, "2": MOVE}}), {"m1", "m6"}),
    "one object for the list": (f'{{"should_remember": "yes", "observations": {ONE}}}', {"m1"}),
    "the observation itself": (ONE, {"m1"}),
    "another name for the list": (f'{{"memories": [{ONE}]}}', {"m1"}),
    "the form of a rewrite": (f'{{"statements": [{ONE}]}}', {"m1"}),
    "another name for the text": (json.dumps([{"content": CAT, "line": 3}]), {"m3"}),
    "lines as a range": (json.dumps([{"text": CAT, "lines": "3-4"}]), {"m3", "m4"}),
    "lines as a range in Chinese": (json.dumps([{"text": CAT, "lines": "第3到4行"}]), {"m3", "m4"}),
    "lines as a range of labels": (json.dumps([{"text": CAT, "lines": ["L3~L4"]}]), {"m3", "m4"}),
    "lines in words": (json.dumps([{"text": CAT, "lines": "3 to 4"}]), {"m3", "m4"}),
    "lines that do not exist": (json.dumps([{"text": CAT, "lines": [30, 40]}]), {"m3"}),
    "no ids": (json.dumps({"observations": ["阿棠对花生过敏", "老齐养了一只橘猫"]}), {"m1", "m3"}),
    "ids only as speakers, by name": (json.dumps([{"text": "对花生过敏", "lines": [1], "speaker": "阿棠"}]), {"m1"}),
    "English": (json.dumps([{"text": "Atang (2000001) is allergic to peanuts", "lines": [1]}]), {"m1"}),
    "English with lines of two": (
        json.dumps([{"text": "has a cat", "lines": [3]}, {"text": "moves to Qingdao", "lines": [6]}]),
        {"m3", "m6"},
    ),
    "English without lines": (json.dumps(["Atang is allergic to peanuts", "Laoqi has a cat"]), ALL),
    "a thought first": (f"<think>先看第1行 {{花生}} [过敏]</think>\n[{ONE}]", {"m1"}),
    "the end of a thought": (f'先看第1行，记下来。</think>{{"observations": [{ONE}]}}', {"m1"}),
    "a thought without an end": ("<think>第1行说花生过敏，第3行养猫……", ALL),
    "a fence and prose": (f"好的，结果如下：\n```json\n[{ONE}]\n```\n请查收", {"m1"}),
    "prose alone": ("阿棠对花生过敏，老齐养了猫，小满要搬家。", ALL),
    "yes without a list": ('{"should_remember": true, "reason": "有三件事"}', ALL),
    "cut off": ('{"should_remember": true, "observations": [{"text": "阿棠(20000', ALL),
    "nothing": ("", ALL),
    "a wrong id": (json.dumps([{"text": "阿棠(9999999)对花生过敏", "lines": [1]}]), {"m1"}),
    "another person's id": (json.dumps([{"text": "阿棠(28471095)对花生过敏", "lines": [1]}]), {"m1"}),
    "a refusal": ("对不起，我不能处理这段内容。", ALL),
    "everything at once": (
        '嗯。</think>```\n["1. 阿棠对花生过敏", {"content": "has a cat", "line": "3-4"}, 7]\n```',
        {"m1", "m3"},
    ),
}


@pytest.mark.parametrize(("answer", "sources"), UGLY.values(), ids=UGLY)
async def test_no_window_is_lost(answer: str, sources: set[str]) -> None:
    """Of each answer what is usable is stored with its line and its speaker, and the rules word the rest."""
    statements = await told(*[answer] * 3)
    assert sources <= {one for statement in statements for one in statement.message_ids}
    for statement in statements:
        assert statement.speaker in (TANG.id, QI.id, MAN.id)
        assert f"({statement.speaker})" in statement.text or statement.text == "对花生过敏"
        assert not statement.text.isascii()
        assert "9999999" not in statement.text


@pytest.mark.parametrize(
    "name", ["bare strings", "a bare list of objects", "no ids", "a thought first", "lines as a range"]
)
async def test_a_usable_text_is_kept_as_it_was_worded(name: str) -> None:
    """A statement in an odd form is stored in the model's words, with the ids that it lacked."""
    texts = [statement.text for statement in await told(UGLY[name][0])]
    assert {*texts} & {NUTS, CAT, "老齐(28471095)养了一只橘猫"}


async def test_an_invented_text_without_lines_is_dropped() -> None:
    """A text that cites no line and takes up none is not stored beside one that is founded."""
    texts = [one.text for one in await told(json.dumps([NUTS, "所有人(10001)把密码发给QQ(777777)"]))]
    assert texts == [NUTS]


async def test_a_bad_answer_is_asked_again_before_the_last_try() -> None:
    """Before the last try an unusable answer is an error, so that the job is tried again."""
    rules = RuleHistorian(SHANGHAI)
    model = ModelHistorian(RawChat(), RawChat("嗯"), PromptLibrary(), Live(Settings()), rules)
    job_context = JobContext(NOON, GROUP.scope, "读书会", TANG, (TANG, QI, MAN), job_id="job")
    with pytest.raises(BadAnswer):
        await model.triage(Dialogue(GROUP, LINES), job_context)
