"""A14: the HTTP interface without the token."""

from __future__ import annotations

import base64
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

from tests.support.openapi_client import Operation
from tests.support.raw_http import Header, RawRequest, bearer

from ..fault_row import Extent, Row
from .http_bots import JSON_TYPE, TOKEN, TOKENS, Seen, a_bot, document, is_let_in, load_plugin, path_of, rows

TRIALS = 4_000  # of the check, for its time


async def a14(extent: Extent) -> Row:
    """Ask every route without the token, in every way, of bots with several settings; none may be carried out."""
    seen, changed = Seen(), 0
    every = extent.of(1, 40)
    async with a_bot(TOKENS["token"][0]) as bot:
        described = await document(bot.port, TOKEN)
    for name, (line, token) in list(TOKENS.items())[: extent.of(len(TOKENS), 2)]:
        async with a_bot(line) as bot:
            before = rows(bot)
            if token and not (await RawRequest(headers=[bearer(token)]).sent(bot.port)).is_success:
                seen.first, changed = f"{name}: the right token is refused", changed + 1
            dice = random.Random(extent.seed)
            for request in islice(_unauthorised(described, token or TOKEN, dice), 0, None, every):
                answer = await request.sent(bot.port)
                seen.note(f"{name}, {request.target!r}, {request.headers}", answer, is_bad=is_let_in(answer))
            changed += rows(bot) != before
    return Row(
        seen.sent,
        seen.passed,
        seen.crashed + changed,
        note=f"lost: unauthenticated 2xx; twice: 500s and changes; settings: {', '.join(TOKENS)}; {len(described)} "
        f"routes; answers {seen.told} (404: not mounted); the check takes {await _check_times()}; first: {seen.first}",
    )


def _unauthorised(described: Sequence[Operation], token: str, dice: random.Random) -> Iterator[RawRequest]:
    """Yield requests of every route with every wrong way to give a token."""
    for operation, (headers, query, given_body) in product(described, list(_wrong_ways(token, dice))):
        body = given_body or (json.dumps(operation.body()).encode() if operation.body() else b"")
        given = [*headers, *([JSON_TYPE] if body else [])]
        yield RawRequest(operation.method.upper(), path_of(operation) + query, given, body)


def _wrong_ways(token: str, dice: random.Random) -> Iterator[tuple[list[Header], bytes, bytes]]:
    """Yield headers, query and body of requests that do not carry the token where it belongs."""
    raw, authorization = token.encode(), "Authorization"
    quoted = "".join(f"%{byte:02x}" for byte in raw).encode()
    yield [], b"", b""
    values = [
        b"",
        b"Bearer",
        b"Bearer ",
        b"bearer null",
        b"Bearer undefined",
        b"Basic " + base64.b64encode(b"a:" + raw),
    ]
    values += [
        raw,
        b"Token " + raw,
        b"Bearer" + raw,
        b"Bearer:" + raw,
        b"Bearer \xff\xfe\x80",
        b"Bearer " + raw + b"\xa0",
    ]
    values += [b"Bearer " + one for one in (raw[:-1], raw[1:], raw + b"0", raw + b" " + raw, raw[::-1], quoted)]
    values += ["Bearer 令牌".encode(), "Bearer 令牌".encode("gb18030"), b"Bearer " + base64.b64encode(raw), b"Bearer *"]
    values += [b"Bearer " + b"0" * 20_000, b"Bearer ' OR '1'='1", b'Bearer ["' + raw + b'"]', b"Digest " + raw]
    values += [b"Bearer " + _mutated(raw, dice) for _ in range(12)]
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
    load_plugin("~none")
    from nonebot_plugin_cognitive_memory.http.gates import TokenGate  # noqa: PLC0415  # the row loads NoneBot

    gate = TokenGate(_nothing, TOKEN)
    times: dict[str, list[int]] = {"x" * len(TOKEN): [], TOKEN[:-1] + "x": []}
    for _ in range(TRIALS):
        for guess, taken in times.items():
            scope = {"headers": [(b"authorization", b"Bearer " + guess.encode())]}
            began = time.perf_counter_ns()
            gate.is_operator(scope)
            taken.append(time.perf_counter_ns() - began)
    medians = [statistics.median(taken) / 1000 for taken in times.values()]
    return f"{medians[0]:.2f} µs with no character right, {medians[1]:.2f} with all but one"


async def _nothing(*_: Any) -> None:
    """Serve nothing."""
