"""Hostile text in every stored field and every parameter of an address: it stays text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from nonebug import App

from .chromium import BROWSER, DRIVER, MISSING, Browser, browser
from .console_stage import Console, console, furnished
from .test_console_browser import PAGES, log_in

NAME = '"><img src=x onerror="window.hit=\'name\'">'
CORPUS = (
    *(NAME, "<script>window.hit='script'</script>", "<svg/onload=\"window.hit='svg'\">", "</textarea><b id=planted>"),
    *("</title></style></script><h1 id=planted>", "'-(window.hit=1)-'", "`${window.hit=1}`", "&lt;b id=planted&gt;"),
    *("{{ 7*7 }}", "{% include 'login.html' %}", "<a href=\"javascript:window.hit='link'\">x</a>"),
    *(
        "javascript:window.hit=1",
        "<iframe srcdoc='<script>parent.hit=1</script>'>",
        "<meta http-equiv=refresh content=0>",
    ),
    *("<div hx-get=/memory/console/jobs hx-trigger=load>x</div>", "<form id=planted action=//evil.example.com>"),
    *("[CQ:at,qq=all]", "[CQ:image,file=http://evil.example.com/x.png]", "![x](http://evil.example.com/x.png)"),
    *("[x](javascript:window.hit=1)", "# 标题\n- 项", "<style>body{display:none}</style>", "\u202egnp.exe\u2066"),
)
TEXT = " ".join(CORPUS)
TAGS = (
    "<img src=x",
    "<script>window",
    "<svg/onload",
    "<iframe srcdoc",
    "<h1 id=planted",
    "<b id=planted",
    "<div hx-get",
)
LOOK = """
return [window.hit || "", document.querySelectorAll("#planted, main img, main iframe, main object, main embed").length,
  [...document.links].filter(one => one.protocol === "javascript:").length,
  document.querySelectorAll("main script, main style, main svg:not([class])").length,
  [...document.forms].filter(one => !(one.getAttribute("action") || "").startsWith("/memory/console/")).length];
"""


@pytest.fixture
async def hostile(app: App, tmp_path: Path) -> AsyncGenerator[Console, None]:
    """Serve a console over a memory with hostile text in every field."""
    async with console(tmp_path / "data") as one:
        await furnished(one.memory, text=TEXT, name=NAME)
        yield one


def asked(listed: str) -> dict[str, str]:
    """Return every page, and addresses with hostile parameters."""
    event_id = listed.split("/memories/open?id=", 1)[1].split('"', 1)[0]
    reflected = {
        "a search": "/memories?" + urlencode({"text": TEXT, "user_id": NAME, "place": f"group/{NAME}", "since": NAME}),
        "a question": "/question?" + urlencode({"text": TEXT, "user_id": NAME, "place": "group/20001"}),
        "lines": "/lines?" + urlencode({"day": NAME, "user_id": NAME, "place": f"group/{NAME}"}),
        "people": "/people?" + urlencode({"text": NAME}),
        "a person": "/people/open?" + urlencode({"id": NAME}),
        "a place": "/places/open?" + urlencode({"place": f"group/{NAME}"}),
        "suggestions": "/suggestions?" + urlencode({"group": NAME}),
        "beliefs": "/beliefs?" + urlencode({"group": NAME, "status": NAME, "days": NAME, "page": NAME}),
    }
    listed_too = {"cases": "/question/cases", "in English": "/jobs", "page": f"/memories?page={NAME}"}
    return {**PAGES, "memory": f"/memories/open?id={event_id}", **listed_too, **reflected}


async def test_every_page_and_form_is_attempted(app: App) -> None:
    """Every route of the console is among those that the fault rows A14b and A15b open without a session or a form."""
    from benchmarks.faults import doors
    from nonebot_plugin_cognitive_memory.console.application import PAGES as ROUTES

    opened = {path.partition("?")[0] for path in doors.PAGES}
    routes = {(method, path) for method, path, _ in ROUTES}
    assert routes == {("GET", path) for path in opened} | {
        ("POST", path) for path in doors.FORMS if path not in ("/language", "/logout")
    }


async def test_no_page_contains_a_tag_that_was_stored(hostile: Console) -> None:
    """No stored or sent text is in a page as a tag or is evaluated by the templates; it is shown as it was written."""
    async with hostile.visited() as visitor:
        for name, path in asked(await visitor.look("/memories")).items():
            page = await visitor.look(path)
            assert not [tag for tag in TAGS if tag in page], name
            assert "49" not in page.split("{{ 7*7 }}")[0][-9:], name
        listed = await visitor.look("/memories")
        assert "{{ 7*7 }}" in listed
        assert "&lt;script&gt;" in listed


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/memories/open?id={}", 404),
        ("/memories/open?id=", 422),
        ("/beliefs/open?group=20001&id={}", 404),
        ("/question?place=group/20001&user_id=2000001&text=x&event={}", 200),
        ("/{}", 404),
    ],
)
async def test_what_is_refused_is_shown_as_text(hostile: Console, path: str, status: int) -> None:
    """A page that says why something was refused shows what was asked for as text."""
    async with hostile.visited() as visitor:
        answer = await visitor.client.get(path.format(urlencode({"v": NAME})[2:]))
        assert answer.status_code == status
        assert not [tag for tag in TAGS if tag in answer.text]


FORMS = {
    "/memories/change": ("id", "action", "sure"),
    "/memories/correct": ("id", "text"),
    "/question/missed": ("event", "place", "user_id", "text"),
    "/question/drop": ("id",),
    "/people/consent": ("id", "wish"),
    "/people/erase": ("id", "sure"),
    "/profiles/restore": ("key", "revision"),
    "/profiles/edit": ("key", "line", "text"),
    "/memories/add": ("place", "user_id", "text"),
    "/prompts/try": ("name", "template"),
    "/places/switch": ("place", "switch"),
    "/places/erase": ("place", "sure"),
    "/pins/change": ("place", "id", "text", "action"),
    "/beliefs/evolve": ("group",),
    "/beliefs/change": ("group", "id", "action", "strength", "reason"),
    "/suggestions/decide": ("group", "id", "action"),
    "/jobs/retry": ("id",),
    "/jobs/pause": ("wish",),
    "/settings/change": ("key", "value", "action"),
    "/transfers/begin": ("kind", "user_id"),
    "/transfers/cancel": ("kind",),
    "/language": ("language", "back"),
}
USUAL = {
    "group": "20001",
    "place": "group/20001",
    "key": "query.auto_top_k",
    "name": "triage",
    "action": "set",
    "user_id": "2000001",
}


async def test_no_form_answers_with_a_tag_that_was_sent(hostile: Console) -> None:
    """Whatever field of a form is hostile, the page that follows, or the refusal, shows it as text; none is a 500."""
    async with hostile.visited() as visitor:
        token = await visitor.form_token()
        for path, field in ((path, field) for path, fields in FORMS.items() for field in fields):
            fields = {name: USUAL.get(name, "x") for name in FORMS[path]} | {field: TEXT}
            answer = await visitor.send(path, form_token=token, **fields)
            place = answer.headers.get("location", "")
            assert answer.status_code < 500, (path, field)
            assert not place or place.startswith("/memory/console"), (path, field, place)
            assert not [tag for tag in TAGS if tag in answer.text], (path, field)
            if place:
                after = await visitor.client.get(place.removeprefix("/memory/console") or "/")
                assert after.status_code < 500, (path, field)
                assert not [tag for tag in TAGS if tag in after.text], (path, field)


async def test_foreign_and_guessed_ids_show_nothing(hostile: Console) -> None:
    """An id of another agent, or one that does not exist, is not found by any page or form that takes one."""
    import cognitive_memory_core as core
    from cognitive_memory_core.domain.event import Draft, Event
    from tests.support.clock import NOON

    foreign = Event(
        "foreign", "别家的秘密", user_id="9", sender_id="9", group_id="20001", happened_at=NOON, agent="other"
    )
    await hostile.memory._opened.ledger.events.commit(Draft("foreign", (foreign,)))
    async with hostile.visited() as visitor:
        token = await visitor.form_token()
        for event_id in ("foreign", "no-such-id"):
            assert (await visitor.client.get(f"/memories/open?id={event_id}")).status_code == 404
            for path, fields in (
                ("/memories/correct", {"id": event_id, "text": "改"}),
                ("/memories/change", {"id": event_id, "action": "forget"}),
                ("/question/missed", {"event": event_id, "place": "group/20001", "user_id": "1", "text": "x"}),
            ):
                assert (await visitor.send(path, form_token=token, **fields)).status_code == 404, path
            done = await visitor.act("/memories/change", id=event_id, action="forget", sure="yes")
            assert "忘掉了 0 条" in done
        assert "别家的秘密" not in await visitor.look("/memories")
    stored = await hostile.memory._opened.ledger.events.find("foreign")
    assert stored is not None
    assert stored.retired_at is None
    assert core.Scene.operator().agent == "default"


@pytest.mark.skipif(not BROWSER or not DRIVER, reason=MISSING)
async def test_nothing_stored_runs_in_a_browser(hostile: Console) -> None:
    """In a real browser no stored text runs, loads, links or sends anything on any page."""

    def looked(page: Browser, name: str, path: str) -> list[str]:
        page.open(path)
        page.until(lambda: page.all("h1"))
        found = page.driver.execute_script(LOOK)
        wrong = [f"{name}: {found}"] if found != ["", 0, 0, 0, 0] else []
        return [*wrong, *(f"{name}: {one}" for one in (*page.complaints(), *page.foreign_requests()))]

    def driven(paths: dict[str, str]) -> list[str]:
        with browser(hostile.address) as page:
            log_in(page)
            return [wrong for name, path in paths.items() for wrong in looked(page, name, path)]

    async with hostile.visited() as visitor:
        paths = asked(await visitor.look("/memories"))
    wrong = await asyncio.to_thread(driven, paths)
    assert not wrong, "\n".join(wrong)
