"""Tests of a chat model over HTTP that is asked for an object by tool, JSON mode or text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from cognitive_memory_core.errors import BadAnswer, CognitiveMemoryError, PermanentError, TooSlow, UnavailableError
from cognitive_memory_core.models.chat import OpenAIChat
from cognitive_memory_core.models.client import ModelClient
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.settings.schema import ModelSettings
from tests.support import model_server
from tests.support.meters import ListedMeter
from tests.support.model_server import Behaviour, ModelServer, message, status, tool_call, words

GOOD = {"text": "阿棠(2000001) 喜欢乌龙茶"}
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
Made = Callable[..., OpenAIChat]


def parsed(text: str) -> str:
    """Parse the tests' own answer format."""
    answer = json.loads(text)
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        raise BadAnswer("no text")
    return answer["text"]


ASK = Ask("rewrite", "Write it down.", "我喜欢乌龙茶", "write_down", SCHEMA, parsed)


@pytest.fixture
async def made(server: ModelServer, meter: ListedMeter) -> AsyncIterator[Made]:
    """Return a function that makes chats with the server, and close them at the end."""
    clients: list[ModelClient] = []

    def make(**settings: Any) -> OpenAIChat:
        given = ModelSettings(**{"api_url": server.url, "model_name": "m", "timeout_seconds": 5, **settings})
        clients.append(ModelClient(given, "historian", meter))
        return OpenAIChat(given, clients[-1])

    yield make
    for client in clients:
        await client.close()


def ways(server: ModelServer) -> list[str]:
    """Return how each request asked for its format."""
    bodies = [asked.body for asked in server.asked]
    return ["tool" if "tools" in body else "json" if "response_format" in body else "text" for body in bodies]


async def test_answer_comes_through_a_forced_tool(server: ModelServer, made: Made, meter: ListedMeter) -> None:
    """The schema is sent as a forced tool, settings reach the model, and tokens are counted by purpose."""
    server.chat = tool_call(GOOD)
    chat = made(temperature=0.25, max_tokens=99, extra_body={"enable_thinking": False, "top_p": 0.5})
    assert await chat.ask(ASK) == GOOD["text"]
    body = server.asked[0].body
    assert body["tools"][0]["function"] == {"name": "write_down", "parameters": SCHEMA}
    assert body["tool_choice"] == {"type": "function", "function": {"name": "write_down"}}
    assert body["messages"] == [
        {"role": "system", "content": "Write it down."},
        {"role": "user", "content": "我喜欢乌龙茶"},
    ]
    wanted = {"temperature": 0.25, "max_tokens": 99, "enable_thinking": False, "top_p": 0.5}
    assert {key: body[key] for key in wanted} == wanted
    assert meter.calls == [("rewrite", 7)]


@pytest.mark.parametrize(
    ("behaviour", "first", "later"),
    [
        (tool_call(GOOD), ["tool"], ["tool"]),
        (words(json.dumps(GOOD)), ["tool"], ["tool"]),
        (model_server.without_tools(words(json.dumps(GOOD))), ["tool", "json"], ["json"]),
        (model_server.without_tools(words(json.dumps(GOOD)), "bad request"), ["tool", "json"], ["json"]),
        (model_server.deaf_to_tools(words(json.dumps(GOOD))), ["tool", "json"], ["json"]),
        (model_server.only_words(words(f"```json\n{json.dumps(GOOD)}\n```")), ["tool", "json", "text"], ["text"]),
    ],
    ids=["tool", "words", "no tools", "opaque", "deaf", "words only"],
)
async def test_what_works_is_remembered(
    server: ModelServer, made: Made, behaviour: Behaviour, first: list[str], later: list[str]
) -> None:
    """A provider without tools is asked in JSON mode, one without that in text, and this is remembered."""
    server.chat = behaviour
    chat = made()
    assert await chat.ask(ASK) == GOOD["text"]
    assert ways(server) == first
    assert await chat.ask(ASK) == GOOD["text"]
    assert ways(server) == first + later


async def test_refused_question_is_permanent_and_teaches_nothing(server: ModelServer, made: Made) -> None:
    """A question refused in every way raises PermanentError, and the next one uses a tool again."""
    chat = made()
    server.chat = [status(400), status(400), status(400), tool_call(GOOD)]
    with pytest.raises(PermanentError):
        await chat.ask(ASK)
    assert await chat.ask(ASK) == GOOD["text"]
    assert ways(server) == ["tool", "json", "text", "tool"]


async def test_one_refusal_does_not_unlearn_tools(server: ModelServer, made: Made) -> None:
    """Once tools worked, one refusal is retried without them, and the next question uses a tool."""
    chat = made()
    server.chat = [tool_call(GOOD), status(400), words(json.dumps(GOOD)), tool_call(GOOD)]
    for _ in range(3):
        assert await chat.ask(ASK) == GOOD["text"]
    assert ways(server) == ["tool", "tool", "json", "tool"]


TWICE = {"function": {"name": "write_down", "arguments": json.dumps(GOOD)}}
BAD_ANSWERS: dict[str, Behaviour] = {
    "cut off": tool_call(GOOD, finish_reason="length"),
    "cut off and closed": words(json.dumps(GOOD), finish_reason="length"),
    "another tool": tool_call(GOOD, name="delete_all"),
    "two calls": message({"tool_calls": [TWICE, TWICE]}),
    "broken arguments": tool_call('{"text": "阿棠'),
    "arguments are a list": tool_call([GOOD]),
    "arguments are null": message({"tool_calls": [{"function": {"name": "write_down", "arguments": None}}]}),
    "arguments of another form": tool_call({"texts": 1}),
    "arguments too long": tool_call({"text": "长" * 70_000}),
    "NUL": tool_call({"text": "a\0"}),
    "calls are text": message({"tool_calls": "write_down"}),
    "function is null": message({"tool_calls": [{"function": None}]}),
    "choices are null": model_server.as_json({"choices": None}),
    "html": model_server.page,
    "error with 200": model_server.as_json({"error": {"message": "busy"}}),
}


@pytest.mark.parametrize("behaviour", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_bad_answers_are_bad_answers(
    server: ModelServer, made: Made, meter: ListedMeter, behaviour: Behaviour
) -> None:
    """An answer without the requested object raises BadAnswer after one call, which is counted."""
    server.chat = behaviour
    with pytest.raises(BadAnswer):
        await made().ask(ASK)
    assert [purpose for purpose, _ in meter.calls] == ["rewrite"]


@pytest.mark.parametrize(
    "content", ["", None, "没有", '{"text": "a"} {"text": "b"}', {"content": None, "refusal": "no"}]
)
async def test_chatter_in_every_way_is_a_bad_answer(
    server: ModelServer, made: Made, meter: ListedMeter, content: object
) -> None:
    """A model that never returns an object is asked once more in JSON mode, and both calls count."""
    server.chat = message(content)
    with pytest.raises(BadAnswer):
        await made().ask(ASK)
    assert len(meter.calls) == len(server.asked) == 2


async def test_filtered_answers_are_permanent(server: ModelServer, made: Made) -> None:
    """An answer held back by the provider's filter is not requested again."""
    server.chat = words("", finish_reason="content_filter")
    with pytest.raises(PermanentError):
        await made().ask(ASK)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (status(429, {"Retry-After": "3"}), UnavailableError),
        (status(503), UnavailableError),
        (status(401), UnavailableError),
        (status(400, message="model_not_found"), UnavailableError),
        (model_server.never, TooSlow),
        (model_server.dripping(0.1), TooSlow),
    ],
    ids=["429", "503", "401", "no model", "never", "drip"],
)
async def test_who_is_away_is_asked_once(
    server: ModelServer, made: Made, behaviour: Behaviour, error: type[CognitiveMemoryError]
) -> None:
    """An unavailable or misconfigured model is called once, within its time limit."""
    server.chat = behaviour
    with pytest.raises(error):
        await made(timeout_seconds=1).ask(ASK)
    assert len(server.asked) == 1
