"""Runs the memory's tools between a chat plugin and its model, so that the plugin sees only calls of its own tools."""

from __future__ import annotations

from typing import Any

from .bridged_turn import END, BridgedTurn, is_ours

ROUNDS = 6
"""Requests in which a model may call the memory's tools before it must answer without them."""


async def run_ours(turn: BridgedTurn, choice: Any) -> list[Any]:
    """Run the memory's tools that the model calls in ``choice``; return the messages to add before asking it again.

    Empty if it calls none of them, or if it answers in words and only ends the turn. Calls of the chat plugin's tools
    in the same choice are removed: the model repeats them after it has read the results.
    """
    if await end_in_words(turn, choice):
        return []
    message = choice.message
    ours = [call for call in message.tool_calls or () if is_ours(_name(call))]
    if not ours:
        return []
    message.tool_calls = ours
    answers = [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": await turn.call(call.function.name, call.function.arguments),
        }
        for call in ours
    ]
    return [message.model_dump(exclude_none=True), *answers]


async def end_in_words(turn: BridgedTurn, choice: Any) -> bool:
    """If a choice has text and calls only the tool ``end``, run these calls, remove them and return True.

    With the calls left in, the chat plugin would ask the model once more, and the model would answer a second time.
    """
    message = choice.message
    calls = getattr(message, "tool_calls", None) or []
    if not (message.content and calls and all(_name(call) == END for call in calls)):
        return False
    for call in calls:
        await turn.call(END, call.function.arguments)
    message.tool_calls = None
    if hasattr(choice, "finish_reason"):
        choice.finish_reason = "stop"
    return True


def _name(call: Any) -> object:
    """Return the name of the function that a call names; None for OpenAI's other tools, which have none."""
    return getattr(getattr(call, "function", None), "name", None)
