"""Tests of models of this machine by name, which fastembed runs: tiny ones in its real files."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognitive_memory_core import CognitiveMemory, Settings
from cognitive_memory_core.errors import Busy, UnavailableError
from cognitive_memory_core.models import fastembed_models
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.models.local import LocalEmbedder, LocalModel, local_embedder
from cognitive_memory_core.models.reranking import local_scores
from cognitive_memory_core.settings.schema import EmbeddingSettings
from tests.support.telling import READING, tell
from tests.support.tiny_models import EMBEDDER, LENGTH, RERANKER, RERANKER_FILE, write_embedder, write_reranker

WANTED = EmbeddingSettings(local=EMBEDDER)


def folder(data_dir: Path, name: str = EMBEDDER) -> Path:
    """Return where downloaded files of a model lie."""
    return fastembed_models.folder_of(name, "", data_dir)


async def test_a_named_encoder_embeds(tmp_path: Path) -> None:
    """The encoder's vectors have its length and unit length, and its scale is measured; no text is too odd for it."""
    write_embedder(folder(tmp_path))
    embedder = local_embedder(WANTED, tmp_path)
    assert isinstance(embedder, LocalEmbedder)
    vectors = np.array(await embedder.embed_documents(["养了一只橘猫", "", "\ud800", "长" * 100_000]))
    assert vectors.shape == (4, LENGTH)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.calibration.is_usable
    assert embedder.name == EMBEDDER
    embedder.close()


async def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    """``local_path`` names a folder anywhere, and the instructions go before questions and documents."""
    own = write_embedder(tmp_path / "elsewhere")
    plain = local_embedder(EmbeddingSettings(local=EMBEDDER, local_path=str(own)), tmp_path)
    instructed = local_embedder(
        EmbeddingSettings(local=EMBEDDER, local_path=str(own), query_instruction="水水水"), tmp_path
    )
    assert await plain.embed_documents(["茶"]) == await instructed.embed_documents(["茶"])
    assert await plain.embed_query("水水水茶") == await instructed.embed_query("茶")
    assert plain.fingerprint != instructed.fingerprint


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("nothing downloaded", "cognitive-memory download"),
        ("no tokenizer", "cognitive-memory download"),
        ("no package", "[fastembed]"),
    ],
)
def test_what_is_not_there_is_replaced_by_hashing(
    case: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the model's files or the package hashing is used, and one line says what to do."""
    if case != "nothing downloaded":
        write_embedder(folder(tmp_path))
    if case == "no tokenizer":
        (folder(tmp_path) / "tokenizer.json").unlink()
    if case == "no package":
        monkeypatch.setattr(fastembed_models, "find_spec", lambda _: None)
    assert isinstance(local_embedder(WANTED, tmp_path), HashingEmbedder)
    (line,) = caplog.messages
    assert told in line


async def test_a_memory_with_models_of_its_machine(tmp_path: Path) -> None:
    """Events are found by a named encoder, and a named cross-encoder reranks them; neither needs an address."""
    write_embedder(folder(tmp_path))
    write_reranker(folder(tmp_path, RERANKER))
    settings = Settings.from_mapping(
        {
            "models": {"embedding": {"local": EMBEDDER}, "rerank": {"local": RERANKER}},
            "vector_store": {"backend": "exact"},
        }
    )
    async with CognitiveMemory.open(settings, tmp_path) as memory:
        assert memory.embedder == EMBEDDER
        for text in ("周末去喝茶，茶馆在河边", "家里养了一只橘猫，猫很胖"):
            await tell(memory, READING, text)
        assert await memory.drain(60)
        while (await memory.context(READING, "茶馆")).degraded:  # the cross-encoder is loaded  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        found = await memory.search_events(READING, "茶馆")
        assert "橘猫" in found[0].event.text  # the cross-encoder counts one character
        context = await memory.context(READING, "茶馆")
        assert not context.degraded
        assert not (await memory.status()).failing


async def test_the_cross_encoder_answers_in_order(tmp_path: Path) -> None:
    """Scores are in [0, 1] and in the order of the texts; a broken model is unavailable."""
    files = write_reranker(tmp_path / "good")
    load = partial(fastembed_models.cross_encoder, RERANKER, files)
    model = LocalModel("reranker", load, after=0, refusal=RERANKER)
    with pytest.raises(Busy):
        await local_scores(model, "问", ["猫猫猫"])
    await model.load()
    high, low = await local_scores(model, "问", ["猫猫猫", "茶茶茶"], seconds=60)
    assert 0 <= low < 0.5 < high <= 1
    model.close()
    (files / RERANKER_FILE).write_bytes(b"broken")
    broken = LocalModel("reranker", load, after=0, refusal=RERANKER)
    for asked in (broken.load(), local_scores(broken, "问", ["猫"])):
        with pytest.raises(UnavailableError, match=RERANKER):
            await asked
    broken.close()


class _Hub(BaseHTTPRequestHandler):
    """As much of the model hub's interface as a download of one repository takes."""

    files: dict[str, bytes]

    def do_GET(self) -> None:
        """Answer questions about the repository, and send its files."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self, *, with_body: bool) -> None:
        path = self.path.partition("?")[0]
        headers, body = {"Content-Type": "application/json"}, b""
        if path.startswith("/api/models/"):
            listed: list[Any] = [{"rfilename": name} for name in self.files]
            body = json.dumps({"id": "some/model", "sha": "0" * 40, "siblings": listed}).encode()
            if "/tree/" in path:
                rows = [{"type": "file", "path": n, "size": len(b), "oid": "1" * 40} for n, b in self.files.items()]
                body = json.dumps(rows).encode()
        elif (name := path.partition("/resolve/")[2].partition("/")[2]) in self.files:
            body = self.files[name]
            headers |= {"ETag": f'"{len(body)}"', "X-Repo-Commit": "0" * 40}
        else:
            self.send_error(404)
            return
        self.send_response(200)
        for header, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(header, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """Serve the files of a tiny encoder as the model hub does."""
    files = write_embedder(tmp_path / "served")
    _Hub.files = {str(path.relative_to(files)): path.read_bytes() for path in files.rglob("*") if path.is_file()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def download(endpoint: str, data_dir: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Run ``cognitive-memory download`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "cognitive_memory_core.cli", "download", "--data", str(data_dir), *names],
        env=os.environ | {"HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
        cwd=data_dir.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


async def test_download_fetches_what_a_bot_loads(hub: str, tmp_path: Path) -> None:
    """``cognitive-memory download`` puts a model where a bot finds it, says how to use it, and may be repeated."""
    data_dir = tmp_path / "data"
    for _ in range(2):
        done = await asyncio.to_thread(download, hub, data_dir, EMBEDDER)
        assert done.returncode == 0, done.stderr
        assert f"COGNITIVE_MEMORY__MODELS__EMBEDDING__LOCAL={EMBEDDER}" in done.stdout
    assert isinstance(local_embedder(WANTED, data_dir), LocalEmbedder)


def test_a_hub_that_cannot_be_reached(tmp_path: Path) -> None:
    """A download without a network ends with one sentence that names a way, not with a traceback."""
    done = download("http://127.0.0.1:1", tmp_path / "data", EMBEDDER)
    assert done.returncode == 1
    assert "HF_ENDPOINT" in done.stderr
    assert "Traceback" not in done.stderr
