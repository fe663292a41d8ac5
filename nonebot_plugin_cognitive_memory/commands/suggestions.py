"""The admins' command on suggestions: lists them, and accepts or dismisses one."""

from __future__ import annotations

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from .entry import Call
from .numbers import ShownLists

MOST_SHOWN = 10
shown_suggestions = ShownLists()


async def suggest(call: Call) -> str:
    """List the open suggestions, or accept or dismiss one of the list shown last."""
    if not call.text:
        found = (await get_memory().suggestions(call.here))[:MOST_SHOWN]
        shown_suggestions.show(call.here, found)
        return replies.suggestions.listed(found, setup.settings.zone)
    word, _, number = call.text.partition(" ")
    accept = replies.suggestions.DECISIONS.get(word.casefold())
    if accept is None or not number.strip().isdecimal():
        return call.usage
    shown = shown_suggestions.find(call.here, int(number.strip()[:9]))
    if shown is None:
        return replies.suggestions.NUMBER_UNKNOWN
    await get_memory().decide_suggestion(call.here, shown.id, accept)
    return replies.suggestions.ACCEPTED if accept else replies.suggestions.DISMISSED
