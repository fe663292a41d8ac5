"""The route of exports: writes a temporary file, sends it in parts and deletes it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import anyio
import orjson
from fastapi import Query
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

import cognitive_memory_core as core

from ... import replies
from ...replies import http_guide as guide
from ..dependencies import LONGEST_ID, NothingThere, Operator, OperatorAccess
from ..routers import DescribedRouter, refusals

router = DescribedRouter()
LINES = 500  # a part
JSON_LINES = "application/x-ndjson"
_DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {"content": {JSON_LINES: {"schema": {"type": "string"}}}, "description": guide.ROUTES["export_memory"][1]}
}
_exporting = asyncio.Lock()


@router.get(
    "/export", responses={**_DESCRIBED, **refusals(404, 409)}, response_class=StreamingResponse, response_model=None
)
async def export_memory(
    operator: Operator,
    user_id: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID, description=guide.EXPORTED_USER)] = None,
) -> StreamingResponse:
    """Send the agent's memory, or one person's part of it; 409 while another export runs."""
    if _exporting.locked():
        raise core.MistakeError(replies.http.EXPORTING)
    await _exporting.acquire()
    export = TemporaryExport(operator)
    try:
        await export.write(user_id)
    except BaseException:
        await export.remove()
        raise
    return ExportResponse(export)


class TemporaryExport:
    """An export in a temporary folder of its own; :meth:`remove` must be called at the end."""

    def __init__(self, operator: OperatorAccess) -> None:
        """Prepare an export of the operator's agent; :meth:`write` writes it."""
        self._memory = operator.memory
        self._agent = operator.agent
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._path = Path()
        self._is_removed = False

    async def write(self, user_id: str | None) -> None:
        """Write the file; raises NothingThere for a person of whom the agent has nothing."""
        try:
            self._folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
            self._path = Path(self._folder.name) / "memory.jsonl"
            await self._memory.export(self._path, user_id=user_id)
            if user_id is not None and not await asyncio.to_thread(self._has_rows):
                raise NothingThere(replies.http.UNKNOWN_PERSON)
        except OSError as refused:
            raise core.StorageRefused(type(refused).__name__) from refused

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the agent's lines in chunks of some hundreds; the file is removed before the client sees the end."""
        parts = self._parts()
        while part := await asyncio.to_thread(next, parts, None):
            yield part
        await self.remove()  # before the client knows that it has everything

    async def remove(self) -> None:
        """Delete the file and permit the next export, also if the request was cancelled; idempotent."""
        if self._is_removed:
            return
        self._is_removed = True
        with anyio.CancelScope(shield=True):
            try:
                if self._folder is not None:
                    await asyncio.to_thread(self._folder.cleanup)
                    with suppress(core.CognitiveMemoryError):  # the memory was closed meanwhile
                        await self._memory.discard_export(self._path)
            finally:
                _exporting.release()

    def _parts(self) -> Iterator[bytes]:
        lines: list[bytes] = []
        for line, _ in self._lines():
            lines.append(line)
            if len(lines) == LINES:
                yield b"".join(lines)
                lines = []
        if lines:
            yield b"".join(lines)

    def _has_rows(self) -> bool:
        return any(row.get("type") for _, row in self._lines())

    def _lines(self) -> Iterator[tuple[bytes, Any]]:
        """Yield each line with its parsed content if it belongs to the agent or names no agent."""
        with self._path.open("rb") as file:
            for line in file:
                row = orjson.loads(line)
                if row.get("agent", self._agent) == self._agent:
                    yield line, row


class ExportResponse(StreamingResponse):
    """Sends an export, and removes it however the sending ends."""

    def __init__(self, export: TemporaryExport) -> None:
        """Send the parts of an export."""
        headers = {"Content-Disposition": "attachment; filename=memory.jsonl"}
        super().__init__(export.parts(), headers=headers, media_type=JSON_LINES)
        self._export = export

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the export; remove it even if sending fails."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._export.remove()
