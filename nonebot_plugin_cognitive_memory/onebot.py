"""OneBot's two versions, and what their messages say: words, and short markers for everything else.

An adapter that the bot has not loaded is not imported here either.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from nonebot.adapters import Bot, MessageSegment

from .markdown import plain_lines

if TYPE_CHECKING:
    from nonebot.adapters.onebot import v11, v12
else:

    class _Nothing:
        """A class without instances."""

    class _Version:
        """Gives access to the classes of an adapter's module; while it is not loaded, to a class without instances."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            if self._module not in sys.modules:
                return _Nothing
            found = self.__dict__[name] = getattr(sys.modules[self._module], name)
            return found

    v11, v12 = _Version("nonebot.adapters.onebot.v11"), _Version("nonebot.adapters.onebot.v12")


TEXT_LENGTH = 4_000
SEGMENTS = 200
LABEL_LENGTH, CARD_LENGTH, PATH_LENGTH = 40, 80, 1_000
FORWARDED = "[合并转发]"
_FENCES = (  # round what is put before the model; the second pair is the former one, in older logs
    ("【记忆开始】", "【记忆结束】"),
    ("<cognitive_memory>", "</cognitive_memory>"),
)
_BLOCK = re.compile(
    "|".join(f"{re.escape(opened)}.*?(?:{re.escape(closed)}|\\Z)" for opened, closed in _FENCES), re.DOTALL
)
Fields = Mapping[str, object]
CARD_ROOM = 20_000  # characters of a card that are looked at
_TITLE_KEYS = ("title", "name", "nickname")
_SAID_KEYS = ("desc", "summary", "text", "tag")
_PERSON = {
    "at": ("qq",),
    "mention": ("user_id",),
}  # the field of the id, by the type of a segment that mentions somebody


@dataclass(frozen=True)
class Wording:
    """The text of a message, the id of the message that it answers, and the ids of the people it mentions."""

    text: str
    reply_to: str | None = None
    mentioned: tuple[str, ...] = ()


def worded(
    segments: Iterable[MessageSegment], self_id: str = "", name_of: Callable[[str], str] = lambda _: ""
) -> Wording:
    """Convert a message to text, cut to the length that is stored. A mention of ``self_id`` is left out.

    ``name_of`` returns the name of a person whose id alone is in a mention, "" if it is not known.
    """
    parts, mentioned = list[str](), dict[str, None]()
    reply_to, room = "", TEXT_LENGTH
    for segment in islice(segments, SEGMENTS):
        if segment.type == "reply":
            reply_to = reply_to or _first(segment.data, "id", "message_id")
            continue
        person = _first(segment.data, *_PERSON.get(segment.type, ()))
        if person:
            mentioned[person] = None
        if room > 0 and not (person and person == self_id):
            parts.append(_words(segment, name_of)[:room])
            room -= len(parts[-1])
    return Wording(cleaned("".join(parts)).strip(), reply_to or None, tuple(mentioned))


def spoken(bot: Bot, text: str) -> MessageSegment:
    """Return a segment of literal text, in which nothing is parsed."""
    return v12.MessageSegment.text(text) if isinstance(bot, v12.Bot) else v11.MessageSegment.text(text)


def cleaned(text: str) -> str:
    """Return a text without what cannot be stored, lone surrogates and NUL, and without memory blocks.

    A block was made for a model's prompt; the memory must not learn from itself.
    """
    return _BLOCK.sub("", text.encode("utf-8", "replace").decode("utf-8").replace("\0", ""))


def _first(fields: Fields, *keys: str) -> str:
    """Return the first of these fields that is a number, or a text that is not blank, as text; "" if none is."""
    found = (fields.get(key) for key in keys)
    return next((str(value) for value in found if isinstance(value, str | int) and str(value).strip()), "")


def _words(segment: MessageSegment, name_of: Callable[[str], str]) -> str:
    if segment.type in _PERSON:
        target = _label(_first(segment.data, "qq", "user_id"))
        if target in ("", "all"):
            return "@全体成员 " if target else ""
        return f"@{_label(_first(segment.data, 'name')).lstrip('@') or name_of(target) or 'QQ'}({target}) "
    if segment.type == "text":
        text = segment.data.get("text")
        return text if isinstance(text, str) else ""
    marker = _MARKERS.get(segment.type) or _MARKERS.get(segment.type.rsplit(".", 1)[-1], "[其他]")
    return marker if isinstance(marker, str) else marker(segment.data)


def _label(text: str, length: int = LABEL_LENGTH) -> str:
    """Return a text as a short line that cannot close a marker."""
    return " ".join(text[:length].translate(_NO_BRACKETS).split())


def _marker(name: str, text: str, length: int = LABEL_LENGTH) -> str:
    label = _label(text, length)
    return f"[{name}:{label}]" if label else f"[{name}]"


def _file(fields: Fields) -> str:
    """Return the marker of a file with its name, else the last part of its path; data and addresses are no names."""
    path = _first(fields, "file")
    part = "" if "://" in path or len(path) > PATH_LENGTH else re.split(r"[/\\\\]", path)[-1]
    return _marker("文件", _first(fields, "name", "file_name") or part)


def json_title(data: object) -> str:
    """Return title and description of a JSON card; without both the text that old clients show instead, else ""."""
    if isinstance(data, str) and len(data) <= CARD_ROOM:
        with suppress(ValueError, RecursionError):
            data = json.loads(data)
    card = cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}
    meta = card.get("meta")
    details = list(meta.values())[:4] if isinstance(meta, Mapping) else []
    for part in (one for one in details if isinstance(one, Mapping)):
        title, said = _first(part, *_TITLE_KEYS), _first(part, *_SAID_KEYS)
        if title or said:
            return " ".join(dict.fromkeys(filter(None, (title, said))))
    return _first(card, "prompt", "desc").removeprefix("[").replace("]", " ", 1)


def _markdown(fields: Fields) -> str:
    """Return the text of a Markdown message without its marks."""
    content = fields.get("content")
    if isinstance(content, Mapping):
        content = content.get("content")
    text = content[:TEXT_LENGTH] if isinstance(content, str) else ""
    return " ".join(line for _, line in plain_lines(text)) or "[卡片]"


_NO_BRACKETS = str.maketrans("[]", "  ")
_MARKERS: Mapping[str, str | Callable[[Fields], str]] = {
    **dict.fromkeys(("face", "mface", "marketface", "emoji", "bubble_face"), "[表情]"),
    **dict.fromkeys(("forward", "node", "longmsg"), FORWARDED),
    **dict.fromkeys(
        ("json", "miniapp", "ark"),
        lambda fields: _marker("卡片", json_title(fields.get("data")), CARD_LENGTH),
    ),
    **dict.fromkeys(("file", "onlinefile"), _file),
    **dict.fromkeys(("record", "voice"), "[语音]"),
    **dict.fromkeys(("rps", "new_rps"), "[猜拳]"),
    **dict.fromkeys(("dice", "new_dice"), "[骰子]"),
    **dict.fromkeys(("shake", "poke"), "[戳一戳]"),
    **dict.fromkeys(("keyboard", "anonymous"), ""),
    "mention_all": "@全体成员 ",
    "image": lambda fields: (
        "[表情]" if str(fields.get("sub_type")) == "1" or fields.get("summary") == "[动画表情]" else "[图片]"
    ),
    "audio": "[音频]",
    "video": "[视频]",
    "contact": "[名片]",
    "markdown": _markdown,
    "flashtransfer": lambda fields: _marker("文件", _first(fields, "title", "name")),
    "share": lambda fields: _marker("链接", _first(fields, "title")),
    "location": lambda fields: _marker("位置", _first(fields, "title")),
    "music": lambda fields: _marker("音乐", _first(fields, "title")),
    "xml": "[卡片]",
}
