"""A14 to A16 and A33: HTTP, console and MCP of a bot whose memory holds canaries, tried byte by byte from outside.

A row yields attempts, each with what it is called, its request, and a function that tells from the answer whether it
got what it should not. Lost are attempts that got it; twice are answers of 500 and attempts that changed something.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import secrets
import statistics
import tempfile
import timeit
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import nonebot

import cognitive_memory_core as core
from tests.plugin.web import served
from tests.support.http_world import BELIEF, EVENT, GROUP_ID, OLD_BELIEF, PERSON, PIN, REVISION, plant
from tests.support.onebot import BotProcess, data_of
from tests.support.openapi_client import Operation, operations
from tests.support.raw_http import Header, RawAnswer, RawRequest, bearer

from ..fault_row import Extent, Row, told
from .bots import Tried, a_bot, rows_of

Attempt = tuple[str, RawRequest, Callable[[RawAnswer], bool]]
TOKEN, WIDE_TOKEN = "8f2c1b7e90d3a4f5", "操作令牌-八月十五-月正圆"
CANARY = "密语七四一"
EXACT = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
HTTP = "COGNITIVE_MEMORY__HTTP__"
TOKENS = {  # the line in .env, and the token that opens
    "token": (f"{HTTP}TOKEN={TOKEN}", TOKEN),
    "token in Chinese": (f"{HTTP}TOKEN={WIDE_TOKEN}", WIDE_TOKEN),
    "empty": (f"{HTTP}TOKEN=", ""),
    "blank": (f'{HTTP}TOKEN="   "', ""),
    "none": ("", ""),
}
AGENT_TOKEN, STRANGER, STRANGERS_GROUP = "an-agent-of-another-group", "3999999", "39999"
METRICS_TOKEN, METRICS, CONSOLE = "a-token-of-a-scraper", b"/memory/metrics", "/memory/console"
AGENTS = json.dumps([{"token": AGENT_TOKEN, "user": STRANGER, "group": STRANGERS_GROUP}])
EVERY_DOOR = f"{TOKENS['token'][0]}\n{HTTP}AGENTS={AGENTS}\n{HTTP}METRICS_TOKEN={METRICS_TOKEN}"
JSON_TYPE: Header = ("Content-Type", b"application/json")
FORM: Header = ("Content-Type", b"application/x-www-form-urlencoded")
ACCEPT: Header = ("Accept", b"application/json, text/event-stream")
ORIGIN: Header = ("Origin", b"http://127.0.0.1")
TRIALS = 400  # tens of checks of a token, for its time


@asynccontextmanager
async def _a_bot(env: str) -> AsyncGenerator[BotProcess, None]:
    """Run a bot whose memory holds canaries, until its memory is open."""

    async def lay(home: Path) -> None:
        async with core.CognitiveMemory.open(EXACT, data_of(home), background=False) as memory:
            await plant(memory, home, canary=CANARY)

    async with a_bot([f"{HTTP}HOSTS=memory.example.com", env], lay=lay) as bot:
        await bot.opened()
        async with bot.client():  # it listens
            pass
        yield bot


async def _tried(bot: BotProcess, attempts: Iterable[Attempt], seen: Tried, every: int) -> None:
    """Send every so many attempts to a bot, and compare what a request could change before and after."""
    queries = ("SELECT id, retired_at FROM events", "SELECT id, text FROM pins", "SELECT * FROM belief_changes")
    before = rows_of(bot.data, *queries)
    for what, request, is_bad in islice(attempts, 0, None, every):
        answer = await _paced(request, bot.port)
        is_wrong, which = is_bad(answer), f"{what} {request.target[:60]!r} {request.host!r}"
        seen.note(which, answer.status, answer.body, is_bad=is_wrong)
    seen["twice"] += rows_of(bot.data, *queries) != before


async def _paced(request: RawRequest, port: int) -> RawAnswer:
    """Send a request, again if a known token asked too fast."""
    answer = await request.sent(port)
    known = (TOKEN.encode(), AGENT_TOKEN.encode())
    is_known = any(name == "Authorization" and value.endswith(known) for name, value in request.headers)
    for _ in range(100):
        if answer.status != 429 or not is_known:
            break
        await asyncio.sleep(0.2)
        answer = await request.sent(port)
    return answer


async def _document(port: int) -> list[Operation]:
    """Return the operations that a bot's document describes."""
    answer = await RawRequest(target=b"/memory/openapi.json", headers=[bearer(TOKEN)]).sent(port)
    return list(operations(json.loads(answer.body)))


def _path_of(operation: Operation) -> bytes:
    """Return the path of an operation, with the ids of things that exist."""
    own = {"memory_id": BELIEF, "event_id": EVENT, "pin_id": PIN, "group_id": GROUP_ID, "entity_type": "member"}
    path = operation.path
    for name, value in {**own, "entity_id": f"{GROUP_ID}/{PERSON}"}.items():
        path = path.replace("{" + name + "}", value)
    return b"/memory" + path.encode()


def _is_let_in(answer: RawAnswer) -> bool:
    """Return whether an answer carries out a request or tells what is stored; the console's log-in page does not."""
    return CANARY in answer.text or (answer.is_success and "text/html" not in answer.text.partition("\r\n\r\n")[0])


def _load_plugin(driver: str) -> None:
    """Load the plugin into this process; no bot starts."""
    nonebot.init(driver=driver, localstore_data_dir=tempfile.gettempdir(), log_level="ERROR")
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")


# A14: without the token.


async def a14(extent: Extent) -> Row:
    """Ask every route without the token, in every way, of bots with several settings; none may be carried out."""
    seen = Tried()
    async with _a_bot(TOKENS["token"][0]) as bot:
        described = await _document(bot.port)
    for name, (line, token) in list(TOKENS.items())[: extent.of(len(TOKENS), 2)]:
        ways = list(_wrong_ways(token or TOKEN, random.Random(extent.seed)))
        async with _a_bot(line) as bot:
            if token and not (await RawRequest(headers=[bearer(token)]).sent(bot.port)).is_success:
                seen.wrong("lost", f"{name}: the right token is refused")
            await _tried(bot, _unauthorised(name, described, ways), seen, extent.of(1, 40))
    note = f"{len(TOKENS)} settings, {len(described)} routes; the check takes {await _check_times()}"
    return seen.row(seen.pop("sent"), note)


def _unauthorised(
    name: str, described: Sequence[Operation], ways: Sequence[tuple[list[Header], bytes, bytes]]
) -> Iterator[Attempt]:
    """Yield requests of every route with every wrong way to give a token."""
    for operation, (worn, query, given) in product(described, ways):
        body = given or (json.dumps(operation.body()).encode() if operation.body() else b"")
        headers = [*worn, *([JSON_TYPE] if body else [])]
        yield name, RawRequest(operation.method.upper(), _path_of(operation) + query, headers, body), _is_let_in


def _wrong_ways(token: str, dice: random.Random) -> Iterator[tuple[list[Header], bytes, bytes]]:
    """Yield headers, query and body of requests that do not carry the token where it belongs."""
    raw, authorization = token.encode(), "Authorization"
    quoted = "".join(f"%{byte:02x}" for byte in raw).encode()
    values = [
        b"", b"Bearer", b"Bearer ", b"bearer null", b"Bearer undefined", b"Basic " + base64.b64encode(b"a:" + raw),
        raw, b"Token " + raw, b"Bearer" + raw, b"Bearer:" + raw, b"Bearer \xff\xfe\x80", b"Bearer " + raw + b"\xa0",
        "Bearer 令牌".encode(), "Bearer 令牌".encode("gb18030"), b"Bearer " + base64.b64encode(raw), b"Bearer *",
        b"Bearer " + b"0" * 20_000, b"Bearer ' OR '1'='1", b'Bearer ["' + raw + b'"]', b"Digest " + raw,
    ]  # fmt: skip
    values += [b"Bearer " + one for one in (raw[:-1], raw[1:], raw + b"0", raw + b" " + raw, raw[::-1], quoted)]
    values += [b"Bearer " + _mutated(raw, dice) for _ in range(12)]
    yield [], b"", b""
    yield from (([(authorization, value)], b"", b"") for value in values)
    yield [bearer(token), (authorization, b"Bearer x")], b"", b""
    yield [(authorization, b"Bearer x"), bearer(token)], b"", b""
    for name in ("X-Token", "X-Api-Key", "Proxy-Authorization", "X-Authorization", "Cookie", "X-Forwarded-User"):
        yield [(name, b"token=" + raw if name == "Cookie" else raw)], b"", b""
    for query in (b"?token=", b"?access_token=", b"?authorization=Bearer%20", b"?api_key="):
        yield [], query + quoted, b""
    yield [], b"", json.dumps({"token": token}).encode()


def _mutated(raw: bytes, dice: random.Random) -> bytes:
    """Return other bytes, of which some may be no text; none ends or begins with a space."""
    at = dice.randrange(len(raw))
    other = bytes([dice.choice([byte for byte in range(33, 256) if byte not in (raw[at], 127)])])
    return raw[:at] + other + raw[at + 1 :]


async def _check_times() -> str:
    """Return how long the check takes with no character of the token right, and with all but the last."""
    _load_plugin("~none")
    from nonebot_plugin_cognitive_memory.http.gates import TokenGate  # noqa: PLC0415  # the row loads NoneBot

    async def nothing(*_: Any) -> None:
        """Serve nothing."""

    gate = TokenGate({TOKEN: nothing})
    scopes = [
        {"headers": [(b"authorization", f"Bearer {one}".encode())]} for one in ("x" * len(TOKEN), f"{TOKEN[:-1]}x")
    ]
    taken = [timeit.repeat(partial(gate.token_of, scope), number=10, repeat=TRIALS) for scope in scopes]
    none, most = (statistics.median(each) * 1e5 for each in taken)
    return f"{none:.2f} µs with no character right, {most:.2f} with all but one"


# A15: around the gates.

TARGETS = (
    "/memory", "/memory/", "//memory/status", "/memory//status", "/memory///events", "/memory/./status",
    "/memory/../memory/status", "/memory/x/../status", "/memory/%2e/status", "/memory/%2e%2e/memory/status",
    "/memory%2fstatus", "/memory/%2fstatus", "/memory/status/", "/memory/status%00", "/memory/status%20",
    "/memory/status;a=b", "/memory/status?x=/memory/console/login", "/memory/status#/memory/console/login",
    "/MEMORY/status", "/Memory/Status", "/memory/console/../status", "/memory/console/..%2fstatus",
    "/memory/console/%2e%2e/status", "/memory/console//../events", "/memory/console/static/../../events",
    "/memory/console/static/..%2f..%2fevents", "/memory/mcp/../status", "/memory/openapi.json", "/memory/docs",
    "/memory/redoc", "/openapi.json", "http://evil.example.com/memory/status", "http://127.0.0.1/memory/events",
    "/memory/\\status", "/memory/statu%73", "/%6demory/status", "*",
)  # fmt: skip
HOSTS = (
    "evil.example.com", "evil.example.com:80", "memory.example.com.evil.com", "xmemory.example.com",
    "127.0.0.1.evil.com", "127.0.0.1.nip.io", "localhost.evil.com", "localhosts", "127.0.0.1/memory/console",
    "127.0.0.1?", "127.0.0.1?x=", "127.0.0.1#", "127.0.0.1#@evil.com", "127.0.0.1@evil.com", "evil.com@127.0.0.1",
    "user:pw@127.0.0.1", "127.0.0.1:80:80", "127.0.0.1:x", "[::1", "[::1].evil.com", "::1", "0x7f.1", "2130706433",
    "memory.example.com, evil.com", "memory.example.com/..", "*", "例子.com", "", " ",
)  # fmt: skip
TYPES = (b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x", b"", b"text/json")
TYPES += (b"application/json-patch", b"text/plain; application/json", b"application/jsonp")
OVERRIDES = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")


async def a15(extent: Extent) -> Row:
    """Go around the gates by path, Host, origin, content type and method; none may be carried out."""
    seen = Tried()
    async with _a_bot(TOKENS["token"][0]) as bot:
        await _tried(bot, _tricks(await _document(bot.port)), seen, extent.of(1, 8))
    note = told(paths=len(TARGETS), Hosts=len(HOSTS), content_types=len(TYPES), method_overrides=len(OVERRIDES))
    return seen.row(seen.pop("sent"), note)


def _tricks(described: Sequence[Operation]) -> Iterator[Attempt]:
    for target, method in product(TARGETS, ("GET", "HEAD", "POST", "DELETE")):
        yield "path", RawRequest(method, target.encode()), _is_let_in
    reads = [_path_of(one) for one in described if one.method == "get"]
    for host, target in product(HOSTS, reads):
        yield "Host", RawRequest(target=target, host=host.encode()), _is_let_in
    for host, target in product(HOSTS, reads[:4]):
        yield "Host with token", RawRequest(target=target, host=host.encode(), headers=[bearer(TOKEN)]), _is_let_in
    for host in (b"evil.com", b"127.0.0.1"):
        yield "two Hosts", RawRequest(headers=[("Host", host), bearer(TOKEN)]), _is_let_in
    yield "no Host", RawRequest(host=None, headers=[bearer(TOKEN)]), _is_let_in
    for one, origin in product(described, (b"https://evil.example.com", b"null", b"http://127.0.0.1")):
        asked: list[Header] = [("Origin", origin), ("Access-Control-Request-Method", one.method.upper().encode())]
        asked.append(("Access-Control-Request-Headers", b"authorization,content-type"))
        yield "preflight", RawRequest("OPTIONS", _path_of(one), asked), _allows_origins
        if one.method == "get":
            headers = [("Origin", origin), bearer(TOKEN)]
            yield "origin", RawRequest(target=_path_of(one), headers=headers), _allows_origins
    for one, kind, token in product(described, TYPES, ([], [bearer(TOKEN)])):  # as a page may without asking
        if one.method in ("post", "put"):
            headers = [*token, *([("Content-Type", kind)] if kind else [])]
            body = json.dumps(one.body() or {}).encode()
            yield "simple request", RawRequest(one.method.upper(), _path_of(one), headers, body), _is_let_in
    yield from _other_methods()


def _allows_origins(answer: RawAnswer) -> bool:
    return "access-control-" in answer.text.lower()


def _other_methods() -> Iterator[Attempt]:
    belief = b"/memory/" + BELIEF.encode()
    for override, method, target in product(OVERRIDES, ("GET", "POST", "PUT"), (belief, belief + b"?_method=DELETE")):
        yield "override", RawRequest(method, target, [bearer(TOKEN), (override, b"DELETE")]), _is_let_in
    for method in ("TRACE", "CONNECT", "PATCH", "PROPFIND", "get"):
        yield "method", RawRequest(method, belief, [bearer(TOKEN)]), _is_let_in
    upgrade: list[Header] = [("Upgrade", b"websocket"), ("Connection", b"Upgrade"), ("Sec-WebSocket-Version", b"13")]
    upgrade.append(("Sec-WebSocket-Key", base64.b64encode(b"0" * 16)))
    for target in (b"/memory/status", b"/memory/console", b"/memory/mcp"):
        request = RawRequest(target=target, headers=[bearer(TOKEN), *upgrade])
        yield "WebSocket", request, lambda answer: answer.status == 101
    smuggled = b"0\r\n\r\nDELETE " + belief + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for lengths in ([("Content-Length", b"4"), ("Transfer-Encoding", b"chunked")], [("Content-Length", b"-1")]):
        yield "smuggled", RawRequest("POST", b"/memory/context", [JSON_TYPE, *lengths], smuggled), _is_let_in


# A16: the ids of another agent's things, with the token.

FOREIGN = {
    "memory_id": [f"{one}{suffix}" for one in (BELIEF, OLD_BELIEF) for suffix in "fg"],
    "event_id": [f"{EVENT}{suffix}" for suffix in "fg"],
    "pin_id": [f"{PIN}{suffix}" for suffix in "fg"],
    "group_id": ["10002"],
    "entity_type": ["member"],
    "entity_id": ["10002/2000002"],
}


async def a16(extent: Extent) -> Row:
    """Call every route with the token and the ids of another agent's things; none may be read or changed."""
    dice, seen, unknown = random.Random(extent.seed), Tried(), dict[str, str]()
    async with _two_agents() as (memory, asking):
        described = list(operations((await asking.get("/openapi.json")).json()))
        before = await _others(memory)
        by_name = ("list_events", "list_pins", "export_memory")
        naming = [one for one in described if one.path_names or one.name in by_name]
        for operation in islice(cycle(naming), extent.of(10_000, 400)):
            values, is_foreign = _values(operation, dice)
            answer = await operation.call(asking, values)
            is_read = CANARY in answer.text or (is_foreign and answer.status_code != 404)
            is_other = answer.status_code == 404 and unknown.setdefault(operation.name, answer.text) != answer.text
            seen.note(f"{operation.name} {values}", answer.status_code, answer.text, is_bad=is_read)
            seen.update({"with an id that exists elsewhere": is_foreign, "404s unlike that of nothing": is_other})
        seen["twice"] += sum(now != then for now, then in zip(await _others(memory), before, strict=True))
    return seen.row(seen.pop("sent"), failed=seen["404s unlike that of nothing"])


@asynccontextmanager
async def _two_agents() -> AsyncGenerator[tuple[core.CognitiveMemory, httpx.AsyncClient], None]:
    """Serve a memory in which another agent has the same groups as ours, and one of its own, with canaries."""
    _load_plugin("~fastapi")
    from fastapi import FastAPI  # noqa: PLC0415  # the row loads NoneBot

    from nonebot_plugin_cognitive_memory.http.routes import Backing  # noqa: PLC0415  # as above
    from nonebot_plugin_cognitive_memory.http.site import Site  # noqa: PLC0415  # as above
    from nonebot_plugin_cognitive_memory.limits import TokenBuckets  # noqa: PLC0415  # as above

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        memory = await stack.enter_async_context(core.CognitiveMemory.open(EXACT, folder / "data"))
        await plant(memory, folder)
        await plant(memory, folder, agent="another", suffix="f", canary=CANARY)
        await plant(memory, folder, agent="another", suffix="g", canary=CANARY, group_id="10002", person="2000002")
        app = FastAPI()
        app.mount("/memory", Site(TOKEN, (), Backing(lambda: memory, lambda: EXACT), TokenBuckets(1e9, 10**9)).app)
        base = f"http://127.0.0.1:{await stack.enter_async_context(served(app))}/memory"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client = httpx.AsyncClient(base_url=base, headers=headers, trust_env=False, timeout=60.0)
        yield memory, await stack.enter_async_context(client)


def _values(operation: Operation, dice: random.Random) -> tuple[dict[str, str], bool]:
    """Return ids for a request, and whether they are of something that exists for another agent alone."""
    is_foreign = dice.random() < 0.5
    if operation.name == "export_memory":
        return {"user_id": "2000002" if is_foreign else _guess(dice)}, is_foreign
    wanted = operation.path_names or ["group_id"]
    values = {name: dice.choice(FOREIGN[name]) if is_foreign else _guess(dice) for name in wanted}
    if "entity_type" in values:
        values["entity_type"] = "member"
        values["entity_id"] = "10002/2000002" if is_foreign else f"{_guess(dice)}/{_guess(dice)}"
    return values, is_foreign


def _guess(dice: random.Random) -> str:
    """Return an id that exists nowhere: guessed, mutated, of another kind, or a trick of a store or a file system."""
    foreign = dice.choice([one for name, ids in FOREIGN.items() if name != "entity_id" for one in ids])
    tricks = (f"{foreign}' OR '1'='1", "%", "*", "..%2f..%2fanother", f"another.{foreign}"[:60], "１０００２")
    mutated = (foreign[:-2] + "zz", f"{foreign}0", foreign.upper() + "X")
    guessed = (secrets.token_hex(16), str(dice.randrange(10**9, 10**10)), REVISION)
    return dice.choice((*tricks, *mutated, *guessed))


async def _others(memory: core.CognitiveMemory) -> list[Any]:
    """Return everything of the other agent that a request could change."""
    rows: list[Any] = [await memory.events(core.Scene.operator("another"), limit=200)]
    for group in (GROUP_ID, "10002"):
        scene = core.Scene.operator("another", group_id=group)
        rows += [await memory.pins(scene), await memory.beliefs(scene, status="all")]
        rows.append(await memory.belief_changes(scene))
    return rows


# A14b, A15b, A16b: the console, and agents at MCP.

PLACE = f"group/{GROUP_ID}"
PAGES = (
    *("/", "/memories", f"/memories/open?id={EVENT}", f"/question?place={PLACE}&user_id={PERSON}&text=x", "/people"),
    *(f"/people/open?id={PERSON}", "/places", f"/places/open?place={PLACE}", f"/beliefs?group={GROUP_ID}"),
    *(f"/beliefs/open?group={GROUP_ID}&id={BELIEF}", "/jobs", "/settings", "/report", "/transfers", "/question/cases"),
    *("/running", "/lines", f"/lines?place={PLACE}", "/prompts", "/records"),
    *("/transfers/download", "/suggestions", f"/suggestions?group={GROUP_ID}"),
)
FORMS: Mapping[str, Mapping[str, str]] = {
    "/memories/change": {"id": EVENT, "action": "forget", "sure": "yes"},
    "/memories/correct": {"id": EVENT, "text": "改掉"},
    "/memories/undo": {},
    "/memories/add": {"place": PLACE, "user_id": PERSON, "text": "x"},
    "/question/missed": {"event": EVENT, "place": PLACE, "user_id": PERSON, "text": "x"},
    "/question/drop": {"id": "x"},
    "/people/consent": {"id": PERSON, "wish": "optout"},
    "/people/erase": {"id": PERSON, "sure": PERSON},
    "/profiles/restore": {"key": f"member/{GROUP_ID}/{PERSON}", "revision": "1"},
    "/profiles/edit": {"key": f"member/{GROUP_ID}/{PERSON}", "text": "改掉"},
    "/places/switch": {"place": PLACE, "switch": "off"},
    "/places/erase": {"place": PLACE, "sure": GROUP_ID},
    "/beliefs/change": {"group": GROUP_ID, "id": BELIEF, "action": "retire"},
    "/beliefs/evolve": {"group": GROUP_ID},
    "/pins/change": {"place": PLACE, "id": PIN, "text": "改掉", "action": "save"},
    "/jobs/retry": {},
    "/jobs/pause": {"wish": "pause"},
    "/settings/change": {"key": "query.auto_top_k", "value": "1"},
    "/running/examine": {},
    "/prompts/try": {"name": "triage", "template": "x"},
    "/transfers/import": {"file": "x"},
    "/transfers/begin": {"kind": "backup", "place": PLACE},
    "/transfers/cancel": {"kind": "backup"},
    "/transfers/discard": {},
    "/suggestions/decide": {"group": GROUP_ID, "id": "x", "action": "dismiss"},
    "/language": {"language": "en"},
    "/logout": {},
}
COOKIES = (b"", TOKEN.encode(), b"A" * 43, "\u5bc6".encode(), b"x" * 6_000)
CREDENTIALS: Sequence[Sequence[Header]] = (
    [],
    [bearer(TOKEN)],
    *([("Cookie", b"cognitive_memory_console=" + cookie)] for cookie in COOKIES),
    [("X-Forwarded-User", b"admin"), ("X-Original-URL", b"/login")],
)
MCP_TOKENS = (
    *("", "wrong", TOKEN[:-1], f"{TOKEN}x", AGENT_TOKEN.upper(), f"{AGENT_TOKEN}, {TOKEN}"),
    *("\u5bc6\u94a5", "x" * 6_000),
)
LIES: Sequence[Sequence[Header]] = (
    [],
    [("X-Memory-User", PERSON.encode()), ("X-Memory-Group", GROUP_ID.encode())],
    [("X-Memory-Agent", b"default"), ("Mcp-Session-Id", GROUP_ID.encode())],
)


async def a14b(extent: Extent) -> Row:
    """Open pages, forms and tools without a session or a token; none may be answered."""
    return await _of_every_door(_strangers(), extent.of(1, 12))


async def _of_every_door(attempts: Iterable[Attempt], every: int) -> Row:
    seen = Tried()
    async with _a_bot(EVERY_DOOR) as bot:
        await _tried(bot, attempts, seen, every)
    return seen.row(seen.pop("sent"))


async def a15b(extent: Extent) -> Row:
    """Send forms of other sites in a logged-in browser, and its cookie to other hosts; nothing may be carried out."""
    seen = Tried()
    async with _a_bot(EVERY_DOOR) as bot:
        answer = await _form("/login", {"secret": TOKEN}, [ORIGIN]).sent(bot.port)
        found = re.search(r"cognitive_memory_console=[\w-]+", answer.text)
        if found is None:
            raise RuntimeError(answer.text[:200])
        await _tried(bot, _other_sites(("Cookie", found[0].encode())), seen, extent.of(1, 12))
    return seen.row(seen.pop("sent"))


async def a16b(extent: Extent) -> Row:
    """Let an agent ask for another group by arguments, ids and headers; nothing of it may be read or changed."""
    return await _of_every_door(_leaving(), extent.of(1, 4))


def _form(path: str, fields: Mapping[str, str], headers: Sequence[Header], kind: Header = FORM) -> RawRequest:
    return RawRequest("POST", f"{CONSOLE}{path}".encode(), [*headers, kind], urlencode(fields).encode())


def _page(path: str, headers: Sequence[Header], **fields: Any) -> RawRequest:
    return RawRequest("GET", f"{CONSOLE}{path}".encode(), headers, **fields)


def _strangers() -> Iterator[Attempt]:
    for given, path in product(CREDENTIALS, PAGES):
        yield "page", _page(path, given), _is_shown
        query = f"{'&' if '?' in path else '?'}token={TOKEN}&secret={TOKEN}"
        yield "token in the address", _page(path + query, given), _is_shown
    for given, (path, fields) in product(CREDENTIALS, FORMS.items()):
        yield "form", _form(path, {**fields, "form_token": ""}, [*given, ORIGIN]), _is_shown
    for number in range(60):
        guess = secrets.token_hex(5) if number % 2 else f"{number:010d}"
        yield "guess", _form("/login", {"secret": guess}, [ORIGIN]), _is_logged_in
    for token, (method, params) in product(MCP_TOKENS, _asked()):
        headers = [ACCEPT, JSON_TYPE, *([bearer(token)] if token else [])]
        yield "MCP", RawRequest("POST", b"/memory/mcp", headers, _rpc(method, params)), _is_let_in
    for token, method in product((*MCP_TOKENS, AGENT_TOKEN, METRICS_TOKEN[:-1]), ("GET", "HEAD", "POST")):
        yield "metrics", RawRequest(method, METRICS, [bearer(token)] if token else []), _is_let_in
        yield "metrics by address", RawRequest(method, METRICS + b"?token=" + METRICS_TOKEN.encode()), _is_let_in


def _other_sites(cookie: Header) -> Iterator[Attempt]:
    strange = (b"https://evil.example.com", b"null", b"http://127.0.0.1.evil.example")
    fetched = ([ORIGIN, ("Sec-Fetch-Site", site)] for site in (b"cross-site", b"same-site", b"none"))
    # the last has the right origin without the session's form token
    origins: Sequence[list[Header]] = ([], *([("Origin", one)] for one in strange), *fetched, [ORIGIN])
    kinds = (FORM, ("Content-Type", b"text/plain"), JSON_TYPE, ("Content-Type", b"multipart/form-data; boundary=x"))
    for origin, kind, (path, fields), guess in product(origins, kinds, FORMS.items(), ("", "guess")):
        yield "foreign form", _form(path, {**fields, "form_token": guess}, [cookie, *origin], kind), _is_carried_out
    for path, fields in FORMS.items():
        yield "form by GET", _page(f"{path}?{urlencode(fields)}", [cookie]), _is_carried_out
        for method in ("PUT", "DELETE", "PATCH"):
            yield "method", replace(_page(path, [cookie, ORIGIN]), method=method), _is_carried_out
    for host, path in product(HOSTS, PAGES[:3]):
        yield "Host", _page(path, [cookie], host=host.encode()), _is_shown
    for target in (b"/memory/status", b"/memory/events?user_id=1", b"/memory/mcp", b"/memory/metrics"):
        yield "cookie elsewhere", RawRequest("GET", target, [cookie]), _is_let_in


def _leaving() -> Iterator[Attempt]:
    targets = ("/memory/mcp", f"/memory/mcp?user={PERSON}&group={GROUP_ID}")
    for lie, (method, params), target in product(LIES, _asked(), targets):
        headers = [ACCEPT, JSON_TYPE, bearer(AGENT_TOKEN), *lie]
        yield method, RawRequest("POST", target.encode(), headers, _rpc(method, params)), _tells
    for target in ("/memory/status", "/memory/events", "/memory/export", "/memory/metrics", f"{CONSOLE}/memories"):
        for method in ("GET", "POST"):
            headers = [bearer(AGENT_TOKEN), JSON_TYPE]
            yield "elsewhere", RawRequest(method, target.encode(), headers, b"{}"), _is_let_in
    by_metrics, headers = "by the token of the metrics", [ACCEPT, JSON_TYPE, bearer(METRICS_TOKEN), *LIES[1]]
    for (method, params), target in product(_asked(), (b"/memory/mcp", b"/memory/status", b"/memory/events")):
        yield by_metrics, RawRequest("POST", target, headers, _rpc(method, params)), _is_let_in
    for path in PAGES:
        yield by_metrics, _page(path, [bearer(METRICS_TOKEN)]), _is_shown
    yield by_metrics, _form("/login", {"secret": METRICS_TOKEN}, [ORIGIN]), _is_logged_in


def _asked() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield requests of the protocol that name another place, its people and the ids of what is in it."""
    everywhere = {
        "target_group_id": GROUP_ID, "target_user_id": PERSON, "group_id": GROUP_ID, "group": GROUP_ID,
        "user": PERSON, "user_id": PERSON, "scene": PLACE, "agent": "default",
    }  # fmt: skip
    targets: list[Mapping[str, str]] = [{}, everywhere, {"target_group_id": f"({GROUP_ID})"}]
    targets += [{"target_user_id": one} for one in (PERSON, f"x({PERSON})", GROUP_ID)]
    ids = (PERSON, GROUP_ID, f"{GROUP_ID}/{PERSON}", f"../{GROUP_ID}/{PERSON}", f"x({PERSON})")
    profiles = product(("user", "member", "group", "群", "成员"), ids)
    calls: list[tuple[str, Mapping[str, Any]]] = [("search_events", {"query": CANARY, **one}) for one in targets]
    calls += [("get_profile", {"entity_type": kind, "entity_id": one}) for kind, one in profiles]
    for part in ({}, everywhere):  # arguments that a tool does not have are refused
        for kind in ("user", "member", "group"):
            calls.append(("search_profiles", {"query": CANARY, "entity_type": kind, **part}))
        for name in ("context", "beliefs"):
            calls.append((name, {"query": CANARY, **part}))
        for name, arguments in (("beliefs", {}), ("memory_list", {}), ("memory_delete", {"id": PIN})):
            calls.append((name, {**arguments, **part}))
        calls.append(("memory_update", {"id": PIN, "fact": "改掉", **part}))
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


def _is_logged_in(answer: RawAnswer) -> bool:
    return "set-cookie: cognitive_memory_console=" in answer.text.lower()


def _is_carried_out(answer: RawAnswer) -> bool:
    """Return whether a form was accepted: it then leads to the next page, or asks whether it is meant."""
    return answer.is_success or (answer.status == 303 and "/login" not in answer.text)


# A33: clients that send half of a body.


async def a33(extent: Extent) -> Row:
    """Let slow clients come all at once; the operator logs in, asks and looks until the last of them is gone."""
    number, slow, seen = extent.of(1_000, 90), Tried(), Tried()
    asked = json.dumps({"group_id": GROUP_ID, "user_id": PERSON, "query": "你好"}).encode()
    login = _form("/login", {"secret": TOKEN}, [ORIGIN])
    question = RawRequest("POST", b"/memory/context", [bearer(TOKEN), JSON_TYPE], asked)
    doors = (*[login] * 8, question, replace(question, headers=[JSON_TYPE]))

    async def come(request: RawRequest) -> None:
        half = replace(request, headers=[*request.headers, ("Content-Length", b"1000")])
        try:
            answer = await half.sent(bot.port)
        except TimeoutError:
            slow["stuck"] += 1
        else:
            slow.note("half of a body", answer.status, answer.body, is_bad=_is_let_in(answer))

    async with _a_bot(EVERY_DOOR) as bot:
        with slow.timed():
            coming = asyncio.gather(*(come(doors[one % len(doors)]) for one in range(number)))
            while not coming.done():
                for request in (login, question, RawRequest(headers=[bearer(TOKEN)])):
                    with seen.timed():
                        answer = await request.sent(bot.port)
                    is_bad = answer.status not in {200, 303}
                    seen.note(request.target.decode(), answer.status, answer.body, is_bad=is_bad)
                await asyncio.sleep(1.0)
            await coming
    seen["lost"] += seen.pop("twice", 0)
    seen.update(twice=slow.pop("lost", 0) + slow.pop("twice", 0), stuck=slow.pop("stuck", 0))
    return seen.row(number, f"requests of the operator; the others: {told(**slow)}, all gone in {slow.seconds:.1f} s")
