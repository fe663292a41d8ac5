"""Tests of the console's English for what the core says in Chinese."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from nonebug import App

from cognitive_memory_core import sentences


def said_by_the_core() -> Iterator[str]:
    """Yield every sentence of the core, with {} where a value stands."""
    for path in Path(sentences.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.sub(r"\{[^{}]*\}", "{}", node.value)
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def test_each_pair_is_a_sentence_of_the_core(app: App) -> None:
    """English is kept for nothing that the core does not say, and both sides show the same values."""
    from nonebot_plugin_cognitive_memory.replies.console_core_en import PAIRS

    known = set(said_by_the_core())
    assert [chinese for chinese, _ in PAIRS if re.sub(r"\{\w+\}", "{}", chinese) not in known] == []
    names = re.compile(r"\{(\w+)\}")
    assert [pair for pair in PAIRS if set(names.findall(pair[0])) != set(names.findall(pair[1]))] == []


def test_advice_has_english_words(app: App) -> None:
    """All advice on failed jobs, and what models and disks report most, has English words."""
    from nonebot_plugin_cognitive_memory.console.pages import reported

    errors = (
        *("HTTP 401", "HTTP 404", "暂时不可用", "写不进 x", "更新的版本", "HTTP 400", "?"),
        sentences.models.told(sentences.models.KEY_REFUSED, "historian", 401),
        sentences.models.told(sentences.models.MODEL_UNREACHABLE, "merge"),
        sentences.models.MODEL_AWAY.format(role="historian", status=503),
        sentences.storage_errors.STORAGE_REFUSED.format(path="/data/ledger.db", reason="No space left on device"),
    )
    advice = [sentences.report.advice(error, is_readable=True) for error in errors]
    for sentence in (*advice, sentences.report.advice("", is_readable=False), *errors[7:]):
        told = reported(sentence, "en")
        assert not told.is_foreign, sentence
        assert not re.search("[\u4e00-\u9fff]", told.text), told.text
    refused = sentences.settings.BAD_CHANGE.format(
        key="query.top_k", value="x", reason=sentences.settings.refusal("int_parsing", {})
    )
    assert reported(refused, "en").text == "query.top_k cannot be x (a whole number is wanted)"


def test_what_has_no_english_is_marked(app: App) -> None:
    """A sentence without English words stays, marked as Chinese; on a Chinese page nothing is marked."""
    from nonebot_plugin_cognitive_memory.console.pages import Reported, reported

    strange = "别的什么出了错"
    assert reported(strange, "en") == Reported(strange, is_foreign=True)
    assert reported(strange, "zh") == Reported(strange)
    assert reported("账本已经关闭" * 500, "en").is_foreign
