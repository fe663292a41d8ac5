"""Answers that are a picture if one can be drawn and sent, else a text with the same content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

from .. import replies
from ..config import setup
from ..onebot import v11, v12
from ..throttled_log import complain

if TYPE_CHECKING:
    from ..cards import Studio
    from ..cards.card import Card

FONTS = "fonts"  # folder in the data directory for the operator's own fonts


@dataclass(frozen=True)
class PictureAnswer:
    """An answer as text, and the same content as a card."""

    text: str
    card: Card


@cache
def studio() -> Studio:
    """Return the studio that draws the cards; it is made at the first call."""
    from ..cards import Studio  # noqa: PLC0415  # cards load with the first one

    return Studio(setup.data_dir / FONTS if setup.data_dir else None)


async def is_shown(bot: Bot, event: Event, card: Card) -> bool:
    """Draw a card and send it; return False if it could not be drawn or the client refused it."""
    from ..cards.contents import is_night  # noqa: PLC0415  # cards load with the first one
    from ..cards.themes import DARK, LIGHT  # noqa: PLC0415  # the same

    png = await studio().drawn(card, DARK if is_night(datetime.now(setup.settings.zone)) else LIGHT)
    if png is None:
        return False
    try:
        await bot.send(event, await _segment(bot, png))
    except AdapterException as refused:
        complain(replies.log.PICTURE_REFUSED.format(reason=type(refused).__name__))
        return False
    return True


async def _segment(bot: Bot, png: bytes) -> Any:
    if not isinstance(bot, v12.Bot):
        return v11.MessageSegment.image(png)
    uploaded = await bot.call_api("upload_file", type="data", name="memory.png", data=png)
    return v12.MessageSegment.image(uploaded["file_id"])
