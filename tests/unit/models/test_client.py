"""Tests of a single request to a model: what is sent, accepted, and how failures are reported."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import tracemalloc
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from cognitive_memory_core.errors import (
    BadAnswer,
    CognitiveMemoryError,
    ModelRefused,
    PermanentError,
    TooSlow,
    UnavailableError,
)
from cognitive_memory_core.models.client import ModelClient
from cognitive_memory_core.settings.schema import EmbeddingSettings
from tests.support import model_server
from tests.support.meters import ListedMeter
from tests.support.model_server import Behaviour, ModelServer, raw, status

KEY, SAID = "sk-canary-5317", "阿棠住在静安寺"
ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-env-canary",
    "OPENAI_ADMIN_KEY": "sk-env-admin-canary",
    "OPENAI_ORG_ID": "org-env-canary",
    "OPENAI_PROJECT_ID": "project-env-canary",
    "OPENAI_CUSTOM_HEADERS": "X-Mine: header-env-canary",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}
POSTING = """
import asyncio, sys
from pydantic import SecretStr
from cognitive_memory_core.models.client import ModelClient
from cognitive_memory_core.settings.schema import EmbeddingSettings
from tests.support.meters import ListedMeter

async def post():
    settings = EmbeddingSettings(api_url=sys.argv[1], api_key=SecretStr(sys.argv[2]))
    client = ModelClient(settings, "embedding", ListedMeter())
    await client.answer("embedding", "/embeddings", {"model": "m", "input": ["x"]}, 20.0)
    await client.close()

asyncio.run(post())
"""
HTTP = "http:" + "//"
LIMIT = 1 << 20
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def posted(url: str, *, key: str = KEY, seconds: float = 5.0) -> Mapping[str, Any]:
    """Post a text with a new client."""
    settings = EmbeddingSettings(api_url=url, api_key=SecretStr(key))
    client = ModelClient(settings, "embedding", ListedMeter(), limit=LIMIT)
    try:
        return await client.answer("embedding", "/embeddings", {"model": "m", "input": [SAID]}, seconds)
    finally:
        await client.close()


async def failure(url: str, seconds: float = 5.0) -> CognitiveMemoryError:
    """Post a text and return the error."""
    with pytest.raises(CognitiveMemoryError) as raised:
        await posted(url, seconds=seconds)
    return raised.value


AWAY = "稍后再试"
CONFIGURATION = "COGNITIVE_MEMORY__MODELS__EMBEDDING__"


@pytest.mark.parametrize(
    ("behaviour", "error", "says"),
    [
        (status(429), UnavailableError, AWAY),
        (status(500), UnavailableError, AWAY),
        (status(500, message="input is too large to process. increase the physical batch size"), PermanentError, "500"),
        (status(500, message="the request exceeds the available context size"), PermanentError, "HTTP 500"),
        (status(500, message="This model's maximum context length is 512 tokens"), PermanentError, "HTTP 500"),
        (status(500, message="x" * 200 + "input is too large to process"), UnavailableError, AWAY),
        (status(503, message="input is too large to process"), UnavailableError, AWAY),
        (status(503), UnavailableError, AWAY),
        (model_server.cut, UnavailableError, AWAY),
        (raw(b"{}" * 99, cut_after=20), UnavailableError, AWAY),
        (model_server.never, TooSlow, AWAY),
        (model_server.dripping(0.05), TooSlow, AWAY),
        (status(401), ModelRefused, CONFIGURATION + "API_KEY"),
        (status(400, message="Invalid API-key provided"), ModelRefused, CONFIGURATION + "API_KEY"),
        (status(404), ModelRefused, CONFIGURATION + "MODEL_NAME"),
        (status(405), ModelRefused, CONFIGURATION + "API_URL"),
        (status(400, message="The model `m` does not exist"), ModelRefused, CONFIGURATION + "MODEL_NAME"),
        (status(400, message="Unsupported parameter: 'max_tokens' is not supported"), ModelRefused, "EXTRA_BODY"),
        (status(400, message="'temperature' does not support 0.2 with this model."), ModelRefused, "EXTRA_BODY"),
        (raw(b"model not found", status=400), ModelRefused, CONFIGURATION + "MODEL_NAME"),
        (model_server.as_json({"detail": [{"input": "model not found"}]}, status=400), PermanentError, "HTTP 400"),
        (status(422, message="model not found"), PermanentError, "HTTP 422"),
        (model_server.redirect("http://127.0.0.1:9/"), ModelRefused, CONFIGURATION + "API_URL"),
        (status(400), PermanentError, "HTTP 400"),
        (status(422), PermanentError, "HTTP 422"),
        (model_server.huge(12), BadAnswer, "1048576"),
        (model_server.bomb(40), BadAnswer, "压缩"),
        (raw(b"x", headers={"Content-Encoding": "br"}), BadAnswer, "压缩"),
    ],
)
async def test_every_failure_has_its_name(
    server: ModelServer, behaviour: Behaviour, error: type[CognitiveMemoryError], says: str
) -> None:
    """Each failure has its error type after one attempt, without the key or the text in its message."""
    server.embeddings = behaviour
    raised = await failure(server.url, seconds=1.0 if error is TooSlow else 5.0)
    assert (type(raised), says in str(raised)) == (error, True), str(raised)
    assert KEY not in str(raised)
    assert SAID not in str(raised)
    assert raised.__suppress_context__ or raised.__context__ is None
    assert len(server.asked) == 1


async def test_bomb_is_never_unpacked(server: ModelServer) -> None:
    """A small answer that unpacks to 64 MB is refused after a few megabytes."""
    server.embeddings = model_server.bomb(64)
    tracemalloc.start()
    try:
        await failure(server.url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer TLS clients in plain text."""
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send nothing until the client disconnects."""
    await reader.read()
    writer.close()


@pytest.fixture
def left_sockets() -> Iterator[None]:
    """Close the sockets that Python 3.10 leaves open when a handshake is cancelled, before another test is blamed."""
    yield
    if sys.version_info < (3, 11):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@pytest.mark.usefixtures("left_sockets")
@pytest.mark.parametrize(("answer", "says"), [(hang_up, "加密"), (wait, AWAY)])
async def test_failed_handshake_is_away(answer: Answer, says: str) -> None:
    """A server without TLS raises UnavailableError, and the request does not count."""
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        raised = await failure(f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/v1")
    assert type(raised) is UnavailableError
    assert says in str(raised)


async def test_closed_port_and_impossible_name_are_away() -> None:
    """A closed port and an impossible host name raise UnavailableError."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = await failure(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
    overlong = await failure(HTTP + "a" * 70 + ".invalid/v1")
    assert {type(closed), type(overlong)} == {UnavailableError}


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "0xA9FEA9FE", "[fe80::1]"])
async def test_no_word_goes_to_a_metadata_service(host: str) -> None:
    """A forbidden address is refused before anything is sent, however it is written."""
    raised = await failure(f"{HTTP}{host}/v1", seconds=2.0)
    assert type(raised) is UnavailableError
    assert "元数据" in str(raised)


async def test_redirects_are_not_followed(server: ModelServer) -> None:
    """Redirects are not followed."""
    async with ModelServer() as other:
        server.embeddings = model_server.redirect(other.url + "/embeddings")
        await failure(server.url)
        assert other.asked == []


async def test_environment_does_not_leave(server: ModelServer) -> None:
    """Without a key none is sent, nothing of the environment is, and no proxy is used."""
    environment = {**os.environ, **ENVIRONMENT}
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", POSTING, server.url, "", env=environment)
    assert await child.wait() == 0
    sent = server.asked[0].headers
    assert "authorization" not in sent
    assert "canary" not in str(sent)
    assert not [name for name in sent if name.startswith("x-")]


async def test_logs_hold_neither_key_nor_words(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    """Logs of the used libraries contain no text and no key, even at debug level."""
    caplog.set_level(logging.DEBUG)
    await posted(server.url)
    server.embeddings = status(401)
    await failure(server.url)
    assert caplog.records
    assert KEY not in caplog.text
    assert SAID not in caplog.text
