"""``cognitive-memory doctor``: checks, each of which finds one kind of fault and says what to do.

Here are the checks of the machine and of the models, and :func:`examine`, which runs all checks.
"""

from __future__ import annotations

import argparse
import platform
import runpy
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

from packaging.requirements import Requirement

from .. import sentences
from ..directory_owner import is_owned
from ..errors import BadArgument, CognitiveMemoryError, UnavailableError
from ..memory.opened import refuse_lost_ledger
from ..memory.read_only import DirectorySnapshot, MemoryReader, opened_reader, uncounted
from ..models import fastembed_models
from ..models.client import ModelClient
from ..models.embedding import OpenAIEmbedder
from ..models.local import local_embedder
from ..models.reranking import http_scores
from ..ports import is_hashing
from ..settings.schema import ChatRole, EmbeddingSettings, ModelSettings, ServedModel, Settings
from ..vectors.chroma.store import server_refusal
from .bot_directory import BotDirectory, shared_dir
from .doctor_variables import (
    Check,
    Finding,
    bridges,
    driver,
    env_file,
    fault,
    fine,
    hint,
    http,
    open_door,
    overrides,
    prefixes,
    superusers,
    values,
)
from .main import plugin_file
from .parser import DONE, FAILED, say, show

DISTRIBUTION = "nonebot-plugin-cognitive-memory"
GIGABYTE = 1_000_000_000
LOW, TOO_LOW = 2 * GIGABYTE, GIGABYTE // 4
CLOCK_BEHIND = timedelta(minutes=10)
WRITTEN = datetime(2026, 1, 1, tzinfo=timezone.utc)  # no clock that is right shows an earlier time
words = sentences.command_line
T = TypeVar("T")


async def own_directory(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if .env leaves the data in a directory that all bots of the system user share."""
    if bot.set_dir is None:
        yield fault(words.SHARED_DIRECTORY, words.SHARED_DIRECTORY_ADVICE, path=shared_dir())


async def writable(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if no file can be created in the data directory; the trial file is deleted."""
    there = _nearest(bot.place)
    if not there.is_dir():
        yield fault(words.NOT_A_DIRECTORY, words.NOT_A_DIRECTORY_ADVICE, path=there)
        return
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as refused:
        yield fault(words.NOT_WRITABLE, words.NOT_WRITABLE_ADVICE, path=there, reason=refused.strerror)
    else:
        yield fine(words.WRITABLE, path=bot.place)


async def owner(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if a running process owns the data directory; in a shared one, it may be another bot."""
    if is_owned(bot.place):
        if bot.set_dir is None and bot.given_dir is None:
            yield fault(words.OWNED_SHARED, words.SHARED_DIRECTORY_ADVICE)
        else:
            yield hint(words.OWNED, words.OWNED_ADVICE)


async def disk(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if the disk of the data directory is nearly full."""
    there = _nearest(bot.place)
    if (free := shutil.disk_usage(there).free) < LOW:
        level = fault if free < TOO_LOW else hint
        yield level(words.LOW_DISK, words.LOW_DISK_ADVICE, path=there, megabytes=free // 1_000_000)


async def ledger(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield findings on the ledger: damage, version, failed jobs, the length of its vectors, a clock that went back."""
    if not _nearest(bot.place).is_dir():
        return
    settings = bot.settings if bot.has_ledger else Settings()
    try:
        if not bot.has_ledger:
            if bot.place.is_dir():
                refuse_lost_ledger(bot.place)
            yield hint(words.NO_LEDGER_YET, words.NO_LEDGER_ADVICE, path=bot.place)
            return
        async with opened_reader(settings, bot.place) as reader:
            snapshot, damages = await reader.snapshot(), await reader.ledger.examine()
    except CognitiveMemoryError as unreadable:
        yield Finding("fault", str(unreadable), words.LEDGER_ADVICE)
        return
    yield fine(words.LEDGER_READ, events=snapshot.totals.events)
    if damages:
        damaged, first = sentences.storage_errors.ROWS_DAMAGED, damages[0]
        yield fault(damaged, words.DAMAGE_ADVICE, count=len(damages), first=first)
    if snapshot.jobs.failed:
        yield hint(words.FAILED_JOBS, words.FAILED_JOBS_ADVICE, count=snapshot.jobs.failed)
    wanted, stored = settings.models.embedding.dimensions, snapshot.dimensions
    if wanted and stored and wanted != stored:
        yield fault(words.DIMENSIONS_CHANGED, words.DIMENSIONS_ADVICE, given=wanted, stored=stored)
    seen = snapshot.clock.seen_at if snapshot.clock else None
    if seen is not None and seen - datetime.now(timezone.utc) > CLOCK_BEHIND:
        yield fault(words.CLOCK_BEHIND, words.CLOCK_ADVICE, seen=f"{seen.astimezone(settings.zone):%Y-%m-%d %H:%M}")


async def ids(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding for each name in the settings of ids that decide who is recorded; a v12 id may have letters."""
    capture = bot.settings.capture
    settings: tuple[tuple[str, Literal["person", "group"], Sequence[str]], ...] = (
        ("groups", "group", capture.groups),
        ("ignore_groups", "group", capture.ignore_groups),
        ("ignore_users", "person", capture.ignore_users),
    )
    for key, kind, listed in settings:
        for said in listed:
            known = (
                [said] if said.isdecimal() else await _read(bot, partial(MemoryReader.known_as, kind=kind, said=said))
            )
            if known != [said]:
                level = fault if known or not said.isascii() else hint
                advice = words.id_advice(kind, known or ())
                yield level(words.NAME_FOR_ID, advice, name=sentences.settings.env_name(f"capture.{key}"), said=said)


async def _read(bot: BotDirectory, reading: Callable[[MemoryReader], Awaitable[T]]) -> T | None:
    """Return what is read from the data directory; None if it has no ledger, or one that cannot be read."""
    with suppress(UnavailableError):  # "ledger" says why
        async with opened_reader(bot.settings, bot.place) as reader:
            return await reading(reader)
    return None


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


async def packages(_: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding on the packages that are missing, or have a version that this release does not support."""
    try:
        wanted = [Requirement(one) for one in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        yield fault(words.NOT_INSTALLED, words.INSTALL)
        return
    bad: list[str] = []
    for need in wanted:
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            try:
                found = version(need.name)
            except PackageNotFoundError:
                bad.append(words.PACKAGE_MISSING.format(name=need.name))
            else:
                if not need.specifier.contains(found, prereleases=True):
                    bad.append(words.PACKAGE_WRONG.format(name=need.name, found=found, wanted=need.specifier))
    if bad:
        yield fault(words.BAD_PACKAGES, words.INSTALL, packages="、".join(bad))
    else:
        yield fine(words.PACKAGES_FIT, python=platform.python_version())


async def fonts(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding for each thing that drawing picture cards lacks: Pillow, or a font with Chinese characters."""
    if find_spec("PIL") is None:
        yield hint(words.NO_PILLOW, words.PILLOW_ADVICE)
    script, own = plugin_file("cards/fonts.py"), bot.place / "fonts"
    if script is None:
        return
    if found := runpy.run_path(str(script))["found_fonts"](own).chinese:
        yield fine(words.FONT_FOUND, path=found[0])
    else:
        yield hint(words.NO_FONT, words.FONT_ADVICE, folder=own)


async def clock(_: BotDirectory) -> AsyncIterator[Finding]:
    """Yield a finding if the clock was never set."""
    if (now := datetime.now(timezone.utc)) < WRITTEN:
        yield fault(words.CLOCK_UNSET, words.CLOCK_ADVICE, now=f"{now:%Y-%m-%d}")


ROLES: tuple[ChatRole, ...] = ("historian", "triage", "merge", "evolution")
SECONDS = 30.0


async def try_models(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Ask every chat model, the embedding model and the reranking model that are set."""
    models = bot.settings.models
    snapshot = await _read(bot, MemoryReader.snapshot)
    if not models.historian.model_name:
        yield _without_model(bot, snapshot)
    for wanted in (models.embedding, models.rerank):
        if not wanted.model_name and "/" in wanted.local:
            folder = fastembed_models.folder_of(wanted.local, wanted.local_path, bot.place)
            if refusal := fastembed_models.refusal(wanted.local, folder):
                yield Finding("fault", words.LOCAL_MODEL_REFUSED.format(name=wanted.local), refusal)
            else:
                yield fine(words.LOCAL_MODEL, name=wanted.local)
    if not models.embedding.model_name and "/" not in models.embedding.local:
        used = local_embedder(models.embedding, Path())
        yield fine(words.HASHING if is_hashing(used) else words.ENCODER)
    by_role: dict[str, ServedModel] = {role: models.of(role) for role in ROLES}
    by_role |= {"embedding": models.embedding, "rerank": models.rerank}
    for role, wanted in by_role.items():
        own = getattr(models, role).model_fields_set
        given = next((key for key in ("api_key", "api_url", "model_name") if key in own), "")
        if given and not (wanted.model_name and wanted.api_url):
            keys = given, "api_url" if wanted.model_name else "model_name"
            given, missing = (sentences.settings.env_name(f"models.{role}.{key}") for key in keys)
            yield fault(words.HALF_MODEL, words.HALF_MODEL_ADVICE, given=given, missing=missing)
    if bot.is_offline:
        yield hint(words.OFFLINE)
        return
    tried: list[ServedModel] = []
    for role, wanted in by_role.items():
        if wanted.model_name and wanted.api_url and wanted not in tried:  # roles may share a model
            tried.append(wanted)
            yield await _tried(role, wanted, snapshot.dimensions if snapshot else 0)


def _without_model(bot: BotDirectory, snapshot: DirectorySnapshot | None) -> Finding:
    """Return whose model the bot borrows while it runs, or how to get one."""
    settings = bot.settings
    if lenders := snapshot.lenders if snapshot else settings.lenders(is_new=True):
        return fine(words.BORROWED, names="、".join(lenders))
    if settings.bridges and settings.models.historian.borrow == "auto":
        key = sentences.settings.env_name("models.historian.borrow")
        advice = words.MAY_BORROW_ADVICE.format(key=key, name=settings.bridges[0])
        return Finding("hint", words.MAY_BORROW.format(names="、".join(settings.bridges)), advice)
    return hint(words.NO_MODEL, words.NO_MODEL_ADVICE)


async def _tried(role: str, wanted: ServedModel, stored: int) -> Finding:
    """Return whether a model answers, and its vectors have the length of the ``stored`` ones, if there are any."""
    client = ModelClient(wanted, role, uncounted)
    try:
        if isinstance(wanted, EmbeddingSettings):
            embedder = OpenAIEmbedder(wanted, client, seconds=SECONDS, query_seconds=SECONDS)
            length = len(await embedder.embed_query(words.PROBE))
            if stored and stored != length:
                return fault(words.DIMENSIONS_CHANGED, words.DIMENSIONS_ADVICE, given=length, stored=stored)
            return fine(words.EMBEDDING_ANSWERS, name=wanted.model_name, length=length)
        if isinstance(wanted, ModelSettings):
            messages = [{"role": "user", "content": words.PROBE}]
            body: dict[str, object] = {"model": wanted.model_name, "messages": messages}
            body |= {"max_tokens": wanted.max_tokens, **wanted.extra_body}
            kept = {key: value for key, value in body.items() if value is not None}
            await client.answer(role, "/chat/completions", kept, min(wanted.timeout_seconds, SECONDS))
        else:
            await http_scores(wanted.model_name, client, words.PROBE, [words.PROBE])
    except CognitiveMemoryError as refused:
        return fault(words.MODEL_FAILS, words.MODEL_ADVICE, role=role, reason=refused)
    else:
        return fine(words.MODEL_ANSWERS, role=role, name=wanted.model_name)
    finally:
        await client.close()


async def try_vector_server(bot: BotDirectory) -> AsyncIterator[Finding]:
    """Ask the Chroma server, if one is set."""
    settings = bot.settings.vector_store
    if not bot.is_offline:
        if refusal := server_refusal(settings, SECONDS):
            yield Finding("fault", refusal, words.CHROMA_ADVICE)
        elif settings.url:
            yield fine(words.CHROMA_ANSWERS)


CHECKS: Mapping[str, Check] = {
    "env": env_file,
    "prefix": prefixes,
    "values": values,
    "overrides": overrides,
    "superusers": superusers,
    "driver": driver,
    "open-door": open_door,
    "http": http,
    "bridges": bridges,
    "ids": ids,
    "own-directory": own_directory,
    "writable": writable,
    "owner": owner,
    "disk": disk,
    "ledger": ledger,
    "models": try_models,
    "vectors": try_vector_server,
    "packages": packages,
    "fonts": fonts,
    "clock": clock,
}
_STYLES = {"fine": "green", "hint": "yellow", "fault": "bold red"}


async def examine(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Run every check and print what was found; the status says whether there is a fault."""
    found: list[tuple[str, Finding]] = []
    for name, check in CHECKS.items():
        with suppress(BadArgument):  # settings that cannot be used: "values" tells of them
            async for finding in check(bot):
                found.append((name, finding))  # noqa: PERF401  # those before an error are kept
    counts = Counter(finding.level for _, finding in found)
    if arguments.json:
        figures = [{"check": name, **vars(one)} for name, one in found]
        show(arguments, {"ok": not counts["fault"], "findings": figures}, "")
    else:
        for _, one in found:
            say(f"{words.MARKS[one.level]} {one.what}", _STYLES[one.level])
            if one.advice:
                say(f"  → {one.advice}")
        say(words.summary(counts["fault"], counts["hint"]))
    return FAILED if counts["fault"] else DONE
