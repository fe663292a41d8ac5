"""Tests of the routes of the HTTP interface over a real socket: what they answer, and how they refuse."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from nonebug import App

from tests.support.beliefs import CHAT, LIN, TEA, a_chat, answered, created, deleted, greetings, updated
from tests.support.chats import ScriptedChat
from tests.support.clock import FrozenClock
from tests.support.export_files import written
from tests.support.http_world import BELIEF, EVENT, GROUP_ID, PERSON, PIN, REVISION, failed_job, plant
from tests.support.openapi_client import operations

from .test_http_access import a_site, mounted
from .web import client, served

FOREIGN = "f"  # suffix of the ids of another agent's things


@dataclass
class World:
    """An open memory and a client of its interface."""

    memory: Any
    asking: httpx.AsyncClient
    clock: FrozenClock = field(default_factory=FrozenClock)

    async def told(self, method: str, path: str, **options: Any) -> Any:
        """Call a route that must succeed; return its answer."""
        answer = await self.asking.request(method, path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def refused(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """Call a route that must refuse; return the status and the sentence, which must be Chinese and one line."""
        answer = await self.asking.request(method, path, **options)
        body = answer.json()
        assert body.keys() == {"success", "error"}
        assert not body["success"]
        assert body["error"]
        assert "\n" not in body["error"]
        assert any("\u4e00" <= char <= "\u9fff" for char in body["error"]), body
        return answer.status_code, body["error"]


@asynccontextmanager
async def a_world(tmp_path: Path, *answers: object, clock: FrozenClock | None = None) -> AsyncGenerator[World, None]:
    """Serve a memory of its own, with a scripted model if there are answers."""
    import cognitive_memory_core as core

    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    chat = ScriptedChat(*answers) if answers else None
    options: dict[str, Any] = {"chat": chat, **({"clock": clock} if clock else {})}
    async with (
        core.CognitiveMemory.open(settings, tmp_path / "data", background=False, **options) as memory,
        served(mounted(a_site(memory))) as port,
        client(port) as asking,
    ):
        yield World(memory, asking, clock or FrozenClock())


@pytest.fixture
async def world(app: App, tmp_path: Path) -> AsyncGenerator[World, None]:
    """Serve a memory with the things of the document's examples, and the same of another agent."""
    async with a_world(tmp_path) as found:
        await plant(found.memory, tmp_path)
        await plant(found.memory, tmp_path, agent="another", suffix=FOREIGN, canary="密语")
        yield found


async def test_a_generated_client_calls_every_route(world: World) -> None:
    """Requests built from the document alone are answered as the document says, every route of it."""
    document = await world.told("GET", "/openapi.json")
    assert document["security"] == [{"token": []}]
    job = {"job_id": await failed_job(world.memory)}
    called: list[str] = []
    for operation in operations(document):
        answer = await operation.call(world.asking, job)
        assert answer.status_code == 200, (operation.name, answer.text)
        assert not operation.problems(answer), operation.name
        called.append(operation.name)
    from nonebot_plugin_cognitive_memory.replies.http_guide import ROUTES

    assert sorted(called) == sorted(ROUTES)


async def test_the_report_is_of_the_agent(world: World) -> None:
    """The report tells of the agent's events alone, compares texts unless told not to, and names its days."""
    found = await world.told("GET", "/report?days=7")
    assert (found["totals"]["events"], found["report"]["days"]) == (1, 7)
    assert found["report"]["places"][0]["scope"] == {"agent": "default", "kind": "group", "place_id": "10001"}
    assert found["report"]["examination"]["examined"] == 1
    assert "密语" not in str(found)
    other = await world.told("GET", "/report?agent=another&examine=false")
    assert other["report"]["places"][0]["scope"]["agent"] == "another"
    assert other["report"]["examination"] is None


CALLS: list[tuple[str, str, Mapping[str, Any] | None]] = [
    ("GET", "/history/{memory_id}", None),
    ("DELETE", "/{memory_id}", None),
    ("PUT", "/{memory_id}/restore", None),
    ("PUT", "/{memory_id}", {"text": "周末一起跑步"}),
    ("PUT", "/{memory_id}/strength", {"strength": 0.8}),
    ("DELETE", "/events/{event_id}", None),
    ("PUT", "/pins/{pin_id}", {"text": "改了"}),
    ("DELETE", "/pins/{pin_id}", None),
    ("POST", "/evolve/{group_id}", None),
    ("GET", "/list/{group_id}", None),
    ("GET", "/search/{group_id}?q=新番", None),
    ("GET", "/changes/{group_id}", None),
    ("GET", "/events?group_id={group_id}", None),
    ("GET", "/pins?group_id={group_id}", None),
    ("GET", "/messages?group_id={group_id}", None),
    ("GET", "/profiles/member/{group_id}%2F2000001", None),
    ("GET", "/profiles/member/{group_id}/2000001/revisions", None),
    ("POST", "/profiles/member/{group_id}/2000001/restore", {"revision_id": REVISION}),
    ("GET", "/export?user_id={user_id}", None),
    ("GET", "/events?user_id={user_id}", None),
    ("GET", "/events?q=密语&user_id={user_id}", None),
]


async def test_what_is_anothers_does_not_exist(world: World, tmp_path: Path) -> None:
    """What does not exist and what is another agent's are answered with the same 404, whatever the route."""
    await plant(world.memory, tmp_path, agent="third", suffix="t")
    foreign_ids = {"memory_id": BELIEF + FOREIGN, "event_id": EVENT + FOREIGN, "pin_id": PIN + FOREIGN}
    for method, path, body in CALLS:
        foreign = path.format(**foreign_ids, group_id="10001", user_id="2000001")
        unknown = path.format(memory_id="x1", event_id="x1", pin_id="x1", group_id="19999", user_id="2999999")
        asked = {} if body is None else {"json": body}
        is_anywhere = "_id}" in path and not {"{group_id}", "{user_id}"} & set(_names(path))
        as_agent = "" if is_anywhere else f"{'&' if '?' in foreign else '?'}agent=nobody"
        found = [await world.refused(method, one + as_agent, **asked) for one in (foreign, unknown)]
        assert found[0] == found[1], path
        assert found[0][0] == 404, path
        assert "密语" not in str(found)


async def test_ones_own_is_reached_by_each_route(world: World) -> None:
    """Each of these routes answers for what is the agent's own; what one of them retires, the next restores."""
    for method, path, body in sorted(CALLS, key=lambda call: call[0] == "DELETE"):
        mine = path.format(memory_id=BELIEF, event_id=EVENT, pin_id=PIN, group_id=GROUP_ID, user_id=PERSON)
        if not path.endswith("/{memory_id}/restore"):
            answer = await world.asking.request(method, mine, **({} if body is None else {"json": body}))
            assert answer.status_code == 200, (mine, answer.text)


def _names(path: str) -> list[str]:
    return [name for name in ("{group_id}", "{user_id}") if name in path]


async def test_a_group_belief_lives_through_its_whole_history(app: App, tmp_path: Path) -> None:
    """A belief over HTTP: created, updated three times, deleted, restored; history, change log and search."""
    later = [
        ((TEA, "新番讨论改到周六晚上吧"), (LIN, "好，改到周六晚上")),
        ((TEA, "周六晚上八点讨论新番"), (LIN, "同意，周六晚上八点")),
        ((TEA, "周六晚上八点讨论新番，只聊科幻"), (LIN, "行，只聊科幻")),
        ((TEA, "周六的新番讨论取消了，以后不办"), (LIN, "好，取消，不讨论新番了")),
    ]
    versions = ["每周六晚上讨论新番", "每周六晚上八点讨论新番", "每周六晚上八点讨论新番，只聊科幻"]
    first = "每周五晚上讨论新番"
    answers = [answered(created(first, 1, 2))] + [answered(updated("B1", one, 1, 2)) for one in versions]
    clock = FrozenClock()
    clock.advance(hours=1)
    async with a_world(tmp_path, *answers, answered(deleted("B1", 1, 2)), clock=clock) as world:
        for line in [*greetings(), *a_chat(*CHAT[:2])]:
            await world.memory.observe(line)
        run = await world.told("POST", f"/evolve/{GROUP_ID}")
        assert run["stats"] == {"kept": 0, "updated": 0, "created": 1, "deleted": 0}
        (change,) = run["changes"]
        assert change.keys() == {"action", "new_id", "statement", "change_reason", "version", "quotes"}
        assert [one["text"] for one in change["quotes"]] == [CHAT[0][1]]
        for day, lines in enumerate(later, 1):
            clock.advance(hours=25)
            for line in a_chat(*lines, at=clock.now() - timedelta(minutes=30), first=10 * day):
                await world.memory.observe(line)
            (change,) = (await world.told("POST", f"/evolve/{GROUP_ID}?days=1"))["changes"]
            assert change["action"] == ("update" if day < 4 else "delete")
        assert change.keys() == {"action", "old_id", "old_statement", "change_reason", "version", "old_quotes"}
        (gone,) = (await world.told("GET", f"/list/{GROUP_ID}?status=deprecated"))["memories"]
        assert (gone["statement"], gone["version"], gone["status"]) == (versions[-1], 4, "deprecated")
        assert (await world.told("GET", f"/list/{GROUP_ID}"))["total"] == 0
        restored = await world.told("PUT", f"/{gone['memory_id']}/restore")
        assert restored["memory"]["status"] == "active"
        assert (await world.refused("PUT", f"/{gone['memory_id']}/restore"))[0] == 409
        told = await world.told("GET", f"/history/{gone['memory_id']}")
        assert [one["statement"] for one in told["history"]] == [first, *versions]
        assert [one["version"] for one in told["history"]] == [1, 2, 3, told["current_version"]]
        words = [CHAT[0][1], *(lines[0][1] for lines in later[:3])]
        assert [[one["text"] for one in version["quotes"]] for version in told["history"]] == [[one] for one in words]
        ids = [one["memory_id"] for one in told["history"]]
        assert [one["parent_id"] for one in told["history"]] == [None, *ids[:-1]]
        by_days = {days: (await world.told("GET", f"/changes/{GROUP_ID}?days={days}"))["changes"] for days in (1, 7)}
        assert [one["action"] for one in by_days[7]] == ["create", "update", "update", "update", "delete", "restore"]
        assert [one["action"] for one in by_days[1]] == ["delete", "restore"]
        of_changes = [one["new_quotes"] or one["old_quotes"] for one in by_days[7]]
        assert [one[0]["text"] for one in of_changes] == [*words, words[-1], words[-1]]
        assert [one["timestamp"] for one in by_days[7]] == sorted(one["timestamp"] for one in by_days[7])
        found = await world.told("GET", f"/search/{GROUP_ID}", params={"q": "什么时候讨论新番", "threshold": 0.1})
        assert found["results"][0]["memory_id"] == gone["memory_id"]
        (said,) = found["results"][0]["quotes"]
        assert (said["sender_id"], said["sender_name"], said["text"], bool(said["sent_at"])) == (*TEA, words[-1], True)
        reworded = await world.told("PUT", f"/{gone['memory_id']}", json={"text": "周末一起跑步"})
        assert reworded["memory"]["statement"] == "周末一起跑步"
        strength = await world.told("PUT", f"/{gone['memory_id']}/strength", json={"strength": 0.25})
        assert strength["memory"]["strength"] == 0.25
        assert (await world.told("DELETE", f"/{gone['memory_id']}?reason=写错了"))["memory"]["status"] == "deprecated"
        assert (await world.refused("DELETE", f"/{gone['memory_id']}"))[0] == 409
        older = await world.told("PUT", f"/{ids[0]}/restore")
        assert (older["memory"]["statement"], older["memory"]["version"]) == (first, 6)


async def test_a_line_of_a_profile_stands_beside_the_words_it_rests_on(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile, present or past, has the words of who said it for each line that a model worded, until they go.

    Words that cannot be read hide no profile, and make no restored one a failure.

    Issue 31, rules 2 and 5.
    """
    from cognitive_memory_core import CognitiveMemory, UnavailableError

    async def away(*_: object) -> None:
        raise UnavailableError("away")

    own, line = "我没收过谁的两万块", "收了两万块"
    who, at = {"user_id": PERSON, "group_id": GROUP_ID}, "2026-03-04T12:00:00+00:00"
    quote = {"message_id": "m1", "sender_id": PERSON, "text": own, "sender_name": "阿棠", "sent_at": at}
    told = {"kind": "knowledge", "request_type": "group", "happened_at": at, "sender_id": PERSON, "quotes": [quote]}
    event = {"type": "event", "id": EVENT, "text": f"阿棠({PERSON}) {line}", **who, **told}
    page = {"entity_type": "member", **who, "updated_at": at, "summary": f"- {line}\n- 手写的", "tags": ["收钱"]}
    profile = {"type": "profile", **page, "sources": {line: [EVENT], "收钱": [EVENT]}}
    revision = {**profile, "type": "revision", "id": REVISION, "summary": f"- {line}"}
    async with a_world(tmp_path) as world:
        await world.memory.import_(written([event, profile, revision], tmp_path / "planted.jsonl"))
        path = f"/profiles/member/{GROUP_ID}/{PERSON}"

        async def words() -> list[dict[str, str]]:
            shown = [(await world.told("GET", path))["profile"]]
            shown += [one["profile"] for one in (await world.told("GET", f"{path}/revisions"))["revisions"]]
            return [{said: quote["text"] for said, quote in one["words"].items()} for one in shown]

        assert await words() == [{line: own, "收钱": own}] * 2
        restored = await world.told("POST", f"{path}/restore", json={"revision_id": REVISION})
        assert restored["profile"]["words"][line]["sender_name"] == "阿棠"
        with monkeypatch.context() as patched:  # the file is there, the ledger is not
            patched.setattr(CognitiveMemory, "profile_words", away)
            assert not any(await words())
            assert await world.told("POST", f"{path}/restore", json={"revision_id": REVISION})
        await world.told("DELETE", f"/events/{EVENT}")
        await world.memory.drain(30)
        assert own not in str(await words())


BAD = [
    ("POST", f"/evolve/{GROUP_ID}?days=0", None),
    ("POST", f"/evolve/{GROUP_ID}?days=99999", None),
    ("GET", f"/list/{GROUP_ID}?status=gone", None),
    ("GET", f"/list/{GROUP_ID}?limit=0", None),
    ("GET", f"/list/{GROUP_ID}?offset=-1", None),
    ("GET", f"/list/{'1' * 129}", None),
    ("GET", "/list/%00", None),
    ("GET", f"/search/{GROUP_ID}", None),
    ("GET", f"/search/{GROUP_ID}?q={'长' * 4_001}", None),
    ("GET", f"/search/{GROUP_ID}?q=x&threshold=2", None),
    ("GET", f"/changes/{GROUP_ID}?days=-1", None),
    ("GET", "/events?time_from=昨天", None),
    ("GET", "/messages?day=昨天", None),
    ("GET", "/events?kinds=secret", None),
    ("GET", "/pins", None),
    ("GET", "/profiles/nobody/1", None),
    ("GET", "/status?agent=", None),
    ("PUT", f"/{BELIEF}/strength", {"strength": 1.5}),
    ("PUT", f"/{BELIEF}/strength", {"strenght": 0.5}),
    ("PUT", f"/{BELIEF}/strength", [0.5]),
    ("PUT", f"/{BELIEF}/strength", {}),
    ("POST", "/pins", {"text": "  ", "group_id": GROUP_ID}),
    ("POST", "/context", {"query": "x"}),
    ("POST", "/context", {"query": "x", "user_id": "1\n2"}),
    ("POST", "/jobs/retry", {"job_id": ""}),
]


async def test_bad_values(world: World) -> None:
    """A value out of bounds, of the wrong type or misspelt is answered with 422 and one sentence."""
    for method, path, body in BAD:
        status, _ = await world.refused(method, path, **({} if body is None else {"json": body}))
        assert status == 422, (method, path, body)


async def test_bodies_are_json_and_bounded(world: World) -> None:
    """A form, a text, broken JSON and a body over the bound are refused; so is what no route knows."""
    path, ok = f"/{BELIEF}/strength", json.dumps({"strength": 0.5})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"):
        headers = {"Content-Type": kind} if kind else {}
        assert (await world.refused("PUT", path, content=ok, headers=headers))[0] == 415, kind
    as_json = {"Content-Type": "application/json; charset=utf-8"}
    assert (await world.told("PUT", path, content=ok, headers=as_json))["memory"]["strength"] == 0.5
    for broken in ("{", "\udc80".encode("utf-8", "surrogatepass"), b"\xff", "[" * 50_000):
        assert (await world.refused("PUT", path, content=broken, headers=as_json))[0] in (400, 422), broken[:9]
    assert (await world.refused("PUT", path, content=b" " * 300_000 + ok.encode(), headers=as_json))[0] == 413
    assert (await world.refused("PATCH", path))[0] == 405
    assert (await world.refused("GET", "/nowhere/at/all"))[0] == 404


async def test_a_change_of_what_changed_meanwhile_shows_the_present_version(world: World) -> None:
    """Of many corrections at once one is stored; the others get 409 with the present version."""
    texts = [f"阿棠(2000001) 喜欢{tea}" for tea in ("普洱茶", "红茶", "绿茶", "白茶", "花茶")]
    path = f"/events/{EVENT}"
    answers = await asyncio.gather(*(world.asking.put(path, json={"text": text}) for text in texts))
    assert sorted(one.status_code for one in answers) == [200, *[409] * 4]
    [present] = (await world.told("GET", "/events"))["events"]
    newest = (await world.told("PUT", f"/events/{present['id']}", json={"text": "阿棠(2000001) 什么茶都喝"}))["event"]
    late = [
        *(one for one in answers if one.status_code == 409),
        await world.asking.put(path, json={"text": "晚了"}),
        await world.asking.put(f"{path}/restore"),
        await world.asking.delete(path),
    ]
    assert {one.status_code for one in late} == {409}
    assert {one.json()["event"]["id"] for one in late} == {present["id"], newest["id"]}
    assert all(one.json()["error"] for one in late)
    await world.told("DELETE", f"/events/{newest['id']}")
    gone = await world.asking.put(f"/events/{newest['id']}", json={"text": "晚了"})
    assert (gone.status_code, gone.json()["event"]["retired_at"] is None) == (409, False)
    assert (await world.told("GET", "/events"))["events"] == []


async def test_export_streams_one_agent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export is sent as JSON Lines with the agent's lines alone, and leaves no file behind; one at a time.

    The file is closed before it is removed, because Windows removes no open file.
    """
    open_files, clean, before = list[str](), tempfile.TemporaryDirectory.cleanup, _exports()

    def cleanup(folder: tempfile.TemporaryDirectory[str]) -> None:
        links = (link for link in Path("/proc/self/fd").glob("*") if link.is_symlink())
        open_files.extend(name for link in links if (name := str(link.readlink())).endswith("memory.jsonl"))
        clean(folder)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", cleanup)
    async with world.asking.stream("GET", "/export") as answer:
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        assert (await world.asking.get("/export")).status_code == 409
        lines = [json.loads(line) async for line in answer.aiter_lines()]
    assert lines[0]["format"] == "cognitive-memory"
    assert {line["type"] for line in lines[1:]} == {"event", "belief", "change", "pin", "profile", "revision", "alias"}
    assert "密语" not in str(lines)
    assert (await world.asking.get("/export", params={"agent": "another"})).text.count("密语") > 5
    person = (await world.asking.get("/export", params={"user_id": PERSON})).text
    assert "乌龙茶" in person
    assert "聚餐" not in person
    assert not _exports() - before
    assert open_files == []


def _exports() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("*/memory.jsonl"))


async def test_a_memory_that_is_not_open_is_unavailable(app: App) -> None:
    """Without an open memory every route is answered with 503 and the reason; the document is still served."""
    import cognitive_memory_core as core

    async with served(mounted(a_site(core.CognitiveMemory.absent("记忆还没有打开")))) as port, client(port) as asking:
        document = (await asking.get("/openapi.json")).json()
        for operation in operations(document):
            answer = await operation.call(asking, {"job_id": "x"})
            assert (answer.status_code, answer.json()["error"]) == (503, "记忆还没有打开"), operation.name
            assert not operation.problems(answer)
            assert int(answer.headers["retry-after"]) >= 1


async def test_too_many_requests(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests over the rate are answered with 429 and Retry-After; strangers use up nothing of the operator's."""
    from nonebot_plugin_cognitive_memory.http import gates

    for rate in ("PER_MINUTE", "STRANGERS_PER_MINUTE"):
        monkeypatch.setattr(gates, rate, 1)  # a slow machine must not earn requests faster than it makes them
    async with served(mounted(a_site())) as port, client(port) as asking, client(port, token=None) as strange:
        refused = [(await strange.get("/status")).status_code for _ in range(60)]
        assert set(refused) == {401, 429}
        assert (await asking.get("/openapi.json")).status_code == 200
        for _ in range(400):
            answer = await asking.get("/nowhere")
            if answer.status_code == 429:
                break
        assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (429, True)
