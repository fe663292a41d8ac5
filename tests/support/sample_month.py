"""A data directory with a month of twelve fictional people: ``python -m tests.support.sample_month DIRECTORY``.

Every run writes the same rows. The people, what they say and what became memory of it stand in sample_month.txt.
"""

# ruff: noqa: E501  # what people say is not broken
from __future__ import annotations

import asyncio
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.domain.belief import Belief, logged
from cognitive_memory_core.domain.event import Draft, Event, Fact, Quote, exchange
from cognitive_memory_core.domain.figures import Spending
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.job import Job
from tests.support.clock import SHANGHAI, FrozenClock

SOURCE = Path(__file__).with_name("sample_month.txt")
FIRST_DAY, DAYS = datetime(2026, 10, 29, tzinfo=SHANGHAI), 30
NOW = FIRST_DAY + timedelta(days=DAYS - 1, hours=21, minutes=30)
GROUP, RIDERS, OWNER = "410001", "410002", "3100001"
BOT = "bot"
SETTINGS = {  # with which the month is shown: models, and what they cost in yuan for a million tokens
    "models": {
        "historian": {"api_url": "https://api.example.com/v1", "model_name": "qwen-plus", "price": "0.8/2"},
        "embedding": {"price": "0.5"},
    },
}
LINE = re.compile(r"(\d\d):(\d\d) (\S+) (?:<(\S*) )?(.*?)(?: \| (\w+)((?:\+[^+:\s]+)*)(?:: (.*))?)?")
BELIEFS = (  # statement by version, each with its day, then tags, strength, supporters and who retired it
    (((1, "聚会在周六下午两点"), (14, "聚会在周日下午三点")), ("聚会",), 0.92, ("可乐", "阿梨", "豆包"), ""),
    (((1, "聚会在可乐家"), (7, "聚会在城西咖啡馆，可以自带点心")), ("聚会", "地点"), 0.9, ("可乐", "Momo"), ""),
    (((1, "零食不带花生"), (15, "零食不带花生，点心最好一粒坚果都没有")), ("零食",), 0.85, ("豆包", "南瓜"), ""),
    (((1, "新人第一次不交场地费"),), ("规矩",), 0.7, ("可乐",), ""),
    (((10, "不剧透没玩过的剧本"),), ("规矩",), 0.66, ("Momo", "二狗"), ""),
    (((6, "聚会前先问楼上装不装修"),), ("地点",), 0.3, ("阿梨",), "搬到咖啡馆以后用不着了"),
    (((23, "聚会的账由老周记"),), ("记账",), 0.55, ("老周", "阿梨"), ""),
    (
        ((21, "12 月 26 日大聚"), (30, "12 月 26 日上午十点大聚，城西咖啡馆，全天")),
        ("大聚",),
        0.8,
        ("Momo", "可乐"),
        "",
    ),
)
PORTRAITS = {  # name: tags and lines of the member's profile in the large group
    "可乐": (("发起人", "爱张罗"), ("每次聚会的发起人，订场地、报人数都是他", "自己做饭，常在饭点发起拼单")),
    "阿梨": (("插画", "养猫"), ("做插画和海报，十一月交了三版海报，都过了", "养了一只叫橘子的猫，橘子刚生了三只小猫", "不太能吃辣")),
    "豆包": (("护士", "花生过敏"), ("在医院做护士，会轮夜班", "对花生过敏，零食和点心都不能带坚果", "领养了黑白的小猫，起名汤圆")),
    "老周": (("程序员", "只喝美式"), ("路由器、打印机坏了大家都找他", "膝盖受过伤，现在好了", "给聚会记账")),
    "小满": (("考研",), ("12 月 12 日考研，最近聚会只来半场", "早上做数学状态更好")),
    "Momo": (("规则通",), ("收藏桌游，给新人讲规则", "提议并筹备 12 月 26 日的大聚")),
    "鱼丸": (("在杭州",), ("11 月 5 日搬去了杭州", "最想打《瘟疫危机》")),
}  # fmt: skip
FAILURES = (  # how old a job is, and why it failed
    (timedelta(days=2), sentences.models.told(sentences.models.KEY_REFUSED, "historian", 401)),
    (timedelta(hours=2), sentences.models.MODEL_AWAY.format(role="historian", status=503)),
)


@dataclass(frozen=True)
class Said:
    """One line, and what became of it: ``kind`` is "" for a line that is no memory."""

    message: core.Message
    kind: str = ""
    about: tuple[str, ...] = ()
    statement: str = ""


class Month:
    """The month as it stands in the file."""

    def __init__(self, text: str) -> None:
        """Read the file."""
        self.people: dict[str, str] = {}
        self.places: dict[str, str] = {}
        told, _, chatter = text.partition("@ chatter\n")
        lines = [line.strip() for line in told.splitlines() if line.strip() and not line.startswith("#")]
        for kind, _, rest in (line.partition(" ") for line in lines):
            if kind in ("person", "place"):
                key, name = rest.split(" ", 1)
                (self.people if kind == "person" else self.places)[name if kind == "person" else key] = (
                    key if kind == "person" else name
                )
        self._phrases = {name: rest.split("|") for name, rest in (one.split(" ", 1) for one in chatter.splitlines())}
        self.said = sorted([*self._told(lines), *self._chatter()], key=lambda one: one.message.sent_at)

    def scene(self, place: str, name: str) -> core.Scene:
        """Return the scene of a person in a place; in a private chat its person, also for the bot."""
        kind, _, place_id = place.partition("/")
        user_id = self.people.get(name, OWNER)
        if kind == "chat":
            called = next(one for one, number in self.people.items() if number == place_id)
            return core.Scene.private(place_id, user_name=called)
        return core.Scene.group(place_id, user_id, user_name=name, group_name=self.places[place])

    def _told(self, lines: list[str]) -> Iterator[Said]:
        day, place, latest = 0, "", dict[str, str]()
        for number, line in enumerate(lines):
            if line.startswith("@"):
                _, count, place = line.split()
                day = int(count) - 1
                continue
            found = LINE.fullmatch(line)
            if found is None:
                continue
            hour, minute, name, answered, text, kind, about, statement = found.groups()
            at = FIRST_DAY + timedelta(days=day, hours=int(hour), minutes=int(minute))
            reply_to = latest.get(answered) if answered is not None else None
            message = core.Message(
                f"s{number}", self.scene(place, name), text, at, reply_to=reply_to, is_bot=name == BOT
            )
            latest |= {name: message.id, "": message.id}
            yield Said(message, kind or "", tuple(filter(None, (about or "").split("+"))), statement or "")

    def _chatter(self) -> Iterator[Said]:
        """Yield what is said between the lines of the file: always the same, more of it at weekends."""
        chance, number = random.Random(20261029), 0
        for day in range(DAYS):
            date, latest = FIRST_DAY + timedelta(days=day), None
            for _ in range(chance.randint(9, 20) + (14 if date.weekday() >= 5 else 0)):
                name = chance.choice(list(self.people))
                phrase = chance.choice(self._phrases[name])
                text = re.sub(r"\{(\w+)\}", lambda found: chance.choice(self._phrases[found[1]]), phrase)
                at = date + timedelta(minutes=chance.choice((*range(700, 840), *range(1080, 1260))))
                if at > NOW:
                    continue
                number += 1
                reply_to = latest if latest and chance.random() < 0.4 else None
                message = core.Message(f"c{number}", self.scene(f"group/{GROUP}", name), text, at, reply_to=reply_to)
                latest = message.id
                yield Said(message)


async def fill(memory: core.CognitiveMemory, clock: FrozenClock) -> Month:
    """Store the month in an empty memory, whose clock then stands at its last evening."""
    month, opened = Month(SOURCE.read_text("utf-8")), memory._opened
    for part in range(0, len(month.said), 500):
        for one in month.said[part : part + 500]:
            clock.instant = max(clock.instant, one.message.sent_at)
            await memory.observe(one.message)
        await opened.buffer.flush()
    clock.instant = NOW
    events = [_event(month, one) for one in month.said if one.kind]
    await opened.ledger.events.commit(Draft("sample-month", tuple(events), tuple(_facts(month, events))))
    await _portrayed(memory, month, events)
    await _believed(memory, month)
    for day in range(DAYS):
        for purpose, calls, tokens in (("rewrite", 9, 1900), ("triage", 14, 310), ("embedding", 11, 240)):
            busy = 1 + (day * 7 % 5) / 4
            answered = round(calls * 90) if purpose != "embedding" else 0
            spending = Spending(purpose, round(calls * busy), round(calls * busy) * tokens, answered=answered)
            await opened.ledger.housekeeping.spend((FIRST_DAY + timedelta(days=day)).date(), spending)
    await opened.ledger.housekeeping.spend(NOW.date(), Spending("merge", 6, 8200, answered=1900))
    recalled = {one.id: number % 4 for number, one in enumerate(events) if number % 4}
    await opened.ledger.quality.tally(FIRST_DAY.date(), {"recalls": sum(recalled.values())}, recalled, NOW)
    host = core.Scene.group(GROUP, OWNER)
    for text in ("聚会：周日下午三点，城西咖啡馆", "豆包对花生过敏，点心不带坚果"):
        await memory.pin(host, text, for_group=True)
    await _troubled(memory, month)
    await (await memory._learning()).indexer.step()
    return month


def _event(month: Month, said: Said) -> Event:
    """Return the memory that was made of a line, resting on it."""
    line, scene = said.message, said.message.scene
    quote = Quote(line.id, scene.user_id, line.text, scene.user_name, line.sent_at)
    answers = [one.message for one in month.said if one.message.id == line.reply_to and not one.message.is_bot]
    before = [Quote(one.id, one.scene.user_id, one.text, one.scene.user_name, one.sent_at) for one in answers]
    pain, _, solution = said.statement.partition("，")
    told = {"pain": pain, "solution": solution, "outcome": "没再犯"}
    experience: dict[str, Any] = told if said.kind == "experience" else {}
    return Event(
        derived_id("sample", line.id),
        said.statement or exchange((*before, quote)),
        said.kind,  # type: ignore[arg-type]  # the file has the literals
        user_id=scene.user_id,
        group_id=scene.group_id,
        sender_id=scene.user_id,
        sender_name=scene.user_name,
        subjects=tuple(month.people[name] for name in said.about),
        message_ids=(line.id,),
        request_type="group" if scene.group_id else "private",
        happened_at=line.sent_at,
        quotes=(*before, quote),
        **experience,
    )


def _facts(month: Month, events: list[Event]) -> Iterator[Fact]:
    for event in events:
        if event.group_id == GROUP:
            key = core.ProfileKey.member(GROUP, event.sender_id)  # what others say of somebody enters no portrait
            yield Fact(key, event.id, event.text, event.kind, event.happened_at)


async def _portrayed(memory: core.CognitiveMemory, month: Month, events: list[Event]) -> None:
    profiles = memory._opened.profiles
    for name, (tags, lines) in PORTRAITS.items():
        user_id = month.people[name]
        own = [one for one in events if user_id == one.sender_id and one.group_id == GROUP]
        sources = {line: _told(own, line) for line in lines}
        key, version = core.ProfileKey.member(GROUP, user_id), ""
        for shown, at in ((lines[:1], NOW - timedelta(days=12)), (lines, NOW - timedelta(hours=5))):
            summary = "\n".join(f"- {line}" for line in shown)
            profile = core.Profile(key, name, tags, summary, at, version=version, sources=sources)
            version = (await profiles.write(profile)).version
    key, lines = (
        core.ProfileKey.group(GROUP),
        ("每周聚一次，打桌游", "现在在城西咖啡馆，周日下午三点", "十二个人，互相照应"),
    )
    summary = "\n".join(("## 是什么样的群", *(f"- {line}" for line in lines)))
    here = [one for one in events if one.group_id == GROUP]
    sources = {line: _told(here, line) for line in lines}
    at = NOW - timedelta(hours=5)
    await profiles.write(core.Profile(key, "周末桌游社", ("桌游", "周末"), summary, at, sources=sources))
    await (await memory._learning()).profile_indexer.refresh()


def _pairs(text: str) -> set[str]:
    return {text[start : start + 2] for start in range(len(text) - 1)}


def _told(events: list[Event], line: str) -> tuple[str, ...]:
    """Return the memory that shares most pairs of characters with a line of a profile; none if it shares only one."""
    shared = {one.id: len(_pairs(one.text) & _pairs(line)) for one in events}
    best = max(shared, key=lambda one: shared[one])
    return (best,) if shared[best] > 1 else ()


def _saying(month: Month, statement: str, at: datetime) -> list[core.Message]:
    """Return the lines of the four days before an instant that share most pairs of characters with a statement."""
    days = timedelta(days=4)
    lines = [one.message for one in month.said if one.message.scene.group_id == GROUP]
    near = [one for one in lines if timedelta() <= at - one.sent_at <= days and not one.is_bot]
    shared = {one.id: len(_pairs(one.text) & _pairs(statement)) for one in near}
    return sorted((one for one in near if shared[one.id] > 1), key=lambda one: -shared[one.id])[:3]


async def _believed(memory: core.CognitiveMemory, month: Month) -> None:
    beliefs, scope = memory._opened.ledger.beliefs, core.Scene.group(GROUP, OWNER).scope
    for versions, tags, strength, supporters, retired in BELIEFS:
        standing: Belief | None = None
        for number, (day, statement) in enumerate(versions, 1):
            at = FIRST_DAY + timedelta(days=day - 1, hours=21)
            said, named = _saying(month, statement, at), [month.people[name] for name in supporters]
            one = Belief(
                derived_id("sample belief", statement),
                scope,
                statement,
                version=number,
                parent_id=standing.id if standing else None,
                chain_id=standing.chain_id if standing else "",
                tags=tags,
                strength=strength,
                created_at=standing.created_at if standing else at,
                updated_at=at,
                message_ids=tuple(line.id for line in said),
                supporters=tuple(dict.fromkeys((*(line.sender_id for line in said[:1]), *named))),
            )
            edit = logged("update" if standing else "create", one, standing, f"{supporters[0]}在群里说的", at)
            await beliefs.commit([edit])
            standing = one
        if retired and standing:
            at = FIRST_DAY + timedelta(days=11, hours=20)
            gone = replace(standing, status="deprecated", updated_at=at, is_barred=True)
            await beliefs.commit([logged("delete", gone, standing, retired, at, by=OWNER)])


async def _troubled(memory: core.CognitiveMemory, month: Month) -> None:
    """Store two failed jobs, two forgotten memories, a corrected one and a question that missed its memory."""
    queue, operator = memory._opened.queue, core.Scene.operator()
    for age, error in FAILURES:
        accepted_at = NOW - age
        told = [one.message for one in month.said if one.kind and one.message.scene.group_id == GROUP]
        lines = [one for one in told if one.sent_at < accepted_at][-2:]
        turn = core.Turn(lines[-1].scene, recent_messages=lines, message_ids=[one.id for one in lines])
        await queue.enqueue(Job(derived_id("sample job", error)[:12], turn, accepted_at))
        claim = await queue.claim()
        assert claim
        await queue.bury(claim, error)
    listed = await memory.listings.events(operator, core.EventListing(), 200, 0)
    by_text = {one.text: one for one in listed}
    for text in ("骑行小分队因为大雾取消了一次", "芝麻看不懂《展翅翱翔》的规则，Momo 让她先玩一局教学局，看懂了"):
        await memory.forget_event(operator, by_text[text].id)
    await memory.correct_event(operator, by_text["城西咖啡馆涨到人均三十五"].id, "城西咖啡馆从 11 月 20 日起人均三十五")
    wanted = by_text["豆包对花生过敏，零食不能带花生"]
    await memory.listings.note_missed(operator, month.scene(f"group/{GROUP}", "南瓜"), "谁有忌口来着", wanted.id)


async def made(directory: Path) -> Month:
    """Make the sample directory."""
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    clock = FrozenClock(FIRST_DAY)
    async with core.CognitiveMemory.open(settings, directory, background=False, clock=clock) as memory:
        return await fill(memory, clock)


if __name__ == "__main__":
    month = asyncio.run(made(Path(sys.argv[1])))
    print(f"{sys.argv[1]}: {len(month.said)} lines, {sum(bool(one.kind) for one in month.said)} memories")
