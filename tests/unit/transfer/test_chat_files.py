"""Tests of reading chats that other programs exported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.transfer import chat_files
from cognitive_memory_core.transfer.chat_files import ChatFile
from tests.support.chat_files import FORMATS, Line, as_json, chat, chatlab, exporter_five, five_json
from tests.support.clock import NOON, SHANGHAI

PLACE = Scene.group("10001", "0")
BOT = "2000000"


def said(path: Path, place: Scene = PLACE, bots: Iterable[str] = (BOT,)) -> list[Message | str]:
    """Return what a file yields."""
    return list(ChatFile(path, place, frozenset(bots), ("/",), SHANGHAI).messages())


def of_plain(tmp_path: Path, *messages: Any, place: Scene = PLACE) -> list[Message | str]:
    """Return what a file of plain lines yields; texts are written as they are."""
    file = tmp_path / "plain.jsonl"
    lines = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in messages]
    file.write_text("\n".join(lines), "utf-8")
    return said(file, place)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_who_said_what_when(name: str, tmp_path: Path) -> None:
    """Each format gives the lines in order, with sender, name and time; the bot's own are told apart."""
    lines = list(chat(30, NOON))
    found = said(FORMATS[name](tmp_path, iter(lines)))
    assert [one for one in found if isinstance(one, str)] == ["own"] * 10
    messages = [one for one in found if isinstance(one, Message)]
    others = [line for line in lines if line.sender != BOT]
    assert [(m.scene.user_id, m.scene.user_name, m.text, m.sent_at) for m in messages] == [
        (line.sender, line.name, line.text, line.at) for line in others
    ]
    if name != "QQ text":
        assert [(m.id, m.number) for m in messages] == [(f"file-{line.id}", str(line.number)) for line in others]
    assert said(FORMATS[name](_fresh(tmp_path), iter(lines))) == found


def _fresh(tmp_path: Path) -> Path:
    folder = tmp_path / "again"
    folder.mkdir()
    return folder


def test_recalled_and_system_lines_and_replies(tmp_path: Path) -> None:
    """Recalled and system lines are told apart; a reply names its line, and markers lose their file names."""
    line = Line(1, "2000001", "小林", "[回复消息]好[图片:a.jpg]", NOON)
    reply = {"text": line.text, "elements": [{"type": "reply", "data": {"referencedMessageId": "7123"}}]}
    messages = [
        exporter_five(line, recalled=True),
        exporter_five(line, system=True),
        exporter_five(line, content=reply),
        exporter_five(line, sender={"uid": "u_1", "uin": "0", "name": "谁"}),
    ]
    withdrawn, system, message, nobody = said(as_json(tmp_path / "a.json", iter(messages)))
    assert (withdrawn, system, nobody) == ("withdrawn", "system", "nobody")
    assert isinstance(message, Message)
    assert (message.text, message.reply_to) == ("好[图片]", "file-7123")
    assert of_plain(tmp_path, chatlab(line, type=81), chatlab(line, type=80)) == ["withdrawn", "system"]


def test_bad_lines_cost_themselves_only(tmp_path: Path) -> None:
    """Lines that cannot be read, name nobody or no time, or begin like commands are left out; the others come."""
    line = Line(1, "2000001", "小林", "好", NOON)
    found = of_plain(
        tmp_path,
        chatlab(line),
        "{坏的",
        "[" * 100_000,
        '["不是对象"]',
        chatlab(line, timestamp="昨天"),
        chatlab(line, timestamp=1e300),
        chatlab(line, timestamp=True),
        chatlab(line, sender=""),
        chatlab(line, sender="2000001\x00"),
        chatlab(line, sender={"uin": None}),
        chatlab(line, content="/记忆 帮助"),
        chatlab(line, platformMessageId="x" * 5_000, groupNickname="名" * 5_000),
        json.dumps(chatlab(line, content="长" * chat_files.LONGEST_LINE)),
    )
    assert [one if isinstance(one, str) else "taken" for one in found] == [
        *("taken", "unreadable", "unreadable", "unreadable", "unreadable", "unreadable", "unreadable"),
        *("nobody", "unreadable", "nobody", "command", "taken"),
    ]


def test_lines_without_ids_get_stable_ones(tmp_path: Path) -> None:
    """The same words twice in one second are two lines, and have the same ids at each reading."""
    line = chatlab(Line(1, "2000001", "小林", "哈哈", NOON), platformMessageId="", number="")
    first, second = of_plain(tmp_path, line, line)
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert first.id != second.id
    assert of_plain(tmp_path, line, line) == [first, second]


def test_a_private_chat_has_one_person(tmp_path: Path) -> None:
    """In a private chat everybody but the person is the bot, and numbers, which count each chat, are not kept."""
    lines = (chatlab(Line(n, sender, "谁", "好", NOON)) for n, sender in enumerate(("2000001", "2000002")))
    theirs, own = of_plain(tmp_path, *lines, place=Scene.private("2000001"))
    assert isinstance(theirs, Message)
    assert (theirs.scene, theirs.number, own) == (Scene.private("2000001"), "", "own")


def test_the_text_of_old_clients_is_read_too(tmp_path: Path) -> None:
    """A text in GB 18030 is read, an address of mail names nobody, and what QQ puts around the lines is left out."""
    file = tmp_path / "old.txt"
    said_first = "2019-07-16 18:15:05 地瓜(23333233)\n第一行\n第二行\n\n"
    rest = "2019-07-16 8:05:11 土豆<a@b.cn>\n好\n2019-13-16 18:15:05 谁(23333233)\n坏\n"
    file.write_bytes((said_first + rest).encode("gb18030"))
    message, nobody, bad = said(file)
    assert isinstance(message, Message)
    assert (message.scene.user_id, message.scene.user_name, message.text) == ("23333233", "地瓜", "第一行\n第二行")
    assert message.sent_at == datetime(2019, 7, 16, 18, 15, 5, tzinfo=SHANGHAI)
    assert (nobody, bad) == ("nobody", "unreadable")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "不是认识的聊天记录"),
        (b'{"format":"cognitive-memory","version":1}\n', "cognitive-memory import"),
        (b'{\n"metadata": {"format": "chunked-jsonl"}\n}', "不是认识的聊天记录"),
        (
            b'{\n"metadata": {"format": "chunked-jsonl"},"chunked":{"chunks":[{"file":"../../etc/passwd"}]}}',
            "不是认识的聊天记录",
        ),
        (
            b'{\n"metadata": {"format": "chunked-jsonl"},"chunked":{"chunks":[{"file":"nowhere"}]}}',
            "无法读取|读不了|打不开",
        ),
        (b'{\n"metadata": {}\n}', "坏了"),
        (b'{\n"metadata": ' + b"[" * 100_000, "坏了"),
        (b'{\n"messages": 5}', "坏了"),
        (b'{\n"messages": [{"id": "1"', "坏了"),
        (b'{\n"messages": [{"id": ' + b"1" * 6000 + b"}]}", "坏了"),
        (b'{\n"messages": ["' + b"x" * (17 << 20), "坏了"),
    ],
    ids=[
        "empty",
        "export",
        "no chunks",
        "path outside",
        "no chunk",
        "no messages",
        "deep",
        "no array",
        "cut",
        "huge number",
        "huge text",
    ],
)
def test_a_hostile_file_is_refused_with_a_sentence(content: bytes, says: str, tmp_path: Path) -> None:
    """A file of no known format, cut, too deep, too large in one piece, or leading elsewhere gives one sentence."""
    file = tmp_path / "file.json"
    file.write_bytes(content)
    with pytest.raises(BadArgument, match=says):
        said(file)


def test_lines_before_the_damage_are_given(tmp_path: Path) -> None:
    """What stands before the place where a file is broken is yielded; an empty array yields nothing."""
    whole = five_json(tmp_path, chat(10, NOON)).read_bytes()
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: len(whole) // 2])
    found: list[Message | str] = []
    with pytest.raises(BadArgument, match="坏了"):
        found.extend(ChatFile(cut, PLACE, frozenset(), (), SHANGHAI).messages())
    assert said(as_json(tmp_path / "none.json", iter(()))) == []
