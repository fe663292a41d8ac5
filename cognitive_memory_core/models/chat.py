"""The chat models of each role: the caller's, or behind OpenAI-compatible addresses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Literal, TypeVar

from pydantic import SecretStr

from .. import sentences
from ..errors import BadAnswer, PermanentError
from ..ports import Ask, Chat
from ..settings.schema import ChatRole, ModelSettings, Settings
from .breaker import Breaker
from .caller_models import CallerChat
from .client import ModelClient, member, opened_client, rows, sendable
from .json_answers import object_in
from .lent_models import Lender, LentModel
from .spending import Budget, BudgetedChat, NothingLent

LONGEST_PROMPT = 200_000  # characters
_IN_WORDS = "Answer with one JSON object that fits this JSON schema, and with nothing else:"
AnswerFormat = Literal["tool", "json", "text"]
_FORMATS: tuple[AnswerFormat, ...] = ("tool", "json", "text")
ROLES: tuple[ChatRole, ...] = ("historian", "triage", "merge", "evolution")
T = TypeVar("T")


async def chats_of(
    settings: Settings, budget: Budget, stack: AsyncExitStack, given: Chat | None, lender: Lender | None = None
) -> Mapping[ChatRole, BudgetedChat]:
    """Return a chat for each role that has one; roles with equal settings share it and its breaker.

    ``given`` is used for all roles instead of the configured models; a role without a model borrows the lender's.
    """
    if given:
        held = CallerChat(given, settings.models.historian.timeout_seconds, budget.count)
        return dict.fromkeys(ROLES, BudgetedChat(held, Breaker("historian"), budget))
    made: dict[ChatRole, BudgetedChat] = {}
    for role in ROLES:
        wanted = settings.models.of(role)
        twin = next((chat for other, chat in made.items() if settings.models.of(other) == wanted), None)
        if twin:
            made[role] = twin
        elif wanted.model_name:
            client = await opened_client(wanted, role, budget.count, stack)
            made[role] = BudgetedChat(OpenAIChat(wanted, client), Breaker(role), budget)
        elif lender and lender.lends_to(wanted):
            made[role] = lent_chat(lender, wanted, role, budget, stack)
    return made


def lent_chat(
    lender: Lender, settings: ModelSettings, role: str, budget: Budget, stack: AsyncExitStack
) -> BudgetedChat:
    """Return a chat that asks the model that is lent at the time of each question.

    It has everything in the settings but address, key and name, which are the lender's. When these or the proxy change,
    a new client checks them as those of the settings are; a call that runs keeps the former one. The clients are closed
    with the ``stack``.
    """
    breaker, turn = Breaker(role), asyncio.Lock()
    former: tuple[LentModel, Chat] | None = None

    async def lent_now() -> Chat:
        nonlocal former
        lent = await lender.model(settings)
        if lent is None:
            raise NothingLent(sentences.models.NO_CHAT_MODEL)
        async with turn:
            if former is None or lent != former[0]:
                theirs = {"api_url": lent.api_url, "api_key": SecretStr(lent.api_key), "model_name": lent.model_name}
                wanted = settings.model_copy(update=theirs)
                client = await opened_client(wanted, role, budget.count, stack, lender=lent.lender, proxy=lent.proxy)
                former = lent, OpenAIChat(wanted, client)
                breaker.renew()  # its failures were those of the former model
            return former[1]

    return BudgetedChat(None, breaker, budget, lent_now)


class NoToolCall(BadAnswer):
    """The model wrote text instead of calling the tool."""


class FilteredOut(PermanentError):
    """The provider's content filter blocked the answer; another form of the question would be blocked too."""


class OpenAIChat:
    """Asks for JSON by a forced tool call; where the provider refuses that, in JSON mode, and at last in plain text.

    The form that worked is kept for the life of this object. If a provider refuses a form with status 400, the
    remaining forms are tried before the question counts as refused, because providers word a refusal of tools
    differently and may change the model behind an address.
    """

    def __init__(self, settings: ModelSettings, client: ModelClient) -> None:
        """Ask one model by its settings and client."""
        self._settings = settings
        self._client = client
        self._proven: int | None = None  # the place of the form that worked

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its answer, parsed; raises as :meth:`.Chat.ask` does."""
        if ask.as_lines:
            return await self._asked(ask, "text")
        refused: BadAnswer | PermanentError | None = None
        for number in range(self._proven or 0, len(_FORMATS)):
            try:
                value = await self._asked(ask, _FORMATS[number])
            except FilteredOut:
                raise
            except PermanentError as refusal:
                refused = refused or refusal
            except NoToolCall as wordy:
                if self._proven is not None:
                    raise
                refused = wordy
            else:
                self._proven = number if self._proven is None else self._proven
                return value
        raise refused or BadAnswer(sentences.models.ANSWER_MALFORMED)

    async def _asked(self, ask: Ask[T], answer_format: AnswerFormat) -> T:
        body, seconds = self._body(ask, answer_format), self._settings.timeout_seconds
        answer = await self._client.answer(ask.purpose, "/chat/completions", body, seconds)
        written, is_call = _written(answer, ask.name)
        if ask.as_lines:
            return await asyncio.to_thread(ask.parse, written)
        try:
            return ask.parse(await asyncio.to_thread(object_in, written, is_strict=ask.strict))
        except BadAnswer as bad:
            if answer_format == "tool" and not is_call:
                raise NoToolCall(str(bad)) from None
            raise

    def _body(self, ask: Ask[Any], answer_format: AnswerFormat) -> dict[str, object]:
        settings, instructions = self._settings, ask.instructions
        form: Mapping[str, object] = {}
        if answer_format == "tool":
            function = {"name": ask.name, "parameters": dict(ask.schema)}
            form = {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": ask.name}},
            }
        elif not ask.as_lines:
            form = {"response_format": {"type": "json_object"}} if answer_format == "json" else {}
            instructions = f"{instructions}\n\n{_IN_WORDS}\n{json.dumps(dict(ask.schema), ensure_ascii=False)}"
        body: dict[str, object] = {
            "model": settings.model_name,
            "messages": [
                {"role": "system", "content": sendable(instructions, LONGEST_PROMPT)},
                {"role": "user", "content": sendable(ask.prompt, LONGEST_PROMPT)},
            ],
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            **form,
            **settings.extra_body,
        }
        return {key: value for key, value in body.items() if value is not None}


def _written(answer: Mapping[str, Any], name: str) -> tuple[str, bool]:
    """Return what the model wrote, and whether through the tool; raises for a truncated or filtered answer."""
    choices = rows(answer.get("choices"))
    choice = choices[0] if choices else None
    reason = member(choice, "finish_reason")
    if reason == "length":
        raise BadAnswer(sentences.models.ANSWER_CUT_OFF)
    if reason == "content_filter":
        raise FilteredOut(sentences.models.QUESTION_FILTERED)
    message = member(choice, "message")
    if not member(message, "tool_calls"):
        content = member(message, "content")
        return (content if isinstance(content, str) else ""), False
    calls = rows(member(message, "tool_calls"))
    function = member(calls[0], "function")
    arguments = member(function, "arguments")
    if len(calls) > 1 or member(function, "name") != name:
        raise BadAnswer(sentences.models.ANSWER_AMBIGUOUS)
    if isinstance(arguments, dict):  # some servers already decode them
        return json.dumps(arguments, ensure_ascii=False), True
    return (arguments if isinstance(arguments, str) else ""), True
