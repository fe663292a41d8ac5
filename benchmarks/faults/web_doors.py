"""A14b, A15b, A16b: the doors of the console and of agents (MCP), beside those of the HTTP interface."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any
from urllib.parse import urlencode

from tests.support.http_world import BELIEF, EVENT, GROUP_ID, PERSON, PIN
from tests.support.raw_http import Header, RawAnswer, RawRequest, bearer

from ..fault_row import Extent, Row
from .http_bots import CANARY, JSON_TYPE, TOKEN, TOKENS, Seen, a_bot, is_let_in, paced, rows
from .http_gates import HOSTS

CONSOLE = "/memory/console"
AGENT_TOKEN, STRANGER, STRANGERS_GROUP = "an-agent-of-another-group", "3999999", "39999"
AGENTS = json.dumps([{"token": AGENT_TOKEN, "user": STRANGER, "group": STRANGERS_GROUP}])
METRICS_TOKEN, METRICS = "a-token-of-a-scraper", b"/memory/metrics"
_HTTP = "COGNITIVE_MEMORY__HTTP__"
ENV = f"{TOKENS['token'][0]}\n{_HTTP}AGENTS={AGENTS}\n{_HTTP}METRICS_TOKEN={METRICS_TOKEN}"
FORM: Header = ("Content-Type", b"application/x-www-form-urlencoded")
ORIGIN: Header = ("Origin", b"http://127.0.0.1")
PLACE = f"group/{GROUP_ID}"
PAGES = (
    *("/", "/memories", f"/memories/open?id={EVENT}", f"/question?place={PLACE}&user_id={PERSON}&text=x", "/people"),
    *(f"/people/open?id={PERSON}", "/places", f"/places/open?place={PLACE}", f"/beliefs?group={GROUP_ID}"),
    *(f"/beliefs/open?group={GROUP_ID}&id={BELIEF}", "/jobs", "/settings", "/report", "/transfers", "/question/cases"),
    *("/transfers/download", "/suggestions", f"/suggestions?group={GROUP_ID}"),
)
FORMS: Mapping[str, Mapping[str, str]] = {
    "/memories/change": {"id": EVENT, "action": "forget", "sure": "yes"},
    "/memories/correct": {"id": EVENT, "text": "改掉"},
    "/memories/undo": {},
    "/question/missed": {"event": EVENT, "place": PLACE, "user_id": PERSON, "text": "x"},
    "/question/drop": {"id": "x"},
    "/people/consent": {"id": PERSON, "wish": "optout"},
    "/people/erase": {"id": PERSON, "sure": PERSON},
    "/profiles/restore": {"key": f"member/{GROUP_ID}/{PERSON}", "revision": "1"},
    "/places/switch": {"place": PLACE, "switch": "off"},
    "/places/erase": {"place": PLACE, "sure": GROUP_ID},
    "/beliefs/change": {"group": GROUP_ID, "id": BELIEF, "action": "retire"},
    "/jobs/retry": {},
    "/jobs/pause": {"wish": "pause"},
    "/settings/change": {"key": "query.auto_top_k", "value": "1"},
    "/transfers/begin": {"kind": "backup"},
    "/transfers/cancel": {"kind": "backup"},
    "/transfers/discard": {},
    "/suggestions/decide": {"group": GROUP_ID, "id": "x", "action": "dismiss"},
    "/language": {"language": "en"},
    "/logout": {},
}
CREDENTIALS: Sequence[Sequence[Header]] = (
    [],
    [bearer(TOKEN)],
    [("Cookie", b"cognitive_memory_console=")],
    [("Cookie", f"cognitive_memory_console={TOKEN}".encode())],
    [("Cookie", b"cognitive_memory_console=" + b"A" * 43)],
    [("Cookie", "cognitive_memory_console=\u5bc6".encode())],
    [("Cookie", b"cognitive_memory_console=" + b"x" * 6_000)],
    [("X-Forwarded-User", b"admin"), ("X-Original-URL", b"/login")],
)
MCP_TOKENS = (
    "",
    "wrong",
    TOKEN[:-1],
    f"{TOKEN}x",
    AGENT_TOKEN.upper(),
    f"{AGENT_TOKEN}, {TOKEN}",
    "\u5bc6\u94a5",
    "x" * 6_000,
)
ACCEPT: Header = ("Accept", b"application/json, text/event-stream")
LIES: Sequence[Sequence[Header]] = (
    [],
    [("X-Memory-User", PERSON.encode()), ("X-Memory-Group", GROUP_ID.encode())],
    [("X-Memory-Agent", b"default"), ("Mcp-Session-Id", GROUP_ID.encode())],
)


async def a14b(extent: Extent) -> Row:
    """Open pages, forms and tools without a session or a token; none may be answered."""
    return await _run(_strangers, extent.of(1, 12))


async def a15b(extent: Extent) -> Row:
    """Send forms of other sites in a logged-in browser, and its cookie to other hosts; nothing may be carried out."""
    return await _run(_other_sites, extent.of(1, 12))


async def a16b(extent: Extent) -> Row:
    """Let an agent ask for another group by arguments, ids and headers; nothing of it may be read or changed."""
    return await _run(_leaving, extent.of(1, 4))


async def _run(attempts: Any, every: int) -> Row:
    seen = Seen()
    async with a_bot(ENV) as bot:
        session = await _session(bot.port) if attempts is _other_sites else ""
        before = rows(bot)
        for number, (name, request, is_bad) in enumerate(attempts(session)):
            if number % every == 0:
                answer = await paced(request, bot.port, AGENT_TOKEN)
                seen.note(f"{name} {request.target[:60]!r}", answer, is_bad=is_bad(answer))
        changed = rows(bot) != before
    note = f"lost: answered; twice: 500s and changes; answers {seen.told}; first: {seen.first}"
    return Row(seen.sent, seen.passed, seen.crashed + changed, note=note)


async def _session(port: int) -> str:
    """Log in by the token; return the cookie."""
    body = urlencode({"secret": TOKEN}).encode()
    answer = await RawRequest("POST", f"{CONSOLE}/login".encode(), [FORM, ORIGIN], body).sent(port)
    found = re.search(r"cognitive_memory_console=([\w-]+)", answer.text)
    if found is None:
        raise RuntimeError(answer.text[:200])
    return found[1]


def _strangers(_session: str) -> Iterator[tuple[str, RawRequest, Any]]:
    for given, path in product(CREDENTIALS, PAGES):
        yield "page", RawRequest("GET", f"{CONSOLE}{path}".encode(), given), _is_shown
        query = f"{'&' if '?' in path else '?'}token={TOKEN}&secret={TOKEN}"
        yield "token in the address", RawRequest("GET", f"{CONSOLE}{path}{query}".encode(), given), _is_shown
    for given, (path, fields) in product(CREDENTIALS, FORMS.items()):
        body = urlencode({**fields, "form_token": ""}).encode()
        yield "form", RawRequest("POST", f"{CONSOLE}{path}".encode(), [*given, FORM, ORIGIN], body), _is_shown
    for number in range(60):
        body = urlencode({"secret": secrets.token_hex(5) if number % 2 else f"{number:010d}"}).encode()
        yield "guess", RawRequest("POST", f"{CONSOLE}/login".encode(), [FORM, ORIGIN], body), _is_opened
    for token, (method, params) in product(MCP_TOKENS, _asked()):
        headers = [ACCEPT, JSON_TYPE, *([("Authorization", f"Bearer {token}".encode())] if token else [])]
        yield "MCP", RawRequest("POST", b"/memory/mcp", headers, _rpc(method, params)), is_let_in
    for token, method in product((*MCP_TOKENS, AGENT_TOKEN, METRICS_TOKEN[:-1]), ("GET", "HEAD", "POST")):
        headers = [("Authorization", f"Bearer {token}".encode())] if token else []
        yield "metrics", RawRequest(method, METRICS, headers), is_let_in
        yield "metrics by address", RawRequest(method, METRICS + b"?token=" + METRICS_TOKEN.encode(), []), is_let_in


def _other_sites(session: str) -> Iterator[tuple[str, RawRequest, Any]]:
    cookie: Header = ("Cookie", f"cognitive_memory_console={session}".encode())
    origins: Sequence[Sequence[Header]] = (
        [("Origin", b"https://evil.example.com")],
        [("Origin", b"null")],
        [("Origin", b"http://127.0.0.1.evil.example")],
        [],
        [ORIGIN, ("Sec-Fetch-Site", b"cross-site")],
        [ORIGIN, ("Sec-Fetch-Site", b"same-site")],
        [ORIGIN, ("Sec-Fetch-Site", b"none")],
        [ORIGIN],  # the right origin without the session's form token
    )
    kinds = (FORM, ("Content-Type", b"text/plain"), JSON_TYPE, ("Content-Type", b"multipart/form-data; boundary=x"))
    for origin, kind, (path, fields) in product(origins, kinds, FORMS.items()):
        for form_token in ("", "guess"):
            body = urlencode({**fields, "form_token": form_token}).encode()
            headers = [cookie, kind, *origin]
            yield "foreign form", RawRequest("POST", f"{CONSOLE}{path}".encode(), headers, body), _is_carried_out
    for path in FORMS:
        yield (
            "form by GET",
            RawRequest("GET", f"{CONSOLE}{path}?{urlencode(FORMS[path])}".encode(), [cookie]),
            _is_carried_out,
        )
        for method in ("PUT", "DELETE", "PATCH"):
            yield "method", RawRequest(method, f"{CONSOLE}{path}".encode(), [cookie, ORIGIN]), _is_carried_out
    for host, path in product(HOSTS, PAGES[:3]):
        yield "Host", RawRequest("GET", f"{CONSOLE}{path}".encode(), [cookie], host=host), _is_shown
    for target in (b"/memory/status", b"/memory/events?user_id=1", b"/memory/mcp", b"/memory/metrics"):
        yield "cookie elsewhere", RawRequest("GET", target, [cookie]), is_let_in


def _leaving(_session: str) -> Iterator[tuple[str, RawRequest, Any]]:
    for lie, (method, params), path in product(
        LIES, _asked(), ("/memory/mcp", f"/memory/mcp?user={PERSON}&group={GROUP_ID}")
    ):
        headers = [ACCEPT, JSON_TYPE, bearer(AGENT_TOKEN), *lie]
        yield method, RawRequest("POST", path.encode(), headers, _rpc(method, params)), _tells
    for target in ("/memory/status", "/memory/events", "/memory/export", "/memory/metrics", f"{CONSOLE}/memories"):
        for method in ("GET", "POST"):
            yield "elsewhere", RawRequest(method, target.encode(), [bearer(AGENT_TOKEN), JSON_TYPE], b"{}"), is_let_in
    for (method, params), target in product(_asked(), ("/memory/mcp", "/memory/status", "/memory/events")):
        headers = [ACCEPT, JSON_TYPE, bearer(METRICS_TOKEN), *LIES[1]]
        yield (
            "by the token of the metrics",
            RawRequest("POST", target.encode(), headers, _rpc(method, params)),
            is_let_in,
        )
    for path in PAGES:
        yield (
            "by the token of the metrics",
            RawRequest("GET", f"{CONSOLE}{path}".encode(), [bearer(METRICS_TOKEN)]),
            _is_shown,
        )
    body = urlencode({"secret": METRICS_TOKEN}).encode()
    yield (
        "by the token of the metrics",
        RawRequest("POST", f"{CONSOLE}/login".encode(), [FORM, ORIGIN], body),
        _is_opened,
    )


def _asked() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield requests of the protocol that name another place, its people and the ids of what is in it."""
    everywhere = {
        "target_group_id": GROUP_ID, "target_user_id": PERSON, "group_id": GROUP_ID, "group": GROUP_ID,
        "user": PERSON, "user_id": PERSON, "scene": PLACE, "agent": "default",
    }  # fmt: skip
    calls: Sequence[tuple[str, Mapping[str, Any]]] = (
        *(
            ("search_events", {"query": CANARY, **part})
            for part in ({}, everywhere, {"target_group_id": f"({GROUP_ID})"})
        ),
        *(("search_events", {"query": CANARY, "target_user_id": one}) for one in (PERSON, f"x({PERSON})", GROUP_ID)),
        *(
            ("get_profile", {"entity_type": kind, "entity_id": one})
            for kind in ("user", "member", "group", "群", "成员")
            for one in (PERSON, GROUP_ID, f"{GROUP_ID}/{PERSON}", f"../{GROUP_ID}/{PERSON}", f"x({PERSON})")
        ),
        *(
            ("search_profiles", {"query": CANARY, "entity_type": kind, **part})
            for part in ({}, everywhere)
            for kind in ("user", "member", "group")
        ),
        *(
            (name, {**arguments, **part})
            for part in ({}, everywhere)  # arguments that a tool does not have are refused
            for name, arguments in (
                ("context", {"query": CANARY}),
                ("beliefs", {"query": CANARY}),
                ("beliefs", {}),
                ("memory_list", {}),
                ("memory_update", {"id": PIN, "fact": "改掉"}),
                ("memory_delete", {"id": PIN}),
            )
        ),
    )
    for name, arguments in calls:
        yield "tools/call", {"name": name, "arguments": dict(arguments)}
        yield "tools/call", {"name": name, "arguments": json.dumps(arguments)}
    for uri in (f"member/{GROUP_ID}/{PERSON}", f"group/{GROUP_ID}", f"user/{PERSON}", f"group/../{GROUP_ID}"):
        yield "resources/read", {"uri": f"memory://profiles/{uri}"}
        yield "resources/read", {"uri": f"memory://profiles/{uri.replace('/', '%2F')}"}
    yield "resources/list", {}
    yield "tools/list", {"_meta": everywhere}


def _rpc(method: str, params: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _tells(answer: RawAnswer) -> bool:
    """Return whether an answer holds what was stored elsewhere; the question itself repeats nothing."""
    return CANARY in answer.text or "\\u5bc6\\u8bed" in answer.text


def _is_shown(answer: RawAnswer) -> bool:
    """Return whether a page was shown: only the log-in may be."""
    return CANARY in answer.text or (answer.is_success and 'name="secret"' not in answer.text)


def _is_opened(answer: RawAnswer) -> bool:
    return "set-cookie: cognitive_memory_console=" in answer.text.lower()


def _is_carried_out(answer: RawAnswer) -> bool:
    """Return whether a form was accepted: it then leads to the next page, or asks whether it is meant."""
    return answer.is_success or (answer.status == 303 and "/login" not in answer.text)
