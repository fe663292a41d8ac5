"""The superusers' command that gives a code with which the console is opened once."""

from __future__ import annotations

from nonebot import get_driver
from nonebot.adapters import Bot, Event

from .. import replies
from ..console import access
from ..console.mounting import ADDRESS
from ..dependencies import Here
from .authority import superuser_objection
from .entry import answer, memory_command


@memory_command.assign("console")
async def give_code(bot: Bot, event: Event, here: Here) -> None:
    """Send a one-time code for opening the console; only to a superuser, and only in a private chat."""
    is_private = here.kind == "private"
    await answer(bot, event, _coded(bot, event, is_private=is_private))


async def _coded(bot: Bot, event: Event, *, is_private: bool) -> str:
    if refusal := await superuser_objection(bot, event):
        return refusal
    if not is_private:
        return replies.commands.ONLY_IN_PRIVATE
    if access is None:
        return replies.console.CLOSED
    from ..console.sessions import CODE_SECONDS  # noqa: PLC0415  # loaded with an open console

    return replies.console.CODE.format(
        code=access.codes.issue(),
        minutes=round(CODE_SECONDS / 60),
        path=ADDRESS,
        address=f"http://127.0.0.1:{get_driver().config.port}{ADDRESS}",
    )
