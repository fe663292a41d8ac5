"""Distinguishes the first start of a data directory from one that has lost its ledger."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .. import sentences
from ..disk import LOCK
from ..errors import UnavailableError
from ..store.database.migrations import MAGIC, copies_of, is_blank

LEDGER = "ledger.db"
CONSENT = "ledger.new"  # an empty file with which the operator requests a new ledger despite remains of an older one
_WAL = "-wal"


def refuse_lost_ledger(data_dir: Path) -> None:
    """Raise UnavailableError if there is no ledger, but files exist that prove that there was one; blocking.

    Jobs, end_summaries.json, settings and templates prove nothing: they may exist before the first start. If the
    operator requested a new ledger, nothing is raised, and an old WAL file is renamed to a name under which the next
    purge deletes it.
    """
    ledger, wal = data_dir / LEDGER, data_dir / f"{LEDGER}{_WAL}"
    if not is_blank(ledger):
        return
    kept = [copy for copy in copies_of(ledger) if copy.suffix == ".db" and _is_ledger(copy)]  # by migrations
    traces = [copy.name for copy in kept]
    with suppress(OSError):
        if wal.stat().st_size:
            traces.insert(0, wal.name)
    if any(data_dir.glob("profiles/**/*.md")) or any(data_dir.glob("agents/*/profiles/**/*.md")):
        traces.append("profiles/")
    if any(data_dir.glob("chromadb/[0-9][0-9][0-9][0-9]*")):
        traces.append("chromadb/")
    if not traces:
        return
    if not (data_dir / CONSENT).exists():
        with suppress(OSError):  # backups stand in sibling directories, which have no lock file
            for place in sorted(data_dir.absolute().parent.iterdir()):
                if _is_ledger(place / LEDGER) and not (place / LOCK).exists():
                    kept.append(place / LEDGER)  # noqa: PERF401  # those before an error are named
        copies = "、".join(map(str, kept))
        raise UnavailableError(sentences.storage_errors.ledger_lost(ledger, "、".join(traces), copies, CONSENT))
    with suppress(FileNotFoundError):
        wal.replace(data_dir / f"ledger.v0.db{_WAL}")


def forget_consent_to_begin_anew(data_dir: Path) -> bool:
    """Remove the operator's request for a new ledger, valid for one start; return if there was one; blocking."""
    with suppress(OSError):
        (data_dir / CONSENT).unlink()
        return True
    return False


def _is_ledger(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
