"""The page of exports, imports and backups, which run in the background and show their progress."""

from __future__ import annotations

import asyncio
from datetime import datetime

from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, PlainTextResponse, Response

from .running_transfers import rows_written, written
from .visit import Visit


async def transfers(visit: Visit) -> Response:
    """Show the exports and backups that run, and the last ones that ended."""
    await visit.context.transfers.discard_old(visit.memory)
    latest = visit.context.transfers.latest
    sizes = {kind: await asyncio.to_thread(written, one) for kind, one in latest.items()}
    is_any = any(one.is_running for one in latest.values())
    rows = await asyncio.to_thread(rows_written, latest["export"]) if "export" in latest else 0
    done = {"export": rows, "backup": sizes.get("backup", 0)}
    totals = (await visit.memory.status()).totals
    return await visit.show("transfers.html", latest=latest, written=sizes, done=done, is_any=is_any, totals=totals)


async def begin(visit: Visit) -> Response:
    """Begin an export or a backup, unless one of its kind runs."""
    kind = visit.sent("kind")
    if kind not in ("export", "backup") or visit.context.transfers.is_running(kind):
        return visit.go("/transfers")
    if kind == "export":
        place = visit.place(visit.sent("place"))
        await visit.context.transfers.export(visit.memory, visit.sent("user_id"), place)
    elif visit.context.data_dir is not None:
        await visit.context.transfers.backup(visit.memory, visit.context.data_dir, datetime.now(visit.zone))
    return visit.go("/transfers")


async def import_(visit: Visit) -> Response:
    """Import an uploaded file, unless an import runs; the form holds this session's token, as every other does."""
    async with visit.request.form(max_files=1, max_fields=4) as form:
        token, file = form.get("form_token"), form.get("file")
        if not isinstance(token, str) or not visit.session.owns(token):
            return PlainTextResponse(visit.words("gate.foreign_form"), 403)
        if not isinstance(file, UploadFile) or not file.size:
            return visit.go("/transfers", notice=visit.words("transfers.no_file"))
        await visit.context.transfers.import_(visit.memory, file.file)
    return visit.go("/transfers")


async def cancel(visit: Visit) -> Response:
    """End an export or a backup that runs; nothing of it is left."""
    kind = visit.sent("kind")
    is_gone = kind != "import" and await visit.context.transfers.cancel(visit.memory, kind)
    return visit.go("/transfers", notice=visit.words("transfers.cancelled") if is_gone else "")


async def download(visit: Visit) -> Response:
    """Send the file of the last export."""
    last = visit.context.transfers.latest.get("export")
    if last is None or last.is_running or last.problem or not await asyncio.to_thread(last.path.exists):
        return visit.go("/transfers")
    name = f"cognitive-memory-{datetime.now(visit.zone):%Y%m%d-%H%M}.jsonl"
    return FileResponse(last.path, media_type="application/x-ndjson", filename=name)


async def discard(visit: Visit) -> Response:
    """Remove the file of the last export from the disk."""
    is_gone = await visit.context.transfers.discard(visit.memory)
    return visit.go("/transfers", notice=visit.words("transfers.discarded") if is_gone else "")


PAGES = (
    ("GET", "/transfers", transfers),
    ("POST", "/transfers/begin", begin),
    ("POST", "/transfers/import", import_),
    ("POST", "/transfers/cancel", cancel),
    ("GET", "/transfers/download", download),
    ("POST", "/transfers/discard", discard),
)
