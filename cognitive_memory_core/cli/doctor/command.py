"""Runs every check and shows what was found."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from ... import sentences
from ..bot_directory import BotDirectory, declare_directory
from ..open_directory import runner
from ..parser import DONE, FAILED, Parser, Subcommand, console, print_json
from . import machine, models, storage, variables
from .findings import Check, ExaminedBot, Finding

CHECKS: Mapping[str, Check] = {
    "env": variables.env_file,
    "prefix": variables.prefixes,
    "values": variables.values,
    "overrides": variables.overrides,
    "superusers": variables.superusers,
    "driver": variables.driver,
    "open-door": variables.open_door,
    "http": variables.http,
    "bridges": machine.bridges,
    "own-directory": storage.own_directory,
    "writable": storage.writable,
    "owner": storage.owner,
    "disk": storage.disk,
    "ledger": storage.ledger,
    "models": models.try_models,
    "vectors": models.try_vector_server,
    "packages": machine.packages,
    "fonts": machine.fonts,
    "clock": machine.clock,
}
_STYLES = {"fine": "green", "hint": "yellow", "fault": "bold red"}
Findings = Sequence[tuple[str, Finding]]


def declare(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory doctor``."""
    declare_directory(parser)
    parser.options.add_argument("--offline", action="store_true", help=sentences.command_line.OFFLINE_OPTION)
    parser.options.add_argument("--json", action="store_true", help=sentences.command_line.JSON_OPTION)


async def _examine(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    examined = ExaminedBot(bot, is_offline=arguments.offline)
    found = [(name, one) for name, check in CHECKS.items() for one in await _findings(check, examined)]
    has_fault = any(finding.level == "fault" for _, finding in found)
    if arguments.json:
        rows = [
            {"check": name, "level": finding.level, "what": finding.what, "advice": finding.advice}
            for name, finding in found
        ]
        print_json({"ok": not has_fault, "findings": rows})
    else:
        _print(found)
    return FAILED if has_fault else DONE


async def _findings(check: Check, examined: ExaminedBot) -> list[Finding]:
    found = check(examined)  # nothing runs before the first finding is asked for
    if isinstance(found, AsyncIterator):
        return [finding async for finding in found]
    return await asyncio.to_thread(list, found)


def _print(found: Findings) -> None:
    from rich.text import Text  # noqa: PLC0415  # help and JSON do not need it

    shown = console()
    for _, finding in found:
        line = Text(f"{sentences.doctor.MARKS[finding.level]} ", style=_STYLES[finding.level])
        line.append(finding.what, style="none")
        if finding.advice:
            line.append(f"\n  → {finding.advice}", style="none")
        shown.print(line)
    counts = {level: sum(1 for _, finding in found if finding.level == level) for level in _STYLES}
    shown.print(Text(sentences.doctor.summary(counts["fault"], counts["hint"])))


COMMAND = Subcommand("doctor", sentences.command_line.DOCTOR_SUMMARY, declare, runner(_examine))
