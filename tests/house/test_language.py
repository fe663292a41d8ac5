"""Tests that messages for people are Chinese, and are all in one package of each import package."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

from .sources import CORE, PLUGIN, code, nodes

HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
SENTENCES = (f"{CORE}/sentences/", f"{PLUGIN}/replies/")
PACKAGES = {"sentences": CORE, "replies": PLUGIN}
ENGLISH = {  # the pages exist in both languages
    *(f"{PLUGIN}/replies/{name}_en.py" for name in ("console", "console_core")),
    f"{CORE}/sentences/setting_meanings.py",
}
ELSEWHERE = {  # folder or file: reason for Chinese there
    f"{CORE}/text/": "the words that the rules know: data, not sentences",
    f"{CORE}/prompts/": "what models read",
    f"{CORE}/historian/rules.py": "the signs of a line worth keeping",
    f"{CORE}/transfer/chat_files.py": "words of other programs' files, and the names of our own command",
    f"{PLUGIN}/demo/": "a script with a voice and a sample conversation of its own",
    f"{PLUGIN}/command_table.py": "the commands' Chinese names, which people type",
    f"{PLUGIN}/onebot.py": "markers that stand for pictures and cards in what the model reads",
}


def test_chinese_sentences_have_one_home() -> None:
    """Messages for people are in sentences/ or replies/; elsewhere only words that complete one are allowed."""
    assert not [
        (file, text)
        for file, tree in code().items()
        if not file.startswith((*SENTENCES, *ELSEWHERE))
        for text in _stray(tree)
    ]


def test_sentences_are_chinese() -> None:
    """Every message for people is Chinese: no literal has several plain words of another language."""
    texts = [(file, text) for file in sorted(_of_sentences() - ENGLISH) for text in _texts(code()[file], set())]
    assert not [
        (file, text) for file, text in texts if len(re.findall(r"[A-Za-z]{2,} ", text)) > 3 and not HAN.search(text)
    ]


def test_the_pages_speak_both_languages() -> None:
    """Every sentence of the pages exists in both languages, with the same values to fill in."""
    chinese, english = (_words(code()[f"{PLUGIN}/replies/console_{language}.py"]) for language in ("zh", "en"))
    assert {key: _fields(text) for key, text in chinese.items()} == {
        key: _fields(text) for key, text in english.items()
    }
    assert chinese


def test_templates_are_filled_with_the_values_that_they_name() -> None:
    """Each call of ``format`` on a template passes exactly its placeholders."""
    templates = {
        f"{Path(file).parent.name}.{Path(file).stem}.{name}": fields
        for file in _of_sentences()
        for name, fields in _templates(code()[file])
    }
    wrong = [
        (file, ast.unparse(call.func))
        for file, tree in code().items()
        for call in nodes(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _is_sentence(call.func)
        if call.func.attr == "format"
        if call.args or {word.arg for word in call.keywords} != templates[ast.unparse(call.func.value)]
    ]
    assert templates
    assert not wrong


def _of_sentences() -> set[str]:
    return {file for file in code() if file.startswith(SENTENCES)}


def _words(tree: ast.Module) -> dict[str, str]:
    (table,) = (node for node in nodes(tree) if isinstance(node, ast.Dict))
    pairs = zip(table.keys, table.values, strict=True)
    return {ast.literal_eval(key): ast.literal_eval(value) for key, value in pairs if key}


def _fields(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


def _stray(tree: ast.Module) -> Iterator[str]:
    completing = {
        id(constant)
        for call in nodes(tree)
        if isinstance(call, ast.Call) and _is_sentence(call.func)
        for argument in (*call.args, *call.keywords)
        for constant in ast.walk(argument)
    }
    return (text for text in _texts(tree, completing) if HAN.search(text))


def _templates(tree: ast.Module) -> Iterator[tuple[str, set[str | None]]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            fields = {field for _, field, _, _ in string.Formatter().parse(node.value.value) if field is not None}
            yield ast.unparse(node.targets[0]), {*fields}


def _is_sentence(function: ast.expr) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in PACKAGES


def _texts(tree: ast.Module, besides: set[int]) -> Iterator[str]:
    docstrings = {
        id(node.body[0].value)
        for node in nodes(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | besides:
            yield node.value
