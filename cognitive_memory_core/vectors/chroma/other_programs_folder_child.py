"""The child process that reads the events of another program's Chroma folder: one JSON object a line on stdout.

Started by :mod:`.other_programs_folder` on a copy, because opening a folder of an older Chroma changes it. Any failure
ends it.
"""

from __future__ import annotations

import io
import os
import sys

import chromadb
import orjson
from chromadb.config import Settings

COLLECTIONS = ("cognitive_events", "events")
PAGE = 1_000  # rows held at once


def main(folder: str) -> None:
    """Write every event of the folder; whatever a library prints goes to stderr."""
    output = io.open(os.dup(1), "wb")  # noqa: UP020, SIM115  # for the life of the process
    os.dup2(2, 1)
    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    present = {one.name for one in client.list_collections()}
    for name in COLLECTIONS:
        if name in present:
            _write_rows(client.get_collection(name, embedding_function=None), output)
    output.close()


def _write_rows(collection: chromadb.Collection, output: io.BufferedWriter) -> None:
    offset = 0
    while (page := collection.get(limit=PAGE, offset=offset, include=["documents", "metadatas"]))["ids"]:
        documents, metadatas = page["documents"] or [], page["metadatas"] or []
        rows = ({"text": text, "metadata": metadata} for text, metadata in zip(documents, metadatas, strict=True))
        output.writelines(orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS) + b"\n" for row in rows)
        offset += len(page["ids"])


if __name__ == "__main__":
    main(sys.argv[1])
