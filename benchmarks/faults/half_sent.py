"""A33: clients that send half of a body, to the console's log-in and to the interface, with and without the token."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from urllib.parse import urlencode

from tests.support.http_world import GROUP_ID, PERSON
from tests.support.raw_http import RawRequest, bearer

from ..fault_row import Extent, Row
from .http_bots import JSON_TYPE, TOKEN, Seen, a_bot, is_let_in
from .web_doors import CONSOLE, ENV, FORM, ORIGIN

HALF = ("Content-Length", b"1000")
_LOGIN = RawRequest("POST", f"{CONSOLE}/login".encode(), [FORM, ORIGIN], urlencode({"secret": TOKEN}).encode())
_ASKED = json.dumps({"group_id": GROUP_ID, "user_id": PERSON, "query": "你好"}).encode()
_QUESTION = RawRequest("POST", b"/memory/context", [bearer(TOKEN), JSON_TYPE], _ASKED)
_STATUS = RawRequest(headers=[bearer(TOKEN)])
_DOORS = (*[_LOGIN] * 8, _QUESTION, replace(_QUESTION, headers=[JSON_TYPE]))


async def a33(extent: Extent) -> Row:
    """Let slow clients come all at once; the operator logs in, asks and looks until the last of them is gone."""
    number = extent.of(1_000, 90)
    slow, seen, stayed = Seen(), Seen(), 0

    async def come(one: int) -> None:
        nonlocal stayed
        request = _DOORS[one % len(_DOORS)]
        half = replace(request, headers=[*request.headers, HALF])
        try:
            answer = await half.sent(bot.port)
        except TimeoutError:
            stayed += 1
        else:
            slow.note("half of a body", answer, is_bad=is_let_in(answer))

    async with a_bot(ENV) as bot:
        started = time.perf_counter()
        coming = asyncio.gather(*(come(one) for one in range(number)))
        longest = 0.0
        while not coming.done():
            for request in (_LOGIN, _QUESTION, _STATUS):
                asked = time.perf_counter()
                answer = await request.sent(bot.port)
                longest = max(longest, time.perf_counter() - asked)
                seen.note(request.target.decode(), answer, is_bad=answer.status not in {200, 303})
            await asyncio.sleep(1.0)
        await coming
        taken = time.perf_counter() - started
    note = (
        f"lost: failed of {seen.sent} requests of the operator (answers {seen.told}); twice: let in, and 500s; stuck: "
        f"open for ever; all gone in {taken:.1f} s, answers {slow.told}; seconds: the operator's longest"
    )
    return Row(
        number,
        seen.passed + seen.crashed,
        slow.passed + slow.crashed,
        stayed,
        seconds=longest,
        note=note,
    )
