"""The list of rows: each is a function of its extent, named like the row."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ..fault_row import Extent, Row

ROWS = {  # the module, and what is injected
    "F1": ("processes", "kill -9 at random moments, whole pipeline"),
    "F2": ("syscalls", "SIGKILL at every system call of every publishing way"),
    "F3": ("syscalls", "ENOSPC, EIO, EACCES at every call, once and for good"),
    "F4": ("syscalls", "fsync fails once"),
    "F5": ("syscalls", "file synced before its rename, folder after it"),
    "F6": ("processes", "crash with a job in processing, restart after 1 s"),
    "F7": ("processes", "job that ends the process each time"),
    "F8": ("processes", "files that make no job, dropped by hand"),
    "F9": ("syscalls", "crash between any two effects of the historian"),
    "F10": ("processes", "second bot process on the same directory"),
    "F10b": ("chroma", "the bot is killed while its child writes"),
    "F11": ("chroma", "an upsert without an answer is repeated"),
    "F12": ("chroma", "a damaged directory"),
    "F13": ("chroma", "another process holds the write lock"),
    "F29": ("chroma", "filtered search after 40 % of the rows are deleted"),
    "F14": ("models", "chat model hangs, drips"),
    "F15": ("models", "chat model answers 500, 502, 503, 401, resets, no TLS, no DNS"),
    "F16": ("models", "chat model answers 429 with Retry-After"),
    "F17": ("models", "chat model writes nonsense"),
    "F18": ("models", "answer that replaces a profile is cut off"),
    "F19": ("embedding", "embedding endpoint answers badly"),
    "F20": ("embedding", "model exchanged, kill -9 while embedding and building"),
    "F21": ("floods", "queue flooded"),
    "F22": ("syscalls", "profile write crashes between snapshot and replace"),
    "F23": ("merged_at_once", "two merges of one profile at once, an admin edits meanwhile"),
    "F24": ("evolution", "group evolution crashes half-way through keep/update/create/delete"),
    "F25": ("machine", "clock back 1 h, ahead 10 years, at 1970"),
    "F26": ("machine", "no file handles, no memory"),
    "F27": ("machine", "SIGTERM with a hanging model; cancellation at every await"),
    "F28": ("upgrades", "data of each earlier format opened, migration killed, later format refused"),
    "F30": ("chroma", "index and ledger diverge"),
    "F31": ("syscalls", "crash while all of 500 buried jobs are revived"),
    "F32": ("processes", "Windows: files in use, names"),
    "F33": ("mixed", "hours of mixed faults at 1 %, backups restored elsewhere"),
    "F34": ("cancelled", "background loops cancelled by somebody else"),
    "F35": ("rewritten_settings", ".env and overrides.json damaged while the bot runs"),
    "F36": ("models", "provider refuses the key or the model"),
    "F37": ("starved", "fifty messages a second with a fifth of a core"),
    "A1": ("hostile_tools", "tools with hostile arguments"),
    "A2": ("isolation", "random scenes, every way of reading"),
    "A3": ("isolation", "groups ask for what was told in private"),
    "A5": ("forged", "forged events of superusers and admins"),
    "A6": ("puppets", "names that claim to be somebody"),
    "A7": ("puppets", "names and lines with hidden signs"),
    "A8": ("puppets", "YAML in names, tags and profiles"),
    "A9": ("puppets", "orders among what is said, stored and recalled"),
    "A10": ("puppets", "B is a thief, fifty times from five accounts"),
    "A11": ("puppets", "profile overwritten by what a merge answers"),
    "A12": ("puppets", "model steered to other groups and people"),
    "A13": ("permissions", "commands of people who may not, and of those who may"),
    "A14": ("doors", "HTTP without the token"),
    "A14b": ("doors", "console and MCP without session or token"),
    "A15": ("doors", "around the gates of HTTP"),
    "A15b": ("doors", "forms of other sites, other hosts"),
    "A16": ("doors", "ids of another agent's things, with the token"),
    "A16b": ("doors", "an agent that wants to leave its place"),
    "A17": ("floods", "flood of long messages, of turns, and of messages beside them, by one"),
    "A18": ("patterns", "patterns at their longest and worst text"),
    "A20": ("strangers", "the bot's own words, other accounts, anonymous members, bots answering bots"),
    "A21": ("erasure", "forget somebody, then scan every byte"),
    "A23": ("extraction", "a member has everybody's portrait read"),
    "A23b": ("extraction", "an agent over MCP has everybody's portrait read"),
    "A25": ("evolution", "group evolution told to delete true memories, and who its admin is"),
    "A27": ("supply", "code out of data, dependencies that drift, connections outwards"),
    "A28": ("outgoing", "codes, Markdown and HTML in memory"),
    "A29": ("tampering", "bytes flipped in ledger, profiles, jobs, overrides.json"),
    "A31": ("one_queue", "a chat plugin answers messages of several places from one handler"),
    "A32": ("opted_out", "named by card, former card and nickname after opting out; a word of others as the last card"),
    "A33": ("doors", "half-sent log-ins and bodies"),
    "A34": ("said_before", "history taken in after changes of consent, files imported and killed in the middle"),
}


def run_row(name: str, extent: Extent) -> Row:
    """Run a row; one that gives no time of its own took as long as the whole of it."""
    started = time.perf_counter()
    module, what = ROWS[name]
    found = getattr(importlib.import_module(f"benchmarks.faults.{module}"), name.lower())(extent)
    row: Row = asyncio.run(found) if inspect.iscoroutine(found) else found
    return replace(row, row=name, what=what, seconds=row.seconds or time.perf_counter() - started)


def told(name: str, extent: Mapping[str, Any]) -> dict[str, Any]:
    """Run a row in a process of its own; return its fields."""
    return asdict(run_row(name, Extent(**extent)))


def rank(name: str) -> tuple[bool, int, str]:
    """Return a sort key: faults before attacks, by number."""
    return name[0] == "A", int("".join(filter(str.isdigit, name))), name


NAMES = sorted(ROWS, key=rank)
