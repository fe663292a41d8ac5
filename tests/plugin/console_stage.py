"""A console over a memory of its own, with a few people, groups, lines and beliefs in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

import cognitive_memory_core as core
from cognitive_memory_core.domain.belief import Belief, logged
from cognitive_memory_core.domain.event import Draft, Event, Fact
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.job import Job
from tests.support.clock import NOON, FrozenClock

from .web import TOKEN, served

BOOKS = core.Scene.group("20001", "2000001", user_name="阿棠", group_name="读书会")
HIKERS = core.Scene.group("20002", "2000002", user_name="豆沙", group_name="爬山群")
CHAT = core.Scene.private("2000001", user_name="阿棠")
FORM_TOKEN = 'name="form_token" value="'


@dataclass
class Console:
    """A served console: its address, the memory behind it, the ways into it, and the records that it shows."""

    address: str
    memory: core.CognitiveMemory
    access: Any
    records: Any

    @asynccontextmanager
    async def visited(self) -> AsyncGenerator[Visitor, None]:
        """Yield a browser that is logged in by the token."""
        async with httpx.AsyncClient(base_url=self.address, trust_env=False, timeout=60.0) as client:
            visitor = Visitor(client)
            answer = await visitor.send("/login", secret=TOKEN)
            assert answer.status_code == 303, answer.text
            yield visitor


@dataclass
class Visitor:
    """A browser without scripts: it follows what forms say."""

    client: httpx.AsyncClient

    async def look(self, path: str, **parameters: str) -> str:
        """Return a page, which must be there."""
        answer = await self.client.get(path, params=parameters or None, follow_redirects=True)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    async def form_token(self) -> str:
        """Return the token of this session's forms."""
        return (await self.look("/")).split(FORM_TOKEN, 1)[1].split('"', 1)[0]

    async def send(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form as a page of the console does; nothing is followed."""
        origin = str(self.client.base_url).split("/memory")[0]
        return await self.client.post(path, data=fields, headers={"Origin": origin})

    async def submit(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form with the session's token."""
        return await self.send(path, form_token=await self.form_token(), **fields)

    async def act(self, path: str, **fields: Any) -> str:
        """Send a form with the session's token; return the page that follows."""
        answer = await self.submit(path, **fields)
        if answer.status_code == 303:
            return await self.look(answer.headers["location"].split("/memory/console", 1)[1] or "/")
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return answer.text


def first_id(page: str) -> str:
    """Return the id in the first form of a page, or of what is left of it."""
    return page.split('name="id" value="', 1)[1].split('"', 1)[0]


@asynccontextmanager
async def console(folder: Path, *, clock: FrozenClock | None = None, **settings: Any) -> AsyncGenerator[Console, None]:
    """Serve a console over the memory of a folder on loopback."""
    from nonebot_plugin_cognitive_memory.console.application import console_application
    from nonebot_plugin_cognitive_memory.console.sessions import ConsoleAccess
    from nonebot_plugin_cognitive_memory.console.visit import ConsoleContext
    from nonebot_plugin_cognitive_memory.http.routes import Backing
    from nonebot_plugin_cognitive_memory.http.site import Site

    in_force = core.Settings.from_mapping({"vector_store": {"backend": "exact"}, **settings})
    async with core.CognitiveMemory.open(in_force, folder, clock=clock or FrozenClock()) as memory:
        backing, access, app = Backing(lambda: memory, lambda: in_force), ConsoleAccess(), FastAPI()
        context = ConsoleContext(backing, folder)
        site = Site(TOKEN, (), backing)
        site.add("/console", console_application(access, context, TOKEN))
        app.mount("/memory", site.app)
        async with served(app) as port:
            yield Console(f"http://127.0.0.1:{port}/memory/console", memory, access, context.records)


async def furnished(memory: core.CognitiveMemory, *, text: str = "", name: str = "") -> list[str]:
    """Store lines, events, facts, profiles and beliefs; with ``text`` and ``name``, in every field. Return the ids."""
    opened = memory._opened
    lines = [
        ("早上好，今天谁带书？", BOOKS),
        ("部署密钥上周五换过了，新的在保险柜里", BOOKS),
        ("好的，我记一下", core.Scene.group("20001", "2000003", user_name="米粒", group_name="读书会")),
        ("周六去爬香山，早上七点集合", HIKERS),
        ("我对花生过敏", CHAT),
    ]
    said = [
        core.Message(f"m{number}", _named(scene, name), text or line, NOON - timedelta(hours=9 - number))
        for number, (line, scene) in enumerate(lines)
    ]
    for message in said:
        await memory.observe(message)
    told = [
        ("阿棠(2000001) 说部署密钥在 2026-03-06 换过", BOOKS, "event", ("2000003",), ("m1",)),
        ("阿棠(2000001) 喜欢推理小说", BOOKS, "preference", (), ("m0",)),
        ("爬山群 2026-03-14 去香山", HIKERS, "event", (), ("m3",)),
        ("阿棠(2000001) 对花生过敏", CHAT, "knowledge", (), ("m4",)),
        ("他昨天说要来", HIKERS, "event", (), ()),
    ]
    events = [
        Event(
            derived_id("console", number),
            f"{text}{number}" if text else line,
            kind,  # type: ignore[arg-type]  # the literals above
            user_id=scene.user_id,
            group_id=scene.group_id,
            sender_id=scene.user_id,
            subjects=subjects,
            message_ids=sources,
            request_type="group" if scene.group_id else "private",
            happened_at=NOON - timedelta(days=number, hours=1),
            is_absolute=number != len(told) - 1,
            sender_name=name or scene.user_name,
            **({"pain": text, "solution": text, "outcome": text} if text else {}),
        )
        for number, (line, scene, kind, subjects, sources) in enumerate(told)
    ]
    facts = tuple(
        Fact(core.ProfileKey.member("20001", "2000001"), event.id, event.text, event.kind, event.happened_at)
        for event in events[:2]
    )
    await opened.buffer.flush()
    await opened.ledger.events.commit(Draft("console", (*events, *_experiences(text)), facts))
    for key, called, summary in (
        (core.ProfileKey.member("20001", "2000001"), "阿棠", "## 喜好\n- 推理小说\n- 乌龙茶"),
        (core.ProfileKey.group("20001"), "读书会", "每周三晚上读书。"),
    ):
        first = core.Profile(key, name or called, (text or "读书",), text or summary, NOON - timedelta(days=2))
        stored = await opened.profiles.write(first)
        changed = core.Profile(
            key,
            name or called,
            (text or "读书", "茶"),
            f"{text or summary}\n- 新加的一行",
            NOON,
            version=stored.version,
            sources={"新加的一行": (events[0].id,)},
        )
        await opened.profiles.write(changed)
    await (await memory._learning()).profile_indexer.refresh()
    for number, line in enumerate(("周三晚上读书", "不剧透")):
        belief = Belief(
            derived_id("belief", number),
            BOOKS.scope,
            f"{text}{number}" if text else line,
            tags=(text or "规矩",),
            strength=0.6 + number / 10,
            change_summary=text,
            created_at=NOON - timedelta(days=5),
            updated_at=NOON - timedelta(days=5),
            supporters=("2000001",),
            message_ids=("m1",),
        )
        edit = logged("create", belief, None, text or "大家常说", NOON - timedelta(days=number))
        await opened.ledger.beliefs.commit([edit])
    await memory.pin(core.Scene.group("20001", "2000001"), text or "群规：不剧透", for_group=True)
    if text:
        await _noted_everywhere(memory, events[0].id, text)
    return [event.id for event in events]


def _experiences(text: str) -> list[Event]:
    """Return what two people told of the same problem on two days, from which something is suggested."""
    pain, solution = f"打印机卡纸{text}", f"重启打印机{text}"
    return [
        Event(
            derived_id("experience", day),
            f"({person}) 遇到{pain}，{solution}，好了",
            "experience",
            user_id=person,
            group_id=HIKERS.group_id,
            sender_id=person,
            request_type="group",
            happened_at=NOON - timedelta(days=day, hours=3),
            pain=pain,
            solution=solution,
            outcome=f"好了{text}",
            quotes=(core.Quote("", person, text or "卡纸，先别重启打印机", "", NOON - timedelta(days=day, hours=3)),),
        )
        for day, person in enumerate(("2000008", "2000009"), 1)
    ]


async def _noted_everywhere(memory: core.CognitiveMemory, event_id: str, text: str) -> None:
    """Store a text also as a failed job's error, as a missed case, and as what a correction replaced."""
    queue = memory._opened.queue
    await memory.pause()
    await queue.enqueue(Job("job", core.Turn(BOOKS, observations=[text], source_message=text), NOON))
    claim = await queue.claim()
    assert claim
    await queue.bury(claim, text)
    await memory.listings.note_missed(core.Scene.operator(), BOOKS, text, event_id)


def _named(scene: core.Scene, name: str) -> core.Scene:
    return replace(scene, user_name=name, group_name=name) if name else scene
