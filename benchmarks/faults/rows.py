"""The list of rows: a row is a function of its extent. Rows of the vector store are in faults_chroma.py."""

from __future__ import annotations

import asyncio
import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..fault_row import Extent, Row

LONGEST = {  # seconds
    "": 300.0,
    **dict.fromkeys(("F2", "F16", "F17", "F26", "F27", "A12"), 600.0),
    **dict.fromkeys(
        ("F10b", "F15", "F24", "A5", "A6", "A7", "A9", "A13", "A14", "A15", "A16", "A17", "A20", "A23", "A23b", "A28"),
        900.0,
    ),
    "F37": 900.0,
    "A2": 1200.0,
    "F1": 2400.0,
    **dict.fromkeys(("F3", "F12"), 1500.0),
    **dict.fromkeys(("F21", "F25", "F28", "F33", "A29"), 2400.0),
}


def _here(module: str, name: str) -> Callable[[Extent], Row]:
    """Return a row of this folder; its module is loaded by the process that runs it."""

    def run(extent: Extent) -> Row:
        row: Row = getattr(importlib.import_module(f"benchmarks.faults.{module}"), name)(extent)
        return row

    return run


def _of_chroma(name: str, option: str, published: float, quick: float) -> Callable[[Extent], Row]:
    """Return a row of the vector store, at one of two sizes, in an empty folder."""

    def run(extent: Extent) -> Row:
        module = importlib.import_module("benchmarks.faults_chroma")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            size = {option: quick if extent.quick else published}
            row: Row = asyncio.run(getattr(module, name)(Path(folder), **size))
        return row

    return run


ROWS: dict[str, Callable[..., Row]] = {
    "F1": _here("kills", "f1"),
    "F2": _here("syscalls", "f2"),
    "F3": _here("syscalls", "f3"),
    "F4": _here("syscalls", "f4"),
    "F5": _here("syscalls", "f5"),
    "F6": _here("kills", "f6"),
    "F7": _here("kills", "f7"),
    "F8": _here("queueing", "f8"),
    "F9": _here("syscalls", "f9"),
    "F10": _here("queueing", "f10"),
    "F10b": _of_chroma("f10b", "rounds", 50, 3),
    "F11": _of_chroma("f11", "rounds", 50, 5),
    "F12": _of_chroma("f12", "mutants", 200, 6),
    "F13": _of_chroma("f13", "seconds", 60.0, 8.0),
    "F14": _here("models", "f14"),
    "F15": _here("models", "f15"),
    "F16": _here("models", "f16"),
    "F17": _here("models", "f17"),
    "F18": _here("models", "f18"),
    "F19": _here("embedding", "f19"),
    "F20": _here("embedding", "f20"),
    "F21": _here("queueing", "f21"),
    "F22": _here("profile_writes", "f22"),
    "F23": _here("profile_writes", "f23"),
    "F24": _here("group_runs", "f24"),
    "F25": _here("clocks", "f25"),
    "F26": _here("limits", "f26"),
    "F27": _here("signals", "f27"),
    "F28": _here("upgrades", "f28"),
    "F29": _of_chroma("f29", "rows", 10_000, 1_500),
    "F30": _here("drift", "f30"),
    "F31": _here("syscalls", "f31"),
    "F32": _here("queueing", "f32"),
    "F33": _here("mixed", "f33"),
    "F34": _here("cancelled", "f34"),
    "F36": _here("models", "f36"),
    "F37": _here("starved", "f37"),
    "A1": _here("hostile_tools", "a1"),
    "A2": _here("isolation", "a2"),
    "A3": _here("isolation", "a3"),
    "A5": _here("forged", "a5"),
    "A6": _here("puppets", "a6"),
    "A7": _here("puppets", "a7"),
    "A8": _here("puppets", "a8"),
    "A9": _here("puppets", "a9"),
    "A10": _here("puppets", "a10"),
    "A11": _here("puppets", "a11"),
    "A12": _here("puppets", "a12"),
    "A13": _here("permissions", "a13"),
    "A14": _here("http_tokens", "a14"),
    "A14b": _here("web_doors", "a14b"),
    "A15": _here("http_gates", "a15"),
    "A15b": _here("web_doors", "a15b"),
    "A16": _here("http_foreign", "a16"),
    "A16b": _here("web_doors", "a16b"),
    "A17": _here("floods", "a17"),
    "A18": _here("patterns", "a18"),
    "A20": _here("strangers", "a20"),
    "A21": _here("erasure", "a21"),
    "A23": _here("extraction", "a23"),
    "A23b": _here("extraction_by_agents", "a23b"),
    "A25": _here("beliefs_deleted", "a25"),
    "A27": _here("supply", "a27"),
    "A28": _here("outgoing", "a28"),
    "A29": _here("tampering", "a29"),
    "A32": _here("opted_out", "a32"),
    "A33": _here("half_sent", "a33"),
}
