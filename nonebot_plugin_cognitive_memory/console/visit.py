"""One request to a page: its parameters, the operator's session, and the ways to answer it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

import cognitive_memory_core as core

from ..http.routes import Backing
from .pages import LANGUAGES, Halves, Words, language_of, rendered, words_for
from .records import Records
from .running_transfers import Transfers
from .sessions import Session, Undo

PAGE = 50  # rows of one page of a list
MOST_PAGES = 10_000
OFFERED = 40  # places or people of a form
ALIKE = 9  # people with a name in it that is looked up
QUICK = 0.05  # seconds for which a page waits before what stands above the awaited part is sent
ARRIVED = '<span class="arrived"></span>'  # the style sheet then hides that something is awaited
Found = Mapping[str, object]
ROOTS = {"today": "/", "cases": "/question/cases"}  # of pages whose address is not their name
NAVIGATION = tuple(  # groups, each with the accent of the heads of its pages
    (group, accent, tuple((ROOTS.get(page, f"/{page}"), page) for page in pages.split()))
    for group, accent, pages in (
        ("memory", "person", "today memories lines"),
        ("people", "group", "people places beliefs suggestions"),
        ("question", "figures", "question cases"),
        ("running", "status", "running jobs settings prompts report transfers records"),
    )
)
ACCENTS = {page: accent for _, accent, pages in NAVIGATION for _, page in pages}


@dataclass(frozen=True)
class ConsoleContext:
    """What all pages share: the memory, its settings and data directory, running transfers, and our own records."""

    backing: Backing
    data_dir: Path | None = None
    transfers: Transfers = field(default_factory=Transfers)
    records: Records = field(default_factory=Records)
    examining: asyncio.Lock = field(default_factory=asyncio.Lock)  # one at a time


class Changed(core.MistakeError):
    """What a form changes was changed by somebody else since the form was shown."""


@dataclass(frozen=True)
class Visit:
    """A request to a page, with the operator's session; ``fields`` are those of the form that it sent."""

    request: Request
    context: ConsoleContext
    session: Session
    fields: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def memory(self) -> core.CognitiveMemory:
        """The memory."""
        return self.context.backing.memory()

    @property
    def settings(self) -> core.Settings:
        """The settings in force."""
        return self.context.backing.settings()

    @property
    def zone(self) -> tzinfo:
        """The time zone in which times are shown and read."""
        return self.settings.zone

    @property
    def now(self) -> datetime:
        """The present, by the memory's clock."""
        return self.memory.listings.clock.now().astimezone(self.zone)

    @property
    def agent(self) -> str:
        """The agent whose memory is shown."""
        return self.asked("agent") or self.settings.agent

    @property
    def language(self) -> str:
        """The language of the page."""
        return language_of(self.request.headers)

    @property
    def words(self) -> Words:
        """The sentences of the page."""
        return words_for(self.language)

    @property
    def base(self) -> str:
        """The address of the console."""
        return self.request.scope.get("root_path", "")

    @property
    def page(self) -> int:
        """The requested page number of a list, from 1 on."""
        return min(max(self.number("page", 1), 1), MOST_PAGES)

    @property
    def offset(self) -> int:
        """The number of rows before that page."""
        return (self.page - 1) * PAGE

    def parts_named(self, parts: Iterable[str]) -> str:
        """Return the names, in the language of the page, of the memory's parts that an answer lacks."""
        return "、".join(self.named(f"degraded.{part}", part) for part in parts)

    def scene(self, group_id: str | None = None) -> core.Scene:
        """Return the operator's scene, in a group if one is given."""
        return core.Scene.operator(self.agent, group_id=group_id)

    def asked(self, name: str) -> str:
        """Return a query parameter without surrounding spaces; "" if it is missing."""
        return self.request.query_params.get(name, "").strip()

    def sent(self, name: str) -> str:
        """Return a field of the form; "" if it is missing."""
        return self.fields.get(name, [""])[0]

    async def person(self, said: str) -> tuple[str, str]:
        """Return id and name of the person whom an id tells, or a name that one person alone has.

        For anybody else, both are what was said.
        """
        found = await self.memory.listings.people(self.scene(), said, ALIKE, 0) if said else []
        same = [one for one in found if said in (one.user_id, one.name)] or found
        return (same[0].user_id, same[0].name or said) if len(same) == 1 else (said, said)

    async def is_person(self, user_id: str) -> bool:
        """Return whether this is a number, or the id of somebody whose name is known."""
        return user_id.isdigit() or bool((await self.memory.listings.person(self.scene(), user_id)).name)

    def number(self, name: str, default: int) -> int:
        """Return a query parameter as a whole number; ``default`` if it is none."""
        text = self.asked(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default  # noqa: PLR2004  # digits

    async def offered_places(
        self, chosen: core.Scope | None, kind: core.PlaceKind | None = None
    ) -> list[core.PlaceEntry]:
        """Return the places that a form offers: the most recently active ones, and always the chosen one."""
        latest = await self.latest_places(OFFERED, kind=kind)
        if chosen is None or any(one.scope == chosen for one in latest):
            return latest
        asked = core.PlaceListing(chosen, is_counted=False)
        return [*(await self.memory.listings.places(self.scene(), asked, 1) or [core.PlaceEntry(chosen)]), *latest]

    async def latest_places(
        self, limit: int, *, kind: core.PlaceKind | None = None, is_counted: bool = False
    ) -> list[core.PlaceEntry]:
        """Return the places with the latest events and lines."""
        return await self.memory.listings.places(
            self.scene(), core.PlaceListing(kind=kind, is_counted=is_counted), limit
        )

    async def names_of(self, places: Iterable[core.Scope]) -> dict[core.Scope, str]:
        """Return the latest names of places; "" for one without a name."""
        distinct = set(places)
        return await self.memory.listings.place_names(self.scene(), distinct) if distinct else {}

    async def people_named(self, user_ids: Iterable[str]) -> dict[str, str]:
        """Return the names of people by id; an id without a name stands for itself."""
        distinct = set(user_ids) - {"", "operator"}
        found = await self.memory.listings.people_names(self.scene(), distinct) if distinct else {}
        return {**dict(zip(distinct, distinct, strict=True)), **found}

    def named(self, key: str, default: str) -> str:
        """Return the word of a key in the language of the page; the default if there is none."""
        return LANGUAGES[self.language].get(key, default)

    def purpose(self, name: str) -> str:
        """Return what a model or a part is for."""
        return self.named(f"purpose.{name}", name)

    def place(self, text: str) -> core.Scope | None:
        """Return the place that an address or a form names as "group/ID" or "private/ID"; None for anything else."""
        kind, slash, place_id = text.partition("/")
        if not slash or not place_id or kind not in ("group", "private"):
            return None
        return core.Scope(self.agent, "group" if kind == "group" else "private", place_id)

    def scene_of_person(self, place: core.Scope | None, user_id: str) -> core.Scene | None:
        """Return the scene of a person in a place; None without a place, or for a group without a person."""
        if place is None or place.kind == "private":
            return place and core.Scene.private(place.place_id, agent=place.agent)
        return core.Scene.group(place.place_id, user_id, agent=place.agent) if user_id else None

    def day(self, name: str, *, is_end: bool = False) -> datetime | None:
        """Return the midnight at the beginning or end of the day in a query parameter; None if that is no valid day."""
        try:
            day = datetime.strptime(self.asked(name), "%Y-%m-%d").date()  # noqa: DTZ007  # a date has no zone
            return datetime.combine(day + timedelta(days=is_end), time(), tzinfo=self.zone)
        except (ValueError, OverflowError):
            return None

    def address(self, path: str = "", **parameters: object) -> str:
        """Return the address of a page."""
        given = {name: value for name, value in parameters.items() if value not in ("", None)}
        return f"{self.base}{path}{'?' if given else ''}{urlencode(given)}"

    @property
    def here(self) -> str:
        """The address of this page below the console, for links back to it; of the first page if a form was sent."""
        if self.request.method != "GET":
            return "/"
        query = self.request.url.query
        return f"{self.request.url.path.removeprefix(self.base) or '/'}{'?' if query else ''}{query}"

    @staticmethod
    def paged(found: Sequence[Any]) -> dict[str, Any]:
        """Return the rows of a page, and whether there are more, of which at least one was read."""
        return {"rows": found[:PAGE], "has_more": len(found) > PAGE}

    async def show(self, template: str, *, status: int = 200, **values: object) -> Response:
        """Answer with a page, rendered in a thread."""
        return HTMLResponse(await asyncio.to_thread(rendered, template, self._filled(values)), status)

    async def show_found(self, template: str, finding: Coroutine[Any, Any, Found], **values: object) -> Response:
        """Answer with a page that ends with the results of ``finding``.

        If ``finding`` takes longer than :data:`QUICK` seconds, the part of the page above them is sent first,
        with a note that results follow.
        """
        filled = self._filled(values)
        try:  # before the search begins, which would take the interpreter's lock from it
            page = Halves(template, filled)
            above = await asyncio.to_thread(page.above)
        except BaseException:
            finding.close()
            raise
        task = asyncio.create_task(finding)
        done, _ = await asyncio.wait((task,), timeout=QUICK)
        if done:
            return HTMLResponse(above + await asyncio.to_thread(page.below, task.result()))
        return StreamingResponse(self._parts(page, task, filled, above), media_type="text/html")

    async def _parts(
        self, page: Halves, task: asyncio.Task[Found], filled: Found, above: str
    ) -> AsyncGenerator[str, None]:
        """Yield the part of a page above the results with a note, then the results, or the reason for none."""
        try:
            yield f'{above}<p class="awaited muted" role="status">{self.words("page.awaited")}</p>'
            try:
                yield ARRIVED + await asyncio.to_thread(page.below, await task)
            except core.CognitiveMemoryError as error:
                yield await asyncio.to_thread(rendered, "not_found.html", {**filled, "reason": str(error)})
        finally:
            task.cancel()  # the browser left

    def _filled(self, values: Found) -> Found:
        """Return these values together with those that every template needs, and clear the session's notice."""
        session = self.session
        usual = {
            "visit": self,
            "notice": session.notice,
            "said_so": session.reported,
            "t": self.words,
            "at": session.at,
        }
        session.notice, session.reported, session.at = "", (), ""
        return {**usual, "navigation": NAVIGATION, "accents": ACCENTS, **values}

    def go(
        self,
        path: str,
        *,
        notice: str = "",
        at: str = "",
        reported: Iterable[object] = (),
        undo: Undo | None = None,
        **parameters: object,
    ) -> Response:
        """Redirect to a page, which shows the notice and offers to undo the change.

        ``at`` is the id of the part of the page where that was done: the notice is shown there, and in view.
        """
        session, said = self.session, tuple(map(str, reported))
        if notice or said:
            session.notice, session.reported, session.undo, session.at = notice, said, undo, at
        return RedirectResponse(f"{self.address(path, **parameters)}{'#' if at else ''}{at}", 303)


Page = Callable[[Visit], Awaitable[Response]]
