"""How the answer to a command is sent: as text, as a picture card, or as a merged forward if it is long."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

from .. import replies
from ..announcing import announce
from ..capture import unrecorded
from ..config import setup
from ..limits import warn_once
from ..onebot import spoken, v11, v12
from ..scene import find_scene

if TYPE_CHECKING:
    from ..cards import Card, Studio

Answer: TypeAlias = "str | Card"
REPLY_LENGTH = 1_200  # characters of one message; longer answers are forwarded
FONTS = "fonts"  # folder in the data directory for the operator's own fonts
DAY = range(7, 20)  # hours in which cards are light


@cache
def studio() -> Studio:
    """Return the studio that draws the cards; it is made at the first call."""
    from ..cards import Studio  # noqa: PLC0415  # cards load with the first one

    return Studio(setup.data_dir / FONTS if setup.data_dir else None)


async def picture(bot: Bot, card: Card) -> Any:
    """Draw a card, dark at night; return it as a segment of a message, None if it could not be drawn."""
    from ..cards.layout import DARK, LIGHT  # noqa: PLC0415  # cards load with the first one

    theme = LIGHT if datetime.now(setup.settings.zone).hour in DAY else DARK
    png = await studio().drawn(card, theme)
    if png is None or not isinstance(bot, v12.Bot):
        return png and v11.MessageSegment.image(png)
    uploaded = await bot.call_api("upload_file", type="data", name="memory.png", data=png)
    return v12.MessageSegment.image(uploaded["file_id"])


PART = 800  # characters
MOST_PARTS = 12


async def send_long(bot: Bot, event: Event, text: str) -> None:
    """Send a text as one merged forward; else in at most twelve parts, the last of which says if the text is cut."""
    parts = _parts_of(text)
    if isinstance(event, v11.MessageEvent):
        name, account = replies.chat_plugins.PLUGIN_NAME, int(bot.self_id)
        segments = [v11.Message(v11.MessageSegment.text(part)) for part in parts]
        nodes = [v11.MessageSegment.node_custom(account, name, segment) for segment in segments]
        with suppress(AdapterException):
            if isinstance(event, v11.GroupMessageEvent):
                await bot.call_api("send_group_forward_msg", group_id=event.group_id, messages=nodes)
            else:
                await bot.call_api("send_private_forward_msg", user_id=event.user_id, messages=nodes)
            return
    for part in parts:
        await bot.send(event, spoken(bot, part))


def _parts_of(text: str) -> list[str]:
    """Split a text at line ends into parts of at most :data:`PART` characters."""
    parts: list[str] = []
    for whole in text.split("\n"):
        for line in [whole[start : start + PART] for start in range(0, max(len(whole), 1), PART)]:
            if parts and len(parts[-1]) + 1 + len(line) <= PART:
                parts[-1] += f"\n{line}"
            else:
                parts.append(line)
    return parts if len(parts) <= MOST_PARTS else [*parts[: MOST_PARTS - 1], replies.commands.CUT]


async def say(bot: Bot, event: Event, result: Answer) -> None:
    """Send a reply that is not recorded; in a group that never got the notice of ``capture.announce``, send that, too.

    A reply that the platform refuses is logged, not raised.
    """
    text, card = (result, None) if isinstance(result, str) else (result.text, result)
    with unrecorded():
        is_shown = False
        try:
            if card and (drawn := await picture(bot, card)) is not None:
                await bot.send(event, drawn)
                is_shown = True
        except AdapterException as refused:
            warn_once(replies.log.PICTURE_REFUSED.format(reason=type(refused).__name__))
        try:
            if not is_shown and len(text) > REPLY_LENGTH:
                await send_long(bot, event, text)
            elif not is_shown:
                await bot.send(event, spoken(bot, text))
        except AdapterException as refused:
            warn_once(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
            return
        if scene := find_scene(bot, event):
            await announce(bot, event, scene)
