"""Runs every check and shows what was found."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from ... import sentences
from ...errors import BadArgument
from ..bot_directory import BotDirectory
from ..parser import DONE, FAILED, console, show
from . import machine, models, variables
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
    "bridges": variables.bridges,
    "own-directory": machine.own_directory,
    "writable": machine.writable,
    "owner": machine.owner,
    "disk": machine.disk,
    "ledger": machine.ledger,
    "models": models.try_models,
    "vectors": models.try_vector_server,
    "packages": machine.packages,
    "fonts": machine.fonts,
    "clock": machine.clock,
}
_STYLES = {"fine": "green", "hint": "yellow", "fault": "bold red"}


async def examine(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Run every check and print what was found; the status says whether there is a fault."""
    examined, found = ExaminedBot(bot, is_offline=arguments.offline), list[tuple[str, Finding]]()
    for name, check in CHECKS.items():
        findings = check(examined)  # nothing runs before the first finding is asked for
        here: list[Finding] = []
        with suppress(BadArgument):  # settings that cannot be used: "values" tells of them
            if isinstance(findings, AsyncIterator):
                async for one in findings:
                    here.append(one)  # noqa: PERF401  # those before an error are kept
            else:
                await asyncio.to_thread(here.extend, findings)
        found += [(name, one) for one in here]
    counts = Counter(finding.level for _, finding in found)
    if arguments.json:
        figures = [{"check": name, **vars(one)} for name, one in found]
        show(arguments, {"ok": not counts["fault"], "findings": figures}, "")
    else:
        from rich.text import Text  # noqa: PLC0415  # help and JSON do not need it

        for _, one in found:
            mark = f"{sentences.command_line.MARKS[one.level]} ", _STYLES[one.level]
            console().print(Text.assemble(mark, one.what, f"\n  → {one.advice}" if one.advice else ""))
        console().print(Text(sentences.command_line.summary(counts["fault"], counts["hint"])))
    return FAILED if counts["fault"] else DONE
