"""Checks of .env: the files, names of variables, values, the driver, and who can send events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from ipaddress import ip_address

from ... import sentences
from ...configuration import found_key, setting_keys
from ...env_variables import FIELD, decoded
from ...errors import BadArgument
from ...settings import SHORTEST_TOKEN, Settings, bad_settings, unknown_keys
from .findings import ExaminedBot, Finding

PREFIX = FIELD + "__"
_LOOKS_OURS = re.compile("^(cogniti?ve|congitive|cognative|nonebotplugincognitive)memory|^cogmem")
_SERVERS = ("fastapi", "quart")
_SOCKET_CLIENTS = ("websockets", "aiohttp")
_SOCKETS_OF_UVICORN = ("websockets", "wsproto")
_DRIVER = "~fastapi"  # NoneBot's own default


def env_file(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if there is no .env."""
    files = examined.bot.files
    if not files:
        yield Finding("fault", sentences.doctor.NO_ENV.format(home=examined.bot.home), sentences.doctor.NO_ENV_ADVICE)
    else:
        yield Finding("fine", sentences.doctor.ENV_READ.format(files="、".join(map(str, files))))


def prefixes(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for the variables that were meant for this plugin but have another prefix."""
    for name in sorted(examined.bot.variables):
        if name.startswith(PREFIX) or name == FIELD:
            continue
        rest = _intended_setting(name)
        if rest is not None:
            advice = sentences.doctor.PREFIX_ADVICE.format(name=(PREFIX + rest).upper())
            yield Finding("fault", sentences.doctor.WRONG_PREFIX.format(name=name.upper()), advice)


def _intended_setting(name: str) -> str | None:
    """Return the setting that a variable with a wrong prefix was meant for; None if it is not for this plugin."""
    groups = "|".join(Settings.model_fields)
    inside = re.search(rf"(?:^|_)((?:{groups})_+.+|(?:{groups}))$", name)
    if _LOOKS_OURS.match(name.replace("_", "").replace("-", "")) or name.startswith("memory__"):
        return inside.group(1) if inside else name.rpartition("__")[2]
    dotted = name.replace("__", ".")
    return name if "." in dotted and dotted in setting_keys() else None


def values(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield findings on unknown settings, values that cannot be used, and settings without effect."""
    given = examined.bot.given
    for key in unknown_keys(given):
        yield Finding("fault", sentences.doctor.UNKNOWN_KEY.format(name=sentences.settings.env_name(key)), _near(key))
    for one in bad_settings(given):
        yield Finding("fault", str(one), sentences.doctor.CORRECT_ENV)


def _near(key: str) -> str:
    try:
        found_key(key)
    except BadArgument as unknown:
        return str(unknown)
    return sentences.doctor.CORRECT_ENV


def overrides(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield findings on settings changed at run time, and on what in overrides.json is not used."""
    configuration = examined.configuration
    if configuration is None:
        return
    for key, value in configuration.overridden.items():
        yield Finding("fine", sentences.doctor.OVERRIDDEN.format(key=key, value=value))
    for problem in configuration.problems:
        yield Finding("fault", problem, sentences.doctor.OVERRIDES_ADVICE)


def superusers(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the bot has no superusers: nobody can use the superusers' commands then."""
    if decoded(examined.bot.value("superusers") or "[]") in ([], "", {}):
        yield Finding("hint", sentences.doctor.NO_SUPERUSERS, sentences.doctor.SUPERUSERS_ADVICE)


def driver(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the driver cannot connect any OneBot WebSocket."""
    named, parts = _drivers(examined)
    missing = [name for name in parts if name != "none" and find_spec(name) is None]
    if missing:
        what = sentences.doctor.DRIVER_MISSING.format(driver=named, names="、".join(missing))
        yield Finding("fault", what, sentences.doctor.DRIVER_INSTALL.format(extras=",".join(missing)))
        return
    is_client, is_server = (bool(set(parts) & set(kinds)) for kinds in (_SOCKET_CLIENTS, _SERVERS))
    if examined.bot.value("onebot_ws_urls") or examined.bot.value("onebot_v11_ws_urls"):
        if not is_client:
            yield Finding("fault", sentences.doctor.NO_CLIENT.format(driver=named), sentences.doctor.NO_CLIENT_ADVICE)
    elif not (is_client or is_server):
        yield Finding("fault", sentences.doctor.NO_SOCKETS.format(driver=named), sentences.doctor.NO_SOCKETS_ADVICE)
    elif is_server and not any(find_spec(name) for name in _SOCKETS_OF_UVICORN):
        yield Finding("fault", sentences.doctor.SERVER_WITHOUT_SOCKETS, sentences.doctor.SERVER_WITHOUT_SOCKETS_ADVICE)


def _drivers(examined: ExaminedBot) -> tuple[str, list[str]]:
    """Return DRIVER as written, and the names in it."""
    named = examined.bot.value("driver") or _DRIVER
    return named, [part.strip().rpartition("~")[2].rpartition(".")[2] for part in named.split("+")]


def http(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield findings on the HTTP interface: tokens that can be guessed, and a driver that cannot serve it."""
    if examined.configuration is None:
        return
    settings, (named, parts) = examined.configuration.settings.http, _drivers(examined)
    for key in ("token", "metrics_token"):
        name = sentences.settings.env_name(f"http.{key}")
        length = len(getattr(settings, key).get_secret_value().strip())
        if 0 < length < SHORTEST_TOKEN:
            what = sentences.doctor.GUESSABLE.format(name=name, length=length)
            yield Finding("fault", what, sentences.doctor.GUESSABLE_ADVICE)
        if length and "fastapi" not in parts:
            what = sentences.doctor.HTTP_WITHOUT_FASTAPI.format(name=name, driver=named)
            yield Finding("fault", what, sentences.doctor.HTTP_WITHOUT_FASTAPI_ADVICE.format(name=name))


def open_door(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield findings if other machines can reach the bot's port and no secret, or no token, keeps out forged events."""
    host = examined.bot.value("host") or "127.0.0.1"
    try:
        is_private = ip_address(str(decoded(host))).is_loopback
    except ValueError:
        is_private = host == "localhost"
    secrets = ("onebot_v11_secret", "onebot_secret")
    if not is_private and not any(examined.bot.value(name) for name in secrets):
        yield Finding("fault", sentences.doctor.FORGEABLE.format(host=host), sentences.doctor.FORGEABLE_ADVICE)
    tokens = (*("onebot_access_token", "onebot_v11_access_token"), "onebot_v12_access_token")
    if not is_private and not any(examined.bot.value(name) for name in tokens):
        yield Finding("hint", sentences.doctor.UNGUARDED.format(host=host), sentences.doctor.UNGUARDED_ADVICE)
