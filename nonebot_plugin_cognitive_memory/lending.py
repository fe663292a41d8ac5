"""Models that chat plugins lend to the memory, as their own settings have them now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import SecretStr

import cognitive_memory_core as core

from . import replies
from .config import setup
from .limits import warn_once

OPENAI = "https://api.openai.com/v1"  # where OpenAI's SDK asks if no address is set
SECONDS = 2.0  # that a chat plugin may take to read its settings
_lenders: dict[str, Callable[[], Awaitable[core.LentModel | None]]] = {}


def add_lender(name: str, lent: Callable[[], Awaitable[core.LentModel | None]]) -> None:
    """Let an attached chat plugin lend the model that ``lent`` returns; its name is that of its bridge."""
    _lenders[name] = lent


def lender_names() -> tuple[str, ...]:
    """Return the attached chat plugins from which ``models.historian.borrow`` lets us borrow, as they were attached."""
    borrow = setup.settings.models.historian.borrow
    return tuple(name for name in _lenders if borrow in ("auto", name))


async def lent_model() -> core.LentModel | None:
    """Return the model of the first of :func:`lender_names` whose settings name a usable one; None if none does."""
    for name in lender_names():
        try:
            lent = await asyncio.wait_for(_lenders[name](), SECONDS)
        except Exception as unforeseen:  # noqa: BLE001  # a chat plugin's settings may raise anything; the rules go on
            warn_once(replies.chat_plugins.NOT_LENT.format(name=name, reason=type(unforeseen).__name__))
            continue
        if lent is not None and lent.is_usable:
            return lent
    return None


def lent_by(name: str, address: object, key: object, model: object, proxy: object = "") -> core.LentModel | None:
    """Return what a chat plugin's settings say; None if address, key or model is missing, or a part is no text."""
    given = [part.get_secret_value() if isinstance(part, SecretStr) else part for part in (address, key, model, proxy)]
    url, secret, model_name, through = (part.strip() if isinstance(part, str) else "" for part in given)
    if not (url and secret and model_name) or not isinstance(proxy or "", str | SecretStr):
        return None
    return core.LentModel(name, url, secret, model_name, through)
