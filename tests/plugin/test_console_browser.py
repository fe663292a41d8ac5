"""The console in a real Chromium: every page at both sizes and in both colours, by keyboard, and with hostile text.

Pictures for docs/console.md are made by ``console_pictures``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from nonebug import App

from .chromium import BROWSER, DESKTOP, DRIVER, MISSING, OF_NOBODY, PHONE, TABLET, Browser, browser
from .console_stage import Console, console
from .web import TOKEN

pytestmark = pytest.mark.skipif(not BROWSER or not DRIVER, reason=MISSING)
QUESTION = "/question?place=group/20001&user_id=2000003&text=部署密钥什么时候换的"
PAGES = {
    **OF_NOBODY,
    "question": QUESTION,
    "lines": "/lines",
    "person": "/people/open?id=2000001",
    "place": "/places/open?place=group/20001",
    "beliefs": "/beliefs?group=20001",
    "suggestions": "/suggestions?group=20002",
}
Look = tuple[tuple[int, int], bool]
VIEWS = tuple((size, dark) for size in (DESKTOP, TABLET, PHONE) for dark in (False, True))
SIZES = {DESKTOP: "desktop", TABLET: "tablet", PHONE: "phone"}
EXAMINED = {("desktop", "light"), ("phone", "dark")}  # what is laid out and coloured differently


def log_in(page: Browser) -> None:
    """Log in by keyboard alone."""
    page.open("/login")
    field = page.driver.switch_to.active_element
    assert field.get_attribute("name") == "secret"
    field.send_keys(TOKEN, "\n")
    page.until(lambda: page.all("header.rail"))


def checked(page: Browser, name: str, path: str, looks: Sequence[Look] = VIEWS) -> list[str]:
    """Open a page and look at it in sizes and colours, by default in all; return what is wrong with it."""
    page.resize(DESKTOP, dark=False)
    page.open(path)
    page.until(lambda: page.all("h1"))
    wrong: list[str] = []
    for size, dark in looks:
        where = (SIZES[size], "dark" if dark else "light")
        page.resize(size, dark=dark)
        for summary in page.all("details:not([open]) > summary"):
            page.driver.execute_script("arguments[0].parentElement.open = true", summary)
        wrong += [f"{where}: wider than the window"] if page.is_scrolled_sideways() else []
        if where in EXAMINED:
            wrong += [f"{where}: {one['id']}: {one['help']} {one['nodes']}" for one in page.serious()]
    return [f"{name} {one}" for one in (*wrong, *page.complaints(), *page.foreign_requests())]


async def test_every_page_in_a_browser(shown: Console) -> None:
    """Each page has no error, no request elsewhere, no serious accessibility finding and no scrolling sideways."""

    def driven() -> list[str]:
        with browser(shown.address) as page:
            wrong = checked(page, "login", "/login")
            log_in(page)
            page.open("/memories?text=部署密钥")
            memory = page.one("main a.bubble").get_attribute("href").removeprefix(shown.address)
            belief_list = page.driver
            page.open("/beliefs?group=20001")
            belief = belief_list.find_element("css selector", "main .rows a").get_attribute("href")
            paths = {**PAGES, "memory": memory, "belief": belief.removeprefix(shown.address)}
            return [*wrong, *(one for name, path in paths.items() for one in checked(page, name, path))]

    wrong = await asyncio.to_thread(driven)
    assert not wrong, "\n".join(wrong)


async def test_every_empty_page_in_a_browser(app: App, tmp_path: Path) -> None:
    """The pages of a memory that has nothing yet are as free of errors as those of one that has something."""

    def driven(address: str) -> list[str]:
        with browser(address) as page:
            log_in(page)
            return [wrong for name, path in PAGES.items() for wrong in checked(page, name, path, [(PHONE, True)])]

    async with console(tmp_path / "data") as empty:
        wrong = await asyncio.to_thread(driven, empty.address)
    assert not wrong, "\n".join(wrong)


async def test_the_console_by_keyboard_alone(shown: Console) -> None:
    """A memory is found, opened, corrected and put back with the keyboard alone, and the navigation can be skipped."""

    def driven() -> None:
        with browser(shown.address) as page:
            log_in(page)
            body = page.one("body")
            body.send_keys("\t")
            assert page.driver.switch_to.active_element.get_attribute("class") == "skip"
            page.open("/memories")
            page.one("input[name=text]").send_keys("部署密钥", "\n")
            page.until(lambda: "text=" in page.driver.current_url)
            page.one("main a.bubble").send_keys("\n")
            page.until(lambda: page.all("textarea"))
            field = page.one("textarea")
            field.clear()
            field.send_keys("阿棠(2000001) 说部署密钥在 2026-03-07 换过", "\t\n")
            page.until(lambda: page.all(".notice"))
            assert "2026-03-07" in page.one("h1").text
            page.one(".notice button").send_keys("\n")
            page.until(lambda: "2026-03-06" in page.one("h1").text)

    await asyncio.to_thread(driven)


async def test_a_slider_moves_the_scores(shown: Console) -> None:
    """A moved slider answers again by the new weight, on the same page; a reload keeps it, and nothing is stored."""

    def driven() -> None:
        with browser(shown.address) as page:
            log_in(page)
            page.open(QUESTION)
            before = page.one("#answer").text
            page.driver.execute_script("window.same = true")
            page.click("details > summary")
            page.one("input[name=auto_top_k]").send_keys(*["\ue012"] * 8)  # to the left, eight times
            page.until(lambda: page.one("#answer").text != before)
            assert page.driver.execute_script("return window.same")
            assert page.one("#auto_top_k-value").text == "0"
            moved = page.one("#answer").text
            page.driver.refresh()
            page.until(lambda: page.one("#answer").text == moved)

    await asyncio.to_thread(driven)
    assert shown.memory._settings.current.query.auto_top_k == 8


async def test_nothing_lies_over_what_is_clicked(shown: Console) -> None:
    """A day's heading stays below the buttons of a list, which stay in view once something is chosen."""
    topmost = """const box = arguments[0].getBoundingClientRect();
        return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest(arguments[1])"""

    def driven() -> None:
        with browser(shown.address) as page:
            log_in(page)
            page.open("/memories")
            page.click("main [name=id]")
            bar, day = page.one(".sticky button"), page.all(".day")[-1]
            page.driver.execute_script("arguments[1].style.cssText = 'position: fixed; bottom: 0'", bar, day)
            page.driver.execute_script("arguments[1].style.insetInline = 0", bar, day)
            assert page.driver.execute_script(topmost, bar, ".sticky")

    await asyncio.to_thread(driven)
