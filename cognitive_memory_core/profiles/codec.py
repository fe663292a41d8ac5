"""Encodes and decodes profile files: YAML front matter and Markdown, edited by people and by models.

Every YAML value is read as text: numbers, dates, aliases and tags have no effect. Unknown keys are kept as written. The
path of a file, not its content, decides whose profile it is.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any, cast

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler

from .. import sentences
from ..disk import decodings
from ..domain.instants import checked_instant, datetime_of
from ..domain.profile import Profile
from ..domain.scope import DEFAULT_AGENT
from ..errors import BadArgument, LimitReached, PermanentError
from ..text.cleaning import clean_text, one_line, writable_text
from ..text.ids import BARE_ID
from ..text.names import NAME_LENGTH, clean_name
from .paths import ProfileLocation

LARGEST = 256 * 1024  # bytes of a file
LONGEST_FRONT = 64 * 1024  # characters of front matter
DEEPEST, MOST_PARTS = 8, 2_000  # of front matter: depth of nesting and number of values
Hide = Callable[[str], str]
Pair = tuple[yaml.Node, yaml.Node]


_LOADER = cast("Callable[[str], Any]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_DUMPER = cast("Callable[..., Any]", yaml.SafeDumper)
_QUICK_DUMPER = cast("Callable[..., Any]", getattr(yaml, "CSafeDumper", yaml.SafeDumper))
_ODD = "\\!"  # where these occur, the C dumper may have escaped an emoji or written a tag
_OPENING, _CLOSING = (yaml.SequenceStartEvent, yaml.MappingStartEvent), (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_TEXT, _LIST, _MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_NULL = "tag:yaml.org,2002:null"
_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)
_NO_FOLDING = 1_000_000  # characters per line
_ODD_LINE_END = re.compile("[\r\x85\u2028\u2029]")


def tidy(profile: Profile) -> Profile:
    """Return a profile that a model or an editor wrote with sanitised name, tags and summary.

    A name that looks like a placeholder is kept, because somebody chose it.
    """
    name = clean_name(profile.name) or one_line(profile.name, NAME_LENGTH)
    tags = tuple(tag for tag in map(one_line, profile.tags) if tag)
    return replace(profile, name=name, tags=tags, summary=clean_text(profile.summary).strip())


@dataclass(frozen=True)
class ProfileFile:
    """The content of a file: a profile, the other keys of its front matter, and, if it was read, its bytes."""

    profile: Profile
    others: tuple[Pair, ...] = ()
    data: bytes = b""

    @classmethod
    def read(cls, data: bytes, location: ProfileLocation, zone: tzinfo, written_at: datetime) -> ProfileFile:
        """Parse the file of a profile at a location.

        Times without a zone are in ``zone``; ``written_at`` is used if the file states no time of change. Raises
        PermanentError, with a reason in Chinese, for an invalid profile or one of somebody else.
        """
        if len(data) > LARGEST:
            raise PermanentError(sentences.storage_errors.PROFILE_TOO_LARGE.format(size=len(data), limit=LARGEST))
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise PermanentError(f"{error.reason} @ {error.start}") from None
        front, body = cast("tuple[Mapping[str, Pair], str]", frontmatter.parse(text, handler=_Front()))
        of_type = _text(front, "entity_type")
        if of_type not in ("", location.entity_type):
            raise PermanentError(
                sentences.storage_errors.PROFILE_OF_ANOTHER.format(expected=location.entity_type, stated=of_type)
            )
        group_id = _text(front, "group_id") if location.group else ""
        key = location.key(_text(front, "entity_id"), group_id, _text(front, "agent") if location.agent else "")
        profile = Profile(
            key=key,
            name=_text(front, "name"),
            tags=_texts(front, "tags"),
            summary=body,
            updated_at=_instant(_text(front, "updated_at"), zone, written_at),
            source_event_id=_text(front, "source_event_id"),
            version=version_of(data),
            sources=_sources(front),
        )
        known = _front_matter_of(profile)
        others = ((_hidden(key, str), _hidden(value, str)) for name, (key, value) in front.items() if name not in known)
        return cls(tidy(profile), tuple(others), data)

    def written(self) -> bytes:
        """Return the file's bytes; raises LimitReached if they would be too large to read back."""
        stamped = [(_scalar(name), node) for name, node in _front_matter_of(self.profile).items()]
        post = frontmatter.Post(self.profile.summary)
        post.metadata.update({str(key.value): (key, node) for key, node in (*stamped, *self.others)})
        text = frontmatter.dumps(post, handler=_Front())
        data = writable_text(text).encode()
        if len(data) > LARGEST:
            raise LimitReached(sentences.storage_errors.PROFILE_TOO_LARGE.format(size=len(data), limit=LARGEST))
        return data

    def without(self, hide: Hide, events: Collection[str] = ()) -> ProfileFile:
        """Return the file without the lines of ``events`` and with a person hidden.

        The name of another person's profile is kept.
        """
        profile = self.profile.without_events(events)
        name = profile.name if profile.key.user_id else hide(profile.name)
        return ProfileFile(
            tidy(replace(profile.reworded(hide), name=name)),
            tuple((_hidden(key, hide), _hidden(value, hide)) for key, value in self.others),
        )


def version_of(data: bytes) -> str:
    """Return a hash that identifies a file's content."""
    return hashlib.sha256(data).hexdigest()[:32]


def without_person(
    data: bytes, *, read: Callable[[bytes], ProfileFile], user_id: str, hide: Hide, events: Collection[str]
) -> bytes | None:
    """Return a file's content without a person and events: None if it has nothing of them, empty if it must go.

    An unreadable file that mentions the person must go.
    """
    try:
        file = read(data)
    except PermanentError:
        return b"" if _mentions(data, user_id, hide) else None
    try:
        rest = file.without(hide, events).written()
        is_silent = not _mentions(data, user_id, hide) and rest == file.written()
    except LimitReached:
        return b""
    return None if is_silent or rest == data else rest


def _mentions(data: bytes, user_id: str, hide: Hide) -> bool:
    """Return whether bytes hold an id or text to be hidden, in any plausible encoding."""
    number = user_id if len(user_id) >= BARE_ID else None
    return any((number and number in text) or hide(text) != text for text in decodings(data))


class _Front(BaseHandler):
    """Front matter between two ``---`` lines, as YAML nodes that are not converted to values."""

    FM_BOUNDARY = _BOUNDARY

    def split(self, text: str) -> tuple[str, str]:
        """Split front matter and body; everything after the second ``---`` line is the body."""
        before, *parts = _BOUNDARY.split(text, maxsplit=2)
        if before or not parts[1:]:
            raise PermanentError(sentences.storage_errors.PROFILE_WITHOUT_FRONT)
        return parts[0], parts[1]

    def load(self, fm: str) -> dict[str, object]:
        """Parse a mapping of bounded size and depth into YAML nodes by key."""
        if len(fm) > LONGEST_FRONT:
            raise PermanentError(sentences.storage_errors.PROFILE_TOO_LARGE.format(size=len(fm), limit=LONGEST_FRONT))
        try:
            _check(fm)
            root: yaml.Node | None = _LOADER(fm).get_single_node()
        except (yaml.YAMLError, ValueError) as error:
            raise PermanentError(one_line(str(error), 200)) from None
        if root is None:
            return {}
        if not isinstance(root, yaml.MappingNode) or not all(isinstance(key, yaml.ScalarNode) for key, _ in root.value):
            raise PermanentError(sentences.storage_errors.NOT_AN_OBJECT)
        return {key.value: (key, value) for key, value in root.value}

    def format(self, post: frontmatter.Post, **_: object) -> str:
        """Serialise the nodes, then the body."""
        metadata = cast("Mapping[str, Pair]", post.metadata)
        pairs = list(metadata.values())
        front = _dumped(pairs, _QUICK_DUMPER)
        if any(sign in front for sign in _ODD):
            front = _dumped(pairs, _DUMPER)
        if len(front) > LONGEST_FRONT:
            raise LimitReached(sentences.storage_errors.PROFILE_TOO_LARGE.format(size=len(front), limit=LONGEST_FRONT))
        return f"---\n{front}---\n{post.content}\n"


def _dumped(front: list[Pair], kind: Callable[..., Any]) -> str:
    text = io.StringIO()
    dumper = kind(text, allow_unicode=True, width=_NO_FOLDING)
    dumper.open()
    dumper.serialize(yaml.MappingNode(_MAP, front, flow_style=False))
    dumper.close()
    return text.getvalue()


def _check(front: str) -> None:
    """Raise PermanentError for aliases, anchors, tags and excessive depth or size, before nodes are built."""
    loader, depth, parts = _LOADER(front), 0, 0
    while loader.check_event():
        event: yaml.Event = loader.get_event()
        parts += 1
        depth += isinstance(event, _OPENING) - isinstance(event, _CLOSING)
        if isinstance(event, yaml.AliasEvent) or {getattr(event, name, None) for name in ("anchor", "tag")} != {None}:
            raise PermanentError(sentences.storage_errors.PROFILE_ALIAS)
        if depth > DEEPEST or parts > MOST_PARTS:
            raise PermanentError(sentences.storage_errors.TOO_DEEP)


def _text(front: Mapping[str, Pair], name: str) -> str:
    """Return a value as written; "" if there is none."""
    if name not in front:
        return ""
    node = front[name][1]
    if not isinstance(node, yaml.ScalarNode):
        raise PermanentError(sentences.caller.bad_value(name, "…", "文本"))
    is_nothing = node.tag == _NULL and name != "name"  # a person may be called Null
    return "" if is_nothing else cast("str", node.value)


def _texts(front: Mapping[str, Pair], name: str) -> tuple[str, ...]:
    if name not in front or not isinstance(node := front[name][1], yaml.SequenceNode):
        text = _text(front, name)
        return (text,) if text else ()
    if not all(isinstance(item, yaml.ScalarNode) for item in node.value):
        raise PermanentError(sentences.caller.bad_value(name, "…", "一串文本"))
    return tuple(item.value for item in node.value)


def _instant(text: str, zone: tzinfo, written_at: datetime) -> datetime:
    if not text:
        return written_at
    try:
        instant = datetime_of(text)
        return checked_instant(instant if instant.tzinfo else instant.replace(tzinfo=zone), "updated_at")
    except (ValueError, BadArgument):
        raise PermanentError(sentences.caller.bad_value("updated_at", text, " ISO 8601 时间")) from None


def _front_matter_of(profile: Profile) -> dict[str, yaml.Node]:
    """Return the front matter of a profile; the ids are those of its key, not those that the file stated before."""
    key = profile.key
    sources: list[tuple[yaml.Node, yaml.Node]] = [
        (_scalar(said), yaml.SequenceNode(_LIST, list(map(_scalar, ids)), flow_style=True))
        for said, ids in profile.sources.items()
    ]
    return {
        "entity_type": _scalar(key.entity_type),
        "entity_id": _scalar(key.group_id if key.entity_type == "group" else key.user_id, '"'),
        **({"group_id": _scalar(key.group_id, '"')} if key.entity_type == "member" else {}),
        **({"agent": _scalar(key.agent, '"')} if key.agent != DEFAULT_AGENT else {}),
        "name": _scalar(profile.name),
        "tags": yaml.SequenceNode(_LIST, [_scalar(tag) for tag in profile.tags], flow_style=not profile.tags),
        "updated_at": _scalar(profile.updated_at.isoformat(), '"'),
        "source_event_id": _scalar(profile.source_event_id),
        **({"sources": yaml.MappingNode(_MAP, sources, flow_style=False)} if sources else {}),
    }


def _sources(front: Mapping[str, Pair]) -> Mapping[str, tuple[str, ...]]:
    """Return the events that each line rests on; {} if a person made something else of them."""
    node = front["sources"][1] if "sources" in front else None
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {
        said.value: tuple(one.value for one in ids.value if isinstance(one, yaml.ScalarNode))
        for said, ids in node.value
        if isinstance(said, yaml.ScalarNode) and isinstance(ids, yaml.SequenceNode)
    }


def _scalar(text: str, style: str | None = None) -> yaml.ScalarNode:
    """Return a text node, quoted if an unusual line break must be preserved or YAML would read another type."""
    shown = writable_text(text)
    return yaml.ScalarNode(_TEXT, shown, style='"' if _ODD_LINE_END.search(shown) else style)


def _hidden(node: yaml.Node, hide: Hide) -> yaml.Node:
    """Return a YAML node with a person hidden; a text with an unusual line break is quoted to preserve it."""
    if isinstance(node, yaml.ScalarNode):
        written = cast("str", node.value)
        text, shown = hide(written), clean_text(written)
        if hide(shown) != shown:
            text = hide(shown)
        style = '"' if _ODD_LINE_END.search(text) else node.style
        return yaml.ScalarNode(node.tag if text == written else _TEXT, text, style=style)
    if isinstance(node, yaml.MappingNode):
        pairs = [(_hidden(key, hide), _hidden(value, hide)) for key, value in cast("list[Pair]", node.value)]
        return yaml.MappingNode(node.tag, pairs, flow_style=False)
    items = [_hidden(item, hide) for item in cast("list[yaml.Node]", node.value)]
    return yaml.SequenceNode(node.tag, items, flow_style=False)
