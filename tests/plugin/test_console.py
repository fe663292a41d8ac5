"""Tests of the console's pages, without a browser: who gets in, what a form may do, and what is shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from nonebug import App

from .console_stage import Console, first_id
from .test_loading import run
from .web import TOKEN


@pytest.fixture
async def stranger(shown: Console) -> AsyncGenerator[httpx.AsyncClient, None]:
    """Return a browser that is not logged in."""
    async with httpx.AsyncClient(base_url=shown.address, trust_env=False, timeout=60.0) as client:
        yield client


async def test_today_and_memories(shown: Console) -> None:
    """The first page shows figures and places, the list its events, and an event its source in its talk."""
    async with shown.visited() as visitor:
        today = await visitor.look("/")
        assert "读书会" in today
        assert "豆沙" in today
        listed = await visitor.look("/memories")
        assert "推理小说" in listed
        assert "部署密钥" in listed
        assert "推理小说" not in await visitor.look("/memories", place="group/20002")
        found = await visitor.look("/memories", text="部署密钥")
        link = found.split("/memories/open?id=", 1)[1].split('"', 1)[0]
        opened = await visitor.look("/memories/open", id=link)
        assert "新的在保险柜里" in opened
        assert "我记一下" in opened


async def test_what_is_forgotten_in_bulk_is_undone_at_once(shown: Console) -> None:
    """Several memories are forgotten after a page that tells what goes, and one undo restores all of them."""
    async with shown.visited() as visitor:
        listed = await visitor.look("/memories", place="group/20001")
        ids = [part.split('"', 1)[0] for part in listed.split('name="id" value="')[1:]]
        assert len(ids) == 2
        asked = await visitor.act("/memories/change", id=ids, action="forget")
        assert "侧写里的会去掉" in asked
        assert "推理小说" in await visitor.look("/memories", place="group/20001")
        done = await visitor.act("/memories/change", id=ids, action="forget", sure="yes")
        assert "忘掉了 2 条" in done
        assert "推理小说" not in await visitor.look("/memories", place="group/20001")
        assert "推理小说" in await visitor.look("/memories", place="group/20001", state="retired")
        assert "恢复了 2 条" in await visitor.act("/memories/undo")
        assert "推理小说" in await visitor.look("/memories", place="group/20001")


async def test_a_correction_keeps_the_earlier_wording(shown: Console) -> None:
    """A corrected memory is nobody's line and links its earlier wording; undoing the correction brings that back."""
    async with shown.visited() as visitor:
        event_id = first_id(await visitor.look("/memories", kind="preference"))
        corrected = await visitor.act("/memories/correct", id=event_id, text="阿棠(2000001) 喜欢科幻小说")
        listed = (await visitor.look("/memories")).split("喜欢科幻小说")[1].split("</article>")[0]
        assert "句原话" not in listed, "the new wording is nobody's line"
        assert "科幻小说" in corrected
        assert "推理小说" in corrected  # as the other wording
        assert "换回了" in await visitor.act("/memories/undo")
        listed = await visitor.look("/memories", kind="preference")
        assert "推理小说" in listed
        assert "科幻小说" not in listed


async def test_no_page_without_a_session(stranger: httpx.AsyncClient) -> None:
    """Every address but the login and its files leads a stranger to the login, whatever the method and the path."""
    for path in (
        "/",
        "/memories",
        "/memories/open?id=1",
        "//memories",
        "/x/../memories",
        "/login/../memories",
        "/%2e/",
    ):
        answer = await stranger.get(path)
        assert (answer.status_code, answer.headers.get("location")) == (303, "/memory/console/login"), path
        assert "推理小说" not in answer.text
    partial = await stranger.get("/memories", headers={"HX-Request": "true"})
    assert (partial.status_code, partial.headers["hx-redirect"]) == (401, "/memory/console/login")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert (await stranger.request(method, "/memories")).status_code == 405
    with_token = await stranger.get("/memories", headers={"Authorization": f"Bearer {TOKEN}"})
    assert with_token.status_code == 303  # the token is for the HTTP interface
    assert (await stranger.get(f"/memories?token={TOKEN}&secret={TOKEN}")).status_code == 303


async def test_the_cookie_and_the_headers(shown: Console, stranger: httpx.AsyncClient) -> None:
    """The cookie is for this site and no script; a page may load nothing from elsewhere and be framed by nobody."""
    origin = shown.address.split("/memory")[0]
    answer = await stranger.post("/login", data={"secret": TOKEN}, headers={"Origin": origin})
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/memory/console"))
    page = await stranger.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in page.headers


FOREIGN: dict[str, tuple[dict[str, str], dict[str, str]]] = {  # headers and fields
    "another origin": ({"Origin": "http://evil.example.com"}, {}),
    "no origin": ({}, {}),
    "a null origin": ({"Origin": "null"}, {}),
    "cross site": ({"Origin": "{own}", "Sec-Fetch-Site": "cross-site"}, {}),
    "same site": ({"Origin": "{own}", "Sec-Fetch-Site": "same-site"}, {}),
    "no form token": ({"Origin": "{own}"}, {"form_token": ""}),
    "another form token": ({"Origin": "{own}"}, {"form_token": "guess\udcff"}),
    "no form": ({"Origin": "{own}", "Content-Type": "text/plain"}, {}),
    "json": ({"Origin": "{own}", "Content-Type": "application/json"}, {}),
}


async def test_a_foreign_form_changes_nothing(shown: Console) -> None:
    """A form that another site sends in a logged-in browser, or that the session was not given, is refused."""
    async with shown.visited() as visitor:
        token, listed = await visitor.form_token(), await visitor.look("/memories")
        event_id = first_id(listed)
        own = shown.address.split("/memory")[0]
        for name, (headers, fields) in FOREIGN.items():
            sent = {"form_token": token, "id": event_id, "action": "forget", "sure": "yes", **fields}
            answer = await visitor.client.post(
                "/memories/change",
                content=str(httpx.QueryParams({n: v.encode("utf-8", "replace").decode() for n, v in sent.items()})),
                headers={"Content-Type": "application/x-www-form-urlencoded"}
                | {header: value.format(own=own) for header, value in headers.items()},
            )
            assert answer.status_code in (403, 415), name
        assert (await visitor.look("/memories")).count('name="id" value="') == listed.count('name="id" value="')


async def test_what_was_typed_outlives_the_change_of_somebody_else(shown: Console) -> None:
    """A correction of what another operator corrected meanwhile shows the present words, and keeps what was typed."""
    async with shown.visited() as one, shown.visited() as other:
        event_id = first_id(await one.look("/memories", kind="preference"))
        await other.act("/memories/correct", id=event_id, text="阿棠(2000001) 喜欢科幻小说")
        late = await one.submit("/memories/correct", id=event_id, text="阿棠(2000001) 喜欢历史小说")
        assert late.status_code == 409
        assert '<h1 class="text">阿棠(2000001) 喜欢科幻小说</h1>' in late.text
        assert ">阿棠(2000001) 喜欢历史小说</textarea>" in late.text
        assert "有人刚改过" in late.text
        present = first_id(late.text.split('action="/memory/console/memories/change"')[1])
        again = await one.act("/memories/correct", id=present, text="阿棠(2000001) 喜欢历史小说")
        assert '<h1 class="text">阿棠(2000001) 喜欢历史小说</h1>' in again


async def test_what_was_typed_outlives_its_session(shown: Console) -> None:
    """A form sent after its session has ended changes nothing; the log-in form shows what was typed, as plain text."""
    async with shown.visited() as visitor:
        token = await visitor.form_token()
        event_id = first_id(await visitor.look("/memories", kind="preference"))
        visitor.client.cookies.clear()
        text = "阿棠(2000001) 喜欢<b>历史</b>小说"
        answer = await visitor.send("/memories/correct", form_token=token, id=event_id, text=text)
        assert answer.status_code == 401
        assert ">阿棠(2000001) 喜欢&lt;b&gt;历史&lt;/b&gt;小说</textarea>" in answer.text
        assert 'name="secret"' in answer.text
    async with shown.visited() as visitor:
        assert "历史" not in await visitor.look("/memories", kind="preference")


async def test_a_form_that_was_cut_off_changes_nothing(app: App) -> None:
    """A form whose sender left in the middle is not carried out with what had arrived."""
    from nonebot_plugin_cognitive_memory.console.sessions import SessionGate, Sessions

    sessions, reached, sent = Sessions(), [], []
    cookie = sessions.open()
    session = sessions.find(cookie)
    assert session
    arriving = [
        {"type": "http.request", "body": f"form_token={session.form_token}&text=half".encode(), "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def page(scope: Any, _receive: Any, _send: Any) -> None:
        reached.append(scope["state"]["fields"])

    async def receive() -> Any:
        return arriving.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {
        "host": "localhost",
        "origin": "http://localhost",
        "cookie": f"cognitive_memory_console={cookie}",
        "content-type": "application/x-www-form-urlencoded",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/memories/correct",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await SessionGate(page, sessions)(scope, receive, send)
    assert not reached
    assert sent[0]["status"] >= 400


async def test_the_method_is_not_overridden(shown: Console) -> None:
    """A GET changes nothing, and no header or field turns it into a POST."""
    async with shown.visited() as visitor:
        for path in ("/memories/change", "/memories/correct", "/memories/undo", "/logout"):
            answer = await visitor.client.get(
                f"{path}?_method=POST", headers={"X-HTTP-Method-Override": "POST"}, follow_redirects=False
            )
            assert answer.status_code in (404, 405)
        assert "推理小说" in await visitor.look("/memories")


async def test_a_code_opens_one_session(shown: Console, stranger: httpx.AsyncClient) -> None:
    """A one-time code opens the console once; wrong secrets do not, and many of them have to wait."""
    origin = {"Origin": shown.address.split("/memory")[0]}
    code = shown.access.codes.issue()
    assert (await stranger.post("/login", data={"secret": f" {code.lower()} "}, headers=origin)).status_code == 303
    assert "阿棠" in (await stranger.get("/")).text
    stranger.cookies.clear()
    assert (await stranger.post("/login", data={"secret": code}, headers=origin)).status_code == 401
    answers = [
        (await stranger.post("/login", data={"secret": secret}, headers=origin)).status_code
        for secret in ("", "令牌", "x" * 5000, TOKEN[:-1], "a", "b", "c")
    ]
    assert set(answers) == {401, 429}
    assert answers[-1] == 429


async def test_only_failed_log_ins_count(shown: Console, stranger: httpx.AsyncClient) -> None:
    """Good log-ins cost nothing; after six failures of an address no code is compared, and the token still opens."""
    origin = {"Origin": shown.address.split("/memory")[0]}

    async def entered(secret: str) -> int:
        return (await stranger.post("/login", data={"secret": secret}, headers=origin)).status_code

    assert [await entered(TOKEN) for _ in range(8)] == [303] * 8
    assert [await entered(shown.access.codes.issue()) for _ in range(8)] == [303] * 8
    assert [await entered("guess") for _ in range(7)] == [401] * 6 + [429]
    code = shown.access.codes.issue()
    assert await entered(code) == 429
    assert await entered(TOKEN) == 303


async def test_logging_out_ends_the_session(shown: Console) -> None:
    """After logging out the cookie opens nothing any more, also where somebody kept it."""
    async with shown.visited() as visitor:
        kept = dict(visitor.client.cookies)
        await visitor.send("/logout", form_token=await visitor.form_token())
        visitor.client.cookies.update(kept)
        answer = await visitor.client.get("/")
        assert answer.status_code == 303


def test_sessions_and_codes_expire(app: App) -> None:
    """A session ends some time after its last use and at last after half a day; a code ends after five minutes."""
    from nonebot_plugin_cognitive_memory.console import sessions

    now = [0.0]
    opened, codes = sessions.Sessions(lambda: now[0]), sessions.LoginCodes(lambda: now[0])
    idle, used, code, late = opened.open(), opened.open(), codes.issue(), codes.issue()
    now[0] = sessions.CODE_SECONDS
    assert codes.redeem(code)
    assert not codes.redeem(code)
    now[0] += 1.0
    assert not codes.redeem(late)
    while now[0] < sessions.LIFETIME:
        assert opened.find(used)
        now[0] += sessions.IDLE / 2
    now[0] = sessions.LIFETIME + 1.0
    assert opened.find(used) is None
    assert opened.find(idle) is None
    many = [opened.open() for _ in range(sessions.MOST_SESSIONS + 1)]
    assert opened.find(many[0]) is None
    assert opened.find(many[-1])


LOAD = """
import nonebot
nonebot.init(driver={driver!r}, log_level="INFO", localstore_data_dir="files", cognitive_memory={{"http": {http!r}}})
assert nonebot.load_plugin("nonebot_plugin_cognitive_memory")
import sys
from nonebot_plugin_cognitive_memory.console import access
print("OPEN", access is not None, "jinja2" in sys.modules)
"""


@pytest.mark.parametrize(
    ("driver", "http", "is_open"),
    [
        ("~fastapi", {"token": TOKEN}, True),
        ("~fastapi", {"token": TOKEN, "console": False}, False),
        ("~fastapi", {}, False),
        ("~none", {"token": TOKEN}, False),
    ],
)
def test_when_it_is_mounted(driver: str, http: dict[str, object], is_open: bool, tmp_path: Path) -> None:
    """The console is there with FastAPI's driver and a token unless it is switched off."""
    told = run(LOAD.format(driver=driver, http=http), tmp_path)
    assert f"OPEN {is_open} {is_open}" in told, told
