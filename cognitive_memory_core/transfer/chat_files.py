"""Reads the files in which other programs keep a chat: a reader for each format, which yields what was said.

Known are QQChatExporter 4 and 5 (one JSON, or JSON Lines in chunks with a manifest), the text that QQ itself exports,
and ChatLab 0.0.2 as JSON or JSON Lines, which is also the plain format for what somebody converts. No file is read as a
whole: what is in memory at once is bounded, whatever the file holds.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from .. import sentences
from ..domain.ids import checked_id, derived_id
from ..domain.message import Message
from ..domain.scope import Scene
from ..errors import BadArgument, MistakeError
from ..text.names import clean_name
from .backup import readable
from .exported_rows import is_head

HEAD = 65_536  # bytes by which a format is recognised
CHUNK = 1 << 20  # bytes read at a time
LONGEST_LINE = 1 << 20  # bytes of a line of text or JSON Lines; a longer one is left out
LONGEST_VALUE = 16 << 20  # characters of one value of a JSON file
MANIFEST = "manifest.json"
OWN_COMMANDS = ("/记忆", "／记忆", "/memory")
MILLISECONDS = 100_000_000_000  # a larger time counts milliseconds
MOST_SCENES = 5_000  # of which the latest are kept: most lines are of a few people
ID_LENGTH = 100  # characters; of a longer id the hash is kept
_Fields = Mapping[str, Any]


class Said(NamedTuple):
    """One line of a file, as the file tells it."""

    sender_id: str = ""
    name: str = ""
    text: str = ""
    sent_at: datetime | None = None
    id: str = ""
    number: str = ""
    reply_to: str = ""


Read = Said | str  # or the reason why a line is no message of a person


@dataclass
class ChatFile:
    """A file with the lines of one place, which the operator names: a group, or the private chat with a person.

    ``bots`` are the accounts of the bot, whose lines are its own; in a private chat everybody but the person is.
    ``signs`` begin commands. ``position`` counts the bytes that were read.
    """

    path: Path
    place: Scene
    bots: frozenset[str]
    signs: tuple[str, ...]
    zone: tzinfo
    position: int = 0
    size: int = field(init=False)
    encoding: str = field(init=False, default="utf-8")
    _second: int = field(init=False, default=0)
    _times: Counter[str] = field(init=False, default_factory=Counter[str])

    def __post_init__(self) -> None:
        """Find the format; raise BadArgument for a file that cannot be read or has none of the known formats."""
        with readable(self.path):
            if self.path.is_dir():
                self.path /= MANIFEST
            with self.path.open("rb") as file:
                head = file.read(HEAD).removeprefix(codecs.BOM_UTF8)
            self.size = self.path.stat().st_size
        first = head.lstrip().partition(b"\n")[0]
        if is_head(first):
            raise BadArgument(sentences.caller.IS_AN_EXPORT.format(path=self.path))
        self._read = read_text
        if b'"chunked-jsonl"' in head:
            self._read = read_chunks
        elif head.lstrip().startswith(b"{"):
            self._read = read_json
            with suppress(ValueError, RecursionError):  # else the first line is no object, but the start of one
                if isinstance(json.loads(first), dict) and b'"messages"' not in first:
                    self._read = read_json_lines
        else:
            try:
                codecs.getincrementaldecoder("utf-8")().decode(head)
            except UnicodeDecodeError:
                self.encoding = "gb18030"
            if not _HEADER.search(head.decode(self.encoding, "replace")):
                raise BadArgument(sentences.caller.UNKNOWN_FORMAT.format(path=self.path))
        self._scene_of = lru_cache(maxsize=MOST_SCENES)(self._scene)

    def messages(self) -> Iterator[Message | str]:
        """Yield a message for each line of the file, or the reason why a line is left out, as in ``Backfill.left_out``.

        Raises BadArgument where the rest of the file cannot be read.
        """
        with readable(self.path):
            for said in self._read(self):
                yield said if isinstance(said, str) else self._message(said)

    def _message(self, said: Said) -> Message | str:
        place = self.place
        if not said.sender_id:
            return "nobody"
        if said.sender_id in self.bots or (place.kind == "private" and said.sender_id != place.user_id):
            return "own"
        if said.sent_at is None:
            return "unreadable"
        if said.text.lstrip().startswith(self.signs):
            return "command"
        try:
            return Message(
                _file_id(said.id) if said.id else self._made_id(said, said.sent_at),
                self._scene_of(said.sender_id, said.name),
                said.text,
                said.sent_at,
                reply_to=_file_id(said.reply_to) if said.reply_to else None,
                number=said.number if place.group_id else "",
            )
        except MistakeError:
            return "unreadable"

    def _scene(self, sender_id: str, name: str) -> Scene:
        return replace(self.place, user_id=sender_id, user_name=clean_name(name))

    def _made_id(self, said: Said, sent_at: datetime) -> str:
        """Make an id from place, sender, second and text, and how often that came in this second."""
        second = int(sent_at.timestamp())
        if second != self._second:
            self._second = second
            self._times.clear()
        line_id = derived_id("file", self.place.scope.key, said.sender_id, second, said.text)
        self._times[line_id] += 1
        return f"file-{line_id}-{self._times[line_id]}"


def read_chunks(file: ChatFile) -> Iterator[Read]:
    """Read QQChatExporter's JSON Lines in chunks, which its manifest lists."""
    folder, listed = file.path.parent.resolve(), list[Path]()
    try:
        for chunk in json.loads(file.path.read_bytes()[:LONGEST_VALUE])["chunked"]["chunks"]:
            named = chunk.get("relativePath") or chunk.get("file") or f"chunks/{chunk['fileName']}"
            listed.append((folder / str(named)).resolve())
        if not all(path.is_relative_to(folder) for path in listed):  # leads out of the folder
            raise BadArgument(sentences.caller.UNKNOWN_FORMAT.format(path=file.path))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as bad:
        raise BadArgument(sentences.caller.UNKNOWN_FORMAT.format(path=file.path)) from bad
    file.size = sum(chunk.stat().st_size for chunk in listed)
    for chunk in listed:
        yield from map(_of_json_line, _lines(file, chunk))


def read_json_lines(file: ChatFile) -> Iterator[Read]:
    """Read one JSON object a line: of ChatLab, after its header and its members, or a plain message."""
    for line in _lines(file, file.path):
        if line and not line.startswith((b"#", codecs.BOM_UTF8)) and (said := _of_json_line(line)) != _NO_MESSAGE:
            yield said


def read_json(file: ChatFile) -> Iterator[Read]:
    """Read the array ``messages`` of one JSON object: of QQChatExporter or ChatLab."""
    with file.path.open("rb") as opened:
        stream = _Json(file, opened)
        stream.expect("{")
        while stream.value() != "messages":
            stream.expect(":")
            stream.value()
            stream.expect(",")
        stream.expect(":")
        stream.expect("[")
        while stream.peek() != "]":  # what stands after the array is not read
            yield _of_fields(stream.value())
            if stream.peek() != "]":
                stream.expect(",")


def read_text(file: ChatFile) -> Iterator[Read]:
    """Read the text that QQ exports: time, name and number in one line, then what was said in the next ones."""
    head: re.Match[str] | None = None
    said: list[str] = []
    for line in _lines(file, file.path):
        text = line.removeprefix(codecs.BOM_UTF8).decode(file.encoding, "replace")
        if found := _HEADER.match(text):
            if head:
                yield _of_header(head, said, file.zone)
            head, said = found, []
        elif not (text.startswith(_OF_THE_FILE) or sum(map(len, said)) > LONGEST_LINE):
            said.append(text)
    if head:
        yield _of_header(head, said, file.zone)


_OF_THE_FILE = "=====", "消息记录", "消息分组", "消息对象"  # beginnings of lines that are no message
_HEADER = re.compile(
    r"^(\d{4})-(\d\d?)-(\d\d?) (\d\d?):(\d\d):(\d\d) (.{0,200}?)(?:\((\d{5,20})\)|<[^<>]{1,200}>)?[ \r]*$", re.MULTILINE
)
_NO_MESSAGE, _UNREADABLE = "header", "unreadable"
_PREFIXES = re.compile(r"^(?:【[^】]*】\s*)+")  # titles, which QQ puts before a name
_MARKERS = re.compile(r"\[(图片|文件|视频|语音|转发消息|表情)[:：]?[^\[\]]{0,300}\]")
_RECALLED, _SYSTEM = 81, 80  # types of ChatLab


def _of_header(head: re.Match[str], said: list[str], zone: tzinfo) -> Read:
    try:
        at = datetime(*map(int, head.groups()[:6]), tzinfo=zone)
    except ValueError:
        return _UNREADABLE
    return Said(head[8] or "", _PREFIXES.sub("", head[7]), "\n".join(said).strip(), at)


def _of_json_line(line: bytes) -> Read:
    try:
        return _of_fields(json.loads(line))
    except (ValueError, RecursionError):
        return _UNREADABLE


def _of_fields(fields: object) -> Read:
    """Read a message of QQChatExporter, whose sender is an object, or of ChatLab, whose sender is an id."""
    if not isinstance(fields, dict):
        return _UNREADABLE
    message = cast("_Fields", fields)
    if message.get("_type", "message") != "message":
        return _NO_MESSAGE
    read = _of_exporter if isinstance(message.get("sender"), dict) else _of_chatlab
    return read(message)


def _of_exporter(message: _Fields) -> Read:
    sender, content, raw = (_object(message.get(key)) for key in ("sender", "content", "rawMessage"))
    if message.get("recalled") or message.get("isRecalled"):
        return "withdrawn"
    if message.get("system") or message.get("isSystemMessage") or message.get("type") == "system":
        return "system"
    elements = content.get("elements")
    parts = [_object(one) for one in cast("list[object]", elements)] if isinstance(elements, list) else []
    replies = [_object(part.get("data")) for part in parts if part.get("type") == "reply"]
    reply = replies[0] if replies else _object(content.get("reply"))
    text = _MARKERS.sub(lambda found: f"[{found[1]}]", _text(content.get("text")).replace("[回复消息]", ""))
    return Said(
        _number(sender.get("uin") or raw.get("senderUin")),
        _text(sender.get("groupCard") or raw.get("sendMemberName") or sender.get("name") or sender.get("nickname")),
        text,
        _instant(message.get("timestamp")),
        _text(message.get("id") or message.get("messageId")),
        _number(message.get("seq") or raw.get("msgSeq")),
        _text(reply.get("referencedMessageId") or reply.get("messageId") or reply.get("replyMsgId")),
    )


def _of_chatlab(message: _Fields) -> Read:
    kind = message.get("type", 0)
    if kind in (_RECALLED, _SYSTEM):
        return "withdrawn" if kind == _RECALLED else "system"
    return Said(
        _text(message.get("sender")),
        _text(message.get("groupNickname") or message.get("accountName")),
        _text(message.get("content")),
        _instant(message.get("timestamp")),
        _text(message.get("platformMessageId")),
        _text(message.get("number")),
        _text(message.get("replyToMessageId")),
    )


def _instant(value: object) -> datetime | None:
    """Return a time in seconds or milliseconds since 1970, or in ISO 8601 with an offset; None if it is none."""
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(value, str) and not value.isdigit():
            at = datetime.fromisoformat(value.replace("Z", "+00:00"))
            return at if at.tzinfo else None
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            seconds = float(value)
            return datetime.fromtimestamp(seconds / 1000 if seconds > MILLISECONDS else seconds, tz=timezone.utc)
    return None


def _lines(file: ChatFile, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file without their ends; one that is too long is blank."""
    with path.open("rb") as opened:
        while line := opened.readline(LONGEST_LINE):
            file.position += len(line)
            is_whole = line.endswith(b"\n") or len(line) < LONGEST_LINE
            while not line.endswith(b"\n") and (rest := opened.readline(LONGEST_LINE)):
                file.position += len(rest)
                line = rest
            yield line.rstrip(b"\r\n") if is_whole else b""


class _Json:
    """Reads JSON value by value, with one value and one chunk in memory."""

    def __init__(self, file: ChatFile, opened: BinaryIO) -> None:
        self._file, self._opened = file, opened
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at = "", 0

    def value(self) -> object:
        """Return the next value; raise BadArgument if it is broken or too large."""
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except (ValueError, RecursionError) as broken:
                if len(self._text) - self._at > LONGEST_VALUE or isinstance(broken, RecursionError) or not self._more():
                    raise self._refusal() from broken
                continue
            if end < len(self._text) or not self._more():  # else a number may go on
                self._at = end
                return value

    def peek(self) -> str:
        """Return the next character that is no blank; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def expect(self, character: str) -> None:
        """Skip a character; raise BadArgument if another comes."""
        if self.peek() != character:
            raise self._refusal()
        self._at += 1

    def _more(self) -> bool:
        """Read another chunk; return False at the end of the file."""
        read = self._opened.read(CHUNK)
        self._file.position += len(read)
        self._text, self._at = self._text[self._at :] + self._decoder.decode(read, final=not read), 0
        return bool(read)

    def _refusal(self) -> BadArgument:
        megabytes = round(self._file.position / 1_000_000, 1)
        return BadArgument(sentences.caller.BROKEN_CHAT.format(path=self._file.path, megabytes=megabytes))


def _file_id(value: str) -> str:
    """Return the id of a line of a file; it is none of the ids by which the bot hears lines."""
    if len(value) <= ID_LENGTH:
        with suppress(BadArgument):
            return checked_id(f"file-{value}", "id")
    return f"file-{derived_id(value)}"


def _object(value: object) -> _Fields:
    return cast("_Fields", value) if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _number(value: object) -> str:
    """Return a number as text; "" for 0, which stands for none."""
    text = _text(value)
    return text if text.isdigit() and text.strip("0") else ""
