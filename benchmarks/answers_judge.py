"""A model that answers questions from contexts alone, and judges each answer against the gold one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.ports.models import Ask, Chat

from .answers_shown import Shown

VERDICTS = ("right", "partly", "wrong")
NO_ANSWER = "记忆里没有"  # what a right answer says where the set has none
_ANSWER = """你是群里的聊天机器人。只根据【记忆】回答【问题】，不要用别的知识，不要猜。
记忆里没有答案就回答“记忆里没有”。回答一句话，说清人、时间、数字。"""
_JUDGE = """你是阅卷人。对照【标准答案】给【回答】打分，只看意思，不看措辞：
right 意思相同，多说的也不错；partly 说对一部分，或说对了但夹着错的、过时的；wrong 说错、答非所问或没答出来。
标准答案是“记忆里没有”时，回答说没有、不知道算 right，编出答案算 wrong。"""


@dataclass(frozen=True)
class Graded:
    """What the model answered from one context, and how it was judged: a word of ``VERDICTS``, "" without an answer."""

    shown: Shown
    answer: str
    verdict: str
    reason: str = ""


async def graded(chat: Chat, shown: Sequence[Shown]) -> list[Graded]:
    """Answer each question from its context, then judge the answers; a call that fails is counted as not judged."""
    return [await _graded(chat, one) for one in shown]


async def _graded(chat: Chat, shown: Shown) -> Graded:
    question = shown.question
    who = f"{question.at:%Y-%m-%d %H:%M}，{question.scene.user_id} 问"
    try:
        answer = await chat.ask(_ask("answer", _ANSWER, {"answer": "回答"}, {
            "记忆": shown.text or "（空）", "问题": f"（{who}）{question.text}"}))  # fmt: skip
        judged = await chat.ask(_ask("judge", _JUDGE, {"verdict": " / ".join(VERDICTS), "reason": "一句话理由"}, {
            "问题": question.text, "标准答案": question.answer or NO_ANSWER, "回答": answer["answer"]}))  # fmt: skip
    except core.CognitiveMemoryError as failure:
        return Graded(shown, "", "", str(failure))
    verdict = next((word for word in VERDICTS if word in judged["verdict"].lower()), "")
    return Graded(shown, answer["answer"], verdict, judged["reason"])


def _ask(name: str, instructions: str, fields: Mapping[str, str], parts: Mapping[str, str]) -> Ask[Mapping[str, str]]:
    form: Mapping[str, Any] = {
        "type": "object",
        "properties": {key: {"type": "string", "description": says} for key, says in fields.items()},
        "required": list(fields),
    }

    def parse(text: str) -> Mapping[str, str]:
        read = json.loads(text)
        if not isinstance(read, dict) or not read.get(next(iter(fields))):
            raise BadAnswer(f"no {next(iter(fields))}")
        return {key: str(read.get(key, "")) for key in fields}

    prompt = "\n\n".join(f"【{title}】\n{text}" for title, text in parts.items())
    return Ask(name, instructions, prompt, f"give_{name}", form, parse)
