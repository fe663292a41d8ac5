"""Chats as other programs export them: the same lines in every format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

SHANGHAI = timezone(timedelta(hours=8))


@dataclass(frozen=True)
class Line:
    """One line of a chat."""

    number: int
    sender: str
    name: str
    text: str
    at: datetime

    @property
    def id(self) -> str:
        """The id that QQ gives it."""
        return f"7{self.number:018}"

    @property
    def milliseconds(self) -> int:
        """When it was said."""
        return round(self.at.timestamp() * 1000)


def chat(count: int, start: datetime, apart: timedelta = timedelta(seconds=20)) -> Iterator[Line]:
    """Yield lines by three people, in order."""
    for number in range(1, count + 1):
        who = number % 3
        text = f"第 {number} 句，今天去了第 {number % 97} 家店，点了招牌菜，味道不错，下次还想和大家一起再去"
        yield Line(number, f"200000{who}", ("阿棠", "小林", "老周")[who], text, start + number * apart)


def exporter_five(line: Line, **changed: Any) -> Mapping[str, Any]:
    """Return a message of QQChatExporter 5."""
    return {
        "id": line.id,
        "seq": str(line.number),
        "timestamp": line.milliseconds,
        "time": f"{line.at:%Y-%m-%d %H:%M:%S}",
        "sender": {"uid": f"u_{line.sender}", "uin": line.sender, "name": line.name, "groupCard": line.name},
        "type": "type_1",
        "content": {
            "text": line.text,
            "html": "",
            "elements": [{"type": "text", "data": {"text": line.text}}],
            "resources": [],
            "mentions": [],
        },
        "recalled": False,
        "system": False,
        **changed,
    }


def exporter_four(line: Line) -> Mapping[str, Any]:
    """Return a message of QQChatExporter 4."""
    return {
        "messageId": line.id,
        "timestamp": f"{line.at:%Y-%m-%dT%H:%M:%S+08:00}",
        "sender": {"uid": f"u_{line.sender}", "uin": line.sender, "name": line.name},
        "messageType": 2,
        "isSystemMessage": False,
        "isRecalled": False,
        "content": {"text": line.text, "resources": [], "emojis": []},
        "rawMessage": {"msgSeq": str(line.number), "sendNickName": "别名", "sendMemberName": line.name},
    }


def chatlab(line: Line, **changed: Any) -> Mapping[str, Any]:
    """Return a message of ChatLab, with the number that our plain format adds."""
    return {
        "_type": "message",
        "platformMessageId": line.id,
        "sender": line.sender,
        "accountName": "别名",
        "groupNickname": line.name,
        "timestamp": line.milliseconds // 1000,
        "type": 0,
        "content": line.text,
        "number": str(line.number),
        **changed,
    }


def as_json(path: Path, messages: Iterator[Mapping[str, Any]], version: str = "5.5.0") -> Path:
    """Write one JSON, as QQChatExporter does: what describes the chat comes first."""
    with path.open("w", encoding="utf-8") as file:
        about = {
            "metadata": {"name": "QQChatExporter", "version": version},
            "chatInfo": {"name": "读书会", "type": "group"},
        }
        file.write(json.dumps(about, ensure_ascii=False, indent=2)[:-2] + ',\n  "messages": [')
        for number, message in enumerate(messages):
            file.write(("," if number else "") + "\n    " + json.dumps(message, ensure_ascii=False, indent=2))
        file.write('\n  ],\n  "avatars": {"2000001": "data:image/png;base64,"}\n}')
    return path


def five_json(path: Path, lines: Iterator[Line]) -> Path:
    """Write a file of QQChatExporter 5."""
    return as_json(path / "five.json", map(exporter_five, lines))


def four_json(path: Path, lines: Iterator[Line]) -> Path:
    """Write a file of QQChatExporter 4."""
    return as_json(path / "four.json", map(exporter_four, lines), "4.3.1")


def five_chunks(path: Path, lines: Iterator[Line]) -> Path:
    """Write the folder of QQChatExporter 5 in chunks."""
    (path / "chunks").mkdir()
    messages = [json.dumps(exporter_five(line), ensure_ascii=False) for line in lines]
    half = len(messages) // 2
    for name, some in (("c000001.jsonl", messages[:half]), ("c000002.jsonl", messages[half:])):
        (path / "chunks" / name).write_text("".join(f"{one}\n" for one in some), "utf-8")
    chunks = [{"relativePath": "chunks/c000001.jsonl"}, {"fileName": "c000002.jsonl"}]
    manifest = {"metadata": {"format": "chunked-jsonl"}, "chatInfo": {}, "chunked": {"chunks": chunks}}
    (path / "manifest.json").write_text(json.dumps(manifest, indent=2), "utf-8")
    return path


def chatlab_jsonl(path: Path, lines: Iterator[Line]) -> Path:
    """Write a file of ChatLab as JSON Lines."""
    head: Sequence[Mapping[str, Any]] = (
        {
            "_type": "header",
            "chatlab": {"version": "0.0.2"},
            "meta": {"name": "读书会", "platform": "qq", "type": "group"},
        },
        {"_type": "member", "platformId": "2000001", "accountName": "小林"},
    )
    file = path / "chatlab.jsonl"
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in head)
        opened.write("# 注释\n")
        opened.writelines(json.dumps(chatlab(line), ensure_ascii=False) + "\n" for line in lines)
    return file


def chatlab_json(path: Path, lines: Iterator[Line]) -> Path:
    """Write a file of ChatLab as one JSON."""
    return as_json(path / "chatlab.json", map(chatlab, lines))


def qq_text(path: Path, lines: Iterator[Line]) -> Path:
    """Write the text that QQ exports."""
    file = path / "读书会.txt"
    with file.open("w", encoding="utf-8-sig", newline="\r\n") as opened:
        opened.write("消息记录（此消息记录为文本格式，不支持重新导入）\n\n" + "=" * 64 + "\n消息分组:我的群聊\n")
        opened.write("=" * 64 + "\n消息对象:读书会\n" + "=" * 64 + "\n\n")
        for line in lines:
            at = f"{line.at.astimezone(SHANGHAI):%Y-%m-%d %H:%M:%S}"
            opened.write(f"{at} 【管理员】{line.name}({line.sender})\n{line.text}\n\n")
    return file


FORMATS: Mapping[str, Callable[[Path, Iterator[Line]], Path]] = {
    "QQChatExporter 5": five_json,
    "QQChatExporter 5, chunks": five_chunks,
    "QQChatExporter 4": four_json,
    "QQ text": qq_text,
    "ChatLab JSONL": chatlab_jsonl,
    "ChatLab JSON": chatlab_json,
}
