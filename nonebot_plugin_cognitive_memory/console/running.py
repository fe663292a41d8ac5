"""The pages of how the memory runs: what to do, costs, models, failed jobs, records, and the quality report."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Literal
from urllib.parse import urlsplit

from starlette.responses import Response

import cognitive_memory_core as core

from ..config import ENV_FILES
from ..replies.log import env_names
from .charts import costs
from .pages import day
from .visit import PAGE, Found, Visit

DAYS = 30
LAG = 200  # events without a vector from which the index is behind
MOST_ROWS = 30
ROLES = ("historian", "triage", "merge", "evolution", "embedding", "rerank")
Tone = Literal["good", "busy", "bad"]
UNLIMITED = ("embedding", "rerank")  # purposes that the day's limit does not count
TONES: Mapping[str, Tone] = {"fault": "bad", "hint": "busy", "fine": "good"}  # by the level of a finding
PATIENCE = 120.0  # seconds of an examination


@dataclass(frozen=True)
class Remark:
    """A finding: the sentence ``key`` with its values and the text of an error, what to do, and the page for it."""

    tone: Tone
    key: str
    values: Mapping[str, object]
    reported: str = ""
    do: str = ""
    path: str = ""


@dataclass(frozen=True)
class Model:
    """The model of a role: its name, its state, and the lines of .env that set it; "" without a model.

    ``host`` is the host of its address, or the chat plugin that lends it.
    """

    role: str
    name: str
    host: str
    state: str

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines of .env that set the model, each with an example value."""
        name = {"embedding": "bge-m3", "rerank": "bge-reranker-v2-m3"}.get(self.role, "qwen-plus")
        address = "https://api.example.com/v1" + ("/rerank" if self.role == "rerank" else "")
        values = {"API_URL": address, "API_KEY": "sk-xxxx", "MODEL_NAME": name, "PRICE": "2/8"}
        return [(f"{env_names((f'models.{self.role}.{key}',))}=", value) for key, value in values.items()]


async def running(visit: Visit) -> Response:
    """Show whether the memory works, and what it costs."""
    status = await visit.memory.status()
    until, settings = visit.now.date(), visit.settings
    spent = await visit.memory.listings.spent(visit.scene(), until - timedelta(days=DAYS - 1))
    calls, price, is_bad_price = [one for _, one in spent], visit.asked("price"), False
    try:
        rows = bill(settings, calls, price)
    except core.CognitiveMemoryError:
        rows, is_bad_price = bill(settings, calls), True
    paid = [cost for _, cost in rows if cost is not None]
    return await visit.show(
        "running.html",
        remarks=list(remarks_on(status, visit.purpose)),
        status_now=status,
        days=DAYS,
        limit=settings.daily_calls,
        limited=sum(one.calls for one in status.spent_today if one.purpose not in UNLIMITED),
        costs=costs(spent, until, DAYS, settings.daily_calls),
        bill=rows,
        total=reduce(core.Spending.plus, (one for one, _ in rows)) if rows else None,
        paid=sum(paid) if paid else None,
        is_bad_price=is_bad_price,
        models=models(settings, status, visit.memory.embedder),
    )


def bill(
    settings: core.Settings, spent: Iterable[core.Spending], price: str = ""
) -> list[tuple[core.Spending, float | None]]:
    """Return the spending of each purpose with what it cost, None without a price; ``price`` stands for none set.

    Raises BadSetting for what is no price.
    """
    tried = core.Settings.from_mapping({"models": {"historian": {"price": price or None}}}).models.historian.price
    totals = dict[str, core.Spending]()
    for one in spent:
        totals[one.purpose] = totals[one.purpose].plus(one) if one.purpose in totals else one
    roles = {name: "historian" if name in ("rewrite", "compress") else name for name in totals}
    prices = {name: settings.models.cost_of(role)[1] or tried for name, role in roles.items()}
    return [
        (one, price and price.of(one.tokens, one.answered))
        for name, one in sorted(totals.items())
        for price in [prices[name]]
    ]


def models(settings: core.Settings, status: core.Status, embedder: str) -> list[Model]:
    """Return the model of each role; a chat role takes what it does not set from the historian's."""
    states, found = dict(status.breakers), list[Model]()
    for role in ROLES:
        is_chat = role not in ("embedding", "rerank")
        wanted = settings.models.of(role) if is_chat else getattr(settings.models, role)  # type: ignore[arg-type]  # of ROLES
        name = wanted.model_name or (embedder if role == "embedding" and embedder != "hash" else "")
        host = urlsplit(wanted.api_url).hostname or "" if wanted.model_name else ""
        if is_chat and not name and status.lender and wanted.borrow != "off":
            name, host = status.model, status.lender
        found.append(Model(role, name, host, states.get(role, "uninitialised")))
    return found


def remarks_on(status: core.Status, named: Callable[[str], str]) -> Iterator[Remark]:
    """Yield findings on a status, parts as ``named``, the worst first; without a bad one, first that all is well."""
    found = [*_troubles(status, named), *_work(status)]
    if not any(remark.tone == "bad" for remark in found):
        yield Remark("good", "today.well", {})
    yield from found


def _troubles(status: core.Status, named: Callable[[str], str]) -> Iterator[Remark]:
    if not status.is_running:
        yield Remark("bad", "today.not_running", {}, status.reason)
    for name, error in status.failing:
        yield Remark(
            "bad", "today.damaged" if error == status.damage else "today.failing", {"part": named(name)}, error
        )
    failing = {name for name, _ in status.failing}
    for name, state in status.breakers:
        if state == "failed" and name not in failing:
            yield Remark("bad", "today.breaker", {"part": named(name)}, do="do.breaker")
    if status.last_error and status.last_error not in dict(status.failing).values():
        yield Remark("bad", "today.last_error", {}, status.last_error)
    if status.jobs.failed:
        yield Remark("bad", "today.failed_jobs", {"count": status.jobs.failed}, path="/jobs")
    if status.dropped_messages:
        yield Remark("bad", "today.dropped", {"count": status.dropped_messages}, do="do.dropped")


def _work(status: core.Status) -> Iterator[Remark]:
    if status.paused:
        yield Remark("busy", "today.paused", {})
    if status.jobs.pending or status.jobs.processing:
        values = {"pending": status.jobs.pending, "processing": status.jobs.processing}
        yield Remark("busy", "today.queue", values, path="/jobs")
    if status.index_lag > LAG:
        yield Remark("busy", "today.lag", {"count": status.index_lag})
    if status.merges.facts:
        yield Remark("busy", "today.merges", {"facts": status.merges.facts, "profiles": status.merges.profiles})
    if status.is_over_daily_calls:
        yield Remark("busy", "today.over_calls", {}, do="do.over_calls", path="/settings?text=daily_calls")
    if status.lender:
        values = {"lender": status.lender, "model": status.model, "calls": status.calls_today}
        yield Remark("good", "today.lent", values)
    for name in status.without_model:
        yield Remark("good", f"today.without_{name}", {}, do=f"do.without_{name}")


async def examine(visit: Visit) -> Response:
    """Let the doctor examine what is set now, also what takes effect after a restart only; it tries every model."""
    return await visit.show_found("findings.html", _examined(visit))


async def _examined(visit: Visit) -> Found:
    """Run the command line's doctor as a process, which reads .env anew; nothing if it cannot, or takes too long."""
    directory = [] if visit.context.data_dir is None else ["--data", str(visit.context.data_dir)]
    files = ["--env", str(ENV_FILES[0])] if len(ENV_FILES) == 1 and ENV_FILES[0].is_file() else []
    command = (sys.executable, "-m", f"{core.__name__}.cli", "doctor", "--json", *directory, *files)
    nowhere, found, order = asyncio.subprocess.DEVNULL, list[dict[str, str]](), list(TONES)
    async with visit.context.examining:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nowhere, stdout=asyncio.subprocess.PIPE, stderr=nowhere
        )
        try:
            said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
            found = sorted(json.loads(said)["findings"], key=lambda one: order.index(one["level"]))
        except (asyncio.TimeoutError, ValueError, KeyError):
            pass
        finally:
            if process.returncode is None:
                process.kill()
    return {"findings": [(TONES[one["level"]], one["what"], one["advice"]) for one in found]}


async def records(visit: Visit) -> Response:
    """List our own records of the last hours."""
    kept = visit.context.records.newest(visit.settings)[visit.offset :]
    found = visit.paged([{"day": day(one.at, visit.zone), **vars(one)} for one in kept])
    return await visit.show("records.html", **found)


async def jobs(visit: Visit) -> Response:
    """List the failed jobs, the latest first, with what people can do about each."""
    failed = (await visit.memory.failed_jobs())[::-1]
    rows = failed[visit.offset :][:PAGE]
    places = {one.id: one.job.scope for one in rows if one.job}
    status, listings, scene = await visit.memory.status(), visit.memory.listings, visit.scene()
    again = [one for one in visit.session.retried if all(one != job.id for job in failed)]
    return await visit.show(
        "jobs.html",
        rows=rows,
        retried=[(one, await listings.outcome(scene, one)) for one in again],
        places=places,
        told={one.id: await listings.told(scene, one.job) for one in rows if one.job},
        names=await visit.names_of(places.values()),
        is_working=bool(status.jobs.pending or status.jobs.processing) and not status.paused,
        total=len(failed),
        has_more=len(failed) > visit.offset + PAGE,
        status_now=status,
    )


async def retry(visit: Visit) -> Response:
    """Queue one failed job again, or all; the session keeps which, so that the page shows what became of them."""
    chosen = [visit.sent("id")] if visit.sent("id") else [one.id for one in await visit.memory.failed_jobs()]
    count = await visit.memory.revive(visit.sent("id") or None)
    visit.session.retried = tuple(dict.fromkeys((*chosen, *visit.session.retried)))[:PAGE] if count else ()
    return visit.go("/jobs", notice=visit.words("jobs.revived", count=count))


async def pause(visit: Visit) -> Response:
    """Pause the historian if the form's ``wish`` is "pause", else let it continue."""
    if visit.sent("wish") == "pause":
        await visit.memory.pause()
    else:
        await visit.memory.resume()
    return visit.go("/jobs", notice=visit.words("people.done"))


async def report(visit: Visit) -> Response:
    """Show the quality report; texts are compared, which takes seconds, only on request."""
    examine = visit.asked("examine") == "yes"
    return await visit.show_found(
        "report.html", _report_values(visit, examine=examine), examine=examine, most=MOST_ROWS
    )


async def _report_values(visit: Visit, *, examine: bool) -> Found:
    found = await visit.memory.report(visit.scene(), days=DAYS, examine=examine)
    shown = (*found.places[:MOST_ROWS], *found.teachers[:MOST_ROWS])
    return {"report": found, "names": await visit.names_of(one.scope for one in shown)}


PAGES = (
    ("GET", "/running", running),
    ("POST", "/running/examine", examine),
    ("GET", "/records", records),
    ("GET", "/jobs", jobs),
    ("POST", "/jobs/retry", retry),
    ("POST", "/jobs/pause", pause),
    ("GET", "/report", report),
)
