"""The example evening in a group that all prompt tests use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from cognitive_memory_core.domain.event import Event, Fact
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import Ask, MergeInput
from cognitive_memory_core.prompts.answers import ProfileAnswer
from cognitive_memory_core.prompts.library import PromptLibrary, Task

EVENING = datetime(2026, 3, 5, 21, 48, tzinfo=ZoneInfo("Asia/Shanghai"))
GROUP_ID = "736150001"
TANG, LIN, QI = "1903370001", "3075520002", "28470003"
NAMES = {TANG: "阿棠", LIN: "林檎", QI: "老齐"}
LIBRARY = PromptLibrary()
PEOPLE = (
    Person(TANG, "阿棠", ("海棠未眠",)),
    Person(LIN, "林檎", ("苹果派",)),
    Person(QI, "老齐", ("白卷", "齐师傅修船")),
    Person("1157200004", "白卷"),
)
MEMBER = ProfileKey.member(GROUP_ID, TANG)
GROUP = ProfileKey.group(GROUP_ID)


def scene(user_id: str, name: str | None = None, group_name: str = "渡口开发组🚢(禁止催更)") -> Scene:
    """Return the scene of the group with one of its people."""
    return Scene.group(
        GROUP_ID, user_id, user_name=NAMES.get(user_id, "") if name is None else name, group_name=group_name
    )


def said(number: int, user_id: str, text: str, **fields: Any) -> Message:
    """Return the line ``m{number}``, sent some minutes earlier, so that the last lines are just before the turn."""
    minutes = fields.pop("minutes", 12 - number)
    return Message(
        f"m{number}", fields.pop("scene", scene(user_id)), text, EVENING - timedelta(minutes=minutes), **fields
    )


def evening() -> list[Message | str]:
    """Return recent lines of every kind: of another day, a reply, a quote, the bot's, a line without text."""
    return [
        said(1, QI, "周会照旧 周二晚九点 不来的提前吱一声", minutes=60 * 24),
        said(2, LIN, "展期延了一周 {地点} 不变，一张桌子 $1800", reply_to="m0"),
        said(3, TANG, "[图片]"),
        said(4, QI, "> 林檎：展期延了一周\n那疫苗我得改到下周三", reply_to="m2"),
        said(5, TANG, "好的，已记下", is_bot=True, reply_to="m4"),
        "21:47 苹果派: 收到",
    ]


def before() -> tuple[Message, ...]:
    """Give lines from before the evening's window: a person's and the bot's."""
    return (
        said(98, LIN, "宣传图后天要，谁画？", minutes=60 * 25),
        said(99, TANG, "要不要我提醒大家？", is_bot=True, minutes=60 * 25 - 1),
    )


def job_context(**fields: Any) -> JobContext:
    """Return the job context of the evening."""
    near = Event(
        "e1",
        "阿棠(1903370001)受不了用纯黑描边",
        user_id=TANG,
        group_id=GROUP_ID,
        sender_id=TANG,
        sender_name="阿棠",
        happened_at=EVENING - timedelta(days=3),
    )
    place = scene(TANG).scope
    standing = JobContext(EVENING, place, "渡口开发组🚢〔禁止催更〕", PEOPLE[0], PEOPLE, (near,), "job")
    return replace(standing, **fields)


def facts(*texts: str, key: ProfileKey = MEMBER) -> list[Fact]:
    """Return facts that are a day apart, newest first."""
    return [Fact(key, f"e{at}", text, "preference", EVENING - timedelta(days=at)) for at, text in enumerate(texts)]


def told(*texts: str) -> list[Fact]:
    """Return the facts of one line that stands in a profile."""
    return [replace(fact, event_id=f"told{fact.event_id}") for fact in facts(*texts)]


def given(person: Person, new: Sequence[Fact], *told: Sequence[Fact], is_group: bool = False) -> MergeInput:
    """Return what a merge is made from."""
    return MergeInput(person, new, told, is_group=is_group)


def merge(given: MergeInput, max_chars: int = 800) -> Ask[ProfileAnswer]:
    """Return the question for lines of a profile."""
    return LIBRARY.merge(given, EVENING, max_chars=max_chars)[0]


def questions() -> dict[str, Ask[Any]]:
    """Return one question of every kind."""
    tasks = [Task(1, "用户的猫年糕打疫苗改到下周三"), Task(2, "展期延了一周", "展期延到下周", "相对时间：下周")]
    alone = Person(TANG, "阿棠")
    private = JobContext(EVENING, Scene.private(TANG).scope, "", alone)
    return {
        "rewrite": LIBRARY.rewrite(tasks, job_context(), source="那疫苗我得改到下周三", lines=evening()),
        "rewrite_bare": LIBRARY.rewrite([Task(1, "用户对花生过敏")], private),
        "triage": LIBRARY.triage(
            [line for line in evening() if isinstance(line, Message)],
            job_context(
                earlier=before(), answered=(said(0, QI, "展期那边 有没有说具体延到哪天 " * 4, minutes=60 * 30),)
            ),
        ),
        "compress": LIBRARY.compress(
            [line for line in evening() if isinstance(line, Message)],
            replace(job_context(), people=()),
            max_chars=280,
            earlier="老齐(28470003) 定了周会在每周二21:00；林檎(3075520002) 还没回展期。",
        ),
        "merge": merge(given(alone, facts("我改喝乌龙茶了", "别“加戏”"), told("我受不了纯黑描边", "描边用深蓝紫"))),
        "merge_group": merge(
            given(
                Person(GROUP_ID, "渡口开发组"), facts(f"老齐({QI})：“周会定在每周二21:00”", key=GROUP), is_group=True
            ),
            300,
        ),
    }


def rendered(ask: Ask[Any]) -> str:
    """Return a whole question as one text."""
    schema = json.dumps(dict(ask.schema), ensure_ascii=False, indent=1)
    head = f"{ask.purpose} · {ask.name} · strict={ask.strict}"
    return f"{head}\n\n{ask.instructions}\n\n{'=' * 80}\n\n{ask.prompt}\n\n{'=' * 80}\n\n{schema}\n"
