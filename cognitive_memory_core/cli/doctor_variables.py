"""What doctor finds, and its checks of .env and settings: names, values, driver, HTTP, bridges."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Literal

from .. import sentences
from ..errors import BadArgument
from ..settings.configuration import FIELD, decoded, found_key
from ..settings.schema import SHORTEST_TOKEN, Settings, bad_settings, setting_keys, unknown_keys
from .bot_directory import BotDirectory
from .main import plugin_file


@dataclass(frozen=True)
class Finding:
    """One sentence on what was found; a hint or a fault also says what to do."""

    level: Literal["fine", "hint", "fault"]
    what: str
    advice: str = ""


def fault(what: str, advice: str, **values: object) -> Finding:
    """Return what must be corrected; the values are filled into both sentences."""
    return Finding("fault", what.format(**values), advice.format(**values))


def hint(what: str, advice: str = "", **values: object) -> Finding:
    """Return what may be meant so; the values are filled into both sentences."""
    return Finding("hint", what.format(**values), advice.format(**values))


def fine(what: str, **values: object) -> Finding:
    """Return what is in order; the values are filled in."""
    return Finding("fine", what.format(**values))


Check = Callable[[BotDirectory], AsyncIterator[Finding]]
"""Yields findings, nothing if there is nothing to say; it may block.

A check that needs the settings in force ends with BadArgument where there are none: another one says what is wrong.
"""


PREFIX = FIELD + "__"
_LOOKS_OURS = re.compile("^(cogniti?ve|congitive|cognative|nonebotplugincognitive)memory|^cogmem")
_COMPANIONS = re.compile(r"^COMPANIONS = \((.*?)\)", re.MULTILINE | re.DOTALL)
_SERVERS = {"fastapi", "quart"}
_SOCKET_CLIENTS = {"websockets", "aiohttp"}
_SOCKETS_OF_UVICORN = ("websockets", "wsproto")
_DRIVER = "~fastapi"  # NoneBot's own default
words = sentences.command_line


async def env_file(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if there is no .env."""
    files = bot.files
    if files:
        yield fine(words.ENV_READ, files="、".join(map(str, files)))
    else:
        yield fault(words.NO_ENV, words.NO_ENV_ADVICE, home=bot.home)


async def prefixes(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding for the variables that were meant for this plugin but have another prefix."""
    groups = "|".join(Settings.model_fields)
    for name in sorted(bot.variables):
        if name.startswith(PREFIX) or name == FIELD:
            continue
        dotted = name.replace("__", ".")
        if _LOOKS_OURS.match(name.replace("_", "").replace("-", "")) or name.startswith("memory__"):
            inside = re.search(rf"(?:^|_)((?:{groups})_+.+|(?:{groups}))$", name)
            rest = inside.group(1) if inside else name.rpartition("__")[2]
        elif "." in dotted and dotted in setting_keys():
            rest = name
        else:
            continue  # not for this plugin
        advice = words.PREFIX_ADVICE.format(name=(PREFIX + rest).upper())
        yield Finding("fault", words.WRONG_PREFIX.format(name=name.upper()), advice)


async def values(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield findings on unknown settings, values that cannot be used, and settings without effect."""
    given = bot.given
    for key in unknown_keys(given):
        advice = words.CORRECT_ENV
        try:
            found_key(key)
        except BadArgument as unknown:
            advice = str(unknown)  # names similar ones
        yield Finding("fault", words.UNKNOWN_KEY.format(name=sentences.settings.env_name(key)), advice)
    for one in bad_settings(given):
        yield Finding("fault", str(one), words.CORRECT_ENV)


async def overrides(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield findings on settings changed at run time, and on what in overrides.json is not used."""
    for key, value in bot.configuration.overridden.items():
        yield fine(words.OVERRIDDEN, key=key, value=value)
    for problem in bot.configuration.problems:
        yield Finding("fault", problem, words.OVERRIDES_ADVICE)


async def superusers(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if the bot has no superusers: nobody can use the superusers' commands then."""
    if decoded(bot.value("superusers") or "[]") in ([], "", {}):
        yield hint(words.NO_SUPERUSERS, words.SUPERUSERS_ADVICE)


async def driver(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if the driver cannot connect any OneBot WebSocket."""
    named, parts = _drivers(bot)
    missing = [name for name in parts if name != "none" and find_spec(name) is None]
    if missing:
        what = words.DRIVER_MISSING.format(driver=named, names="、".join(missing))
        yield Finding("fault", what, words.DRIVER_INSTALL.format(extras=",".join(missing)))
        return
    is_client, is_server = not _SOCKET_CLIENTS.isdisjoint(parts), not _SERVERS.isdisjoint(parts)
    if bot.value("onebot_ws_urls") or bot.value("onebot_v11_ws_urls"):
        if not is_client:
            yield fault(words.NO_CLIENT, words.NO_CLIENT_ADVICE, driver=named)
    elif not (is_client or is_server):
        yield fault(words.NO_SOCKETS, words.NO_SOCKETS_ADVICE, driver=named)
    elif is_server and not any(find_spec(name) for name in _SOCKETS_OF_UVICORN):
        yield fault(words.SERVER_WITHOUT_SOCKETS, words.SERVER_WITHOUT_SOCKETS_ADVICE)


def _drivers(bot: BotDirectory) -> tuple[str, list[str]]:
    """Return DRIVER as written, and the names in it."""
    named = bot.value("driver") or _DRIVER
    return named, [part.strip().rpartition("~")[2].rpartition(".")[2] for part in named.split("+")]


async def http(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield findings on the HTTP interface: tokens that can be guessed, and a driver that cannot serve it."""
    named, parts = _drivers(bot)
    for key in ("token", "metrics_token"):
        name = sentences.settings.env_name(f"http.{key}")
        length = len(getattr(bot.settings.http, key).get_secret_value().strip())
        if 0 < length < SHORTEST_TOKEN:
            yield fault(words.GUESSABLE, words.GUESSABLE_ADVICE, name=name, length=length)
        if length and "fastapi" not in parts:
            yield fault(words.HTTP_WITHOUT_FASTAPI, words.HTTP_WITHOUT_FASTAPI_ADVICE, name=name, driver=named)


async def open_door(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield findings if other machines can reach the bot's port and no secret, or no token, keeps out forged events."""
    host = bot.value("host") or "127.0.0.1"
    try:
        is_private = ip_address(str(decoded(host))).is_loopback
    except ValueError:
        is_private = host == "localhost"
    secrets = ("onebot_v11_secret", "onebot_secret")
    tokens = (*("onebot_access_token", "onebot_v11_access_token"), "onebot_v12_access_token")
    if not is_private and not any(map(bot.value, secrets)):
        yield fault(words.FORGEABLE, words.FORGEABLE_ADVICE, host=host)
    if not is_private and not any(map(bot.value, tokens)):
        yield hint(words.UNGUARDED, words.UNGUARDED_ADVICE, host=host)


async def bridges(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding for each name in ``bridges`` that no bridge has; without the plugin nothing is known of them."""
    if package := plugin_file("bridges/__init__.py"):
        assigned = _COMPANIONS.search(package.read_text("utf-8"))
        known = re.findall(r'"(.+?)"', assigned[1]) if assigned else []
        for name in bot.settings.bridges:
            if name not in known and not re.match("openai:.", name):
                yield fault(words.UNKNOWN_BRIDGE, words.UNKNOWN_BRIDGE_ADVICE, name=name, known="、".join(known))
