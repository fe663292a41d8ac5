"""The superusers' command that gives a code with which the console is opened once."""

from __future__ import annotations

from nonebot import get_driver

from .. import replies
from ..console import access
from ..console.mounting import ADDRESS
from .entry import Call


async def give_code(_call: Call) -> str:
    """Send a one-time code for opening the console; only to a superuser, and only in a private chat."""
    if access is None:
        return replies.console.CLOSED
    from ..console.sessions import CODE_SECONDS  # noqa: PLC0415  # loaded with an open console

    return replies.console.CODE.format(
        code=access.codes.issue(),
        minutes=round(CODE_SECONDS / 60),
        path=ADDRESS,
        address=f"http://127.0.0.1:{get_driver().config.port}{ADDRESS}",
    )
