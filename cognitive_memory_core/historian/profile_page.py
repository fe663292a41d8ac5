"""A profile while facts are merged into it: its sections, and its lines, each with the events that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import sentences
from ..domain.event import duplicate_key
from ..domain.profile import Profile, said_in
from ..ports import MergedLine, MergedLines
from ..text.retelling import without

_MARK = "##"  # a single # heads the whole text, not a section


def sections_of(text: str) -> list[tuple[str, list[str]]]:
    """Split a text before each heading of the second level or deeper; the first section has no heading."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if line.startswith(_MARK) and title_of(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


def written(sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return sections as Markdown text; the inverse of :func:`sections_of`."""
    return "\n".join(line for heading, lines in sections for line in ((heading, *lines) if heading else lines))


def title_of(heading: str) -> str:
    """Return the text of a heading."""
    return heading.strip("# \t")


MOST_TAGS = 12
MOST_EVENTS = 8  # that a line names; those first that it shares most words with


class Page:
    """The lines of a profile under their headings.

    A line without events was written by a person, or before lines named their events: it is changed by
    :meth:`untell` only.
    """

    def __init__(self, profile: Profile | None, *, is_group: bool) -> None:
        """Parse a profile."""
        self._titles = tuple(sentences.context.headings(is_group=is_group).values())
        self.tags = profile.tags if profile else ()
        self._sources = dict(profile.sources) if profile else {}
        self._sections = sections_of(profile.summary if profile else "")

    @property
    def text(self) -> str:
        """The sections as the Markdown text of a profile."""
        return written(self._sections).strip()

    @property
    def sources(self) -> Mapping[str, tuple[str, ...]]:
        """The ids of the events that each line or tag rests on, in the order of the lines."""
        lines = (said_in(line) for _, lines in self._sections for line in lines)
        return {said: self._sources[said] for said in (*lines, *self.tags) if said in self._sources}

    def untell(self, is_told_by: Callable[[str], bool]) -> None:
        """Remove the sentences for which ``is_told_by`` is true from lines and tags that name no events."""
        for _, lines in self._sections:
            left = ((line, line if said_in(line) in self._sources else without(line, is_told_by)) for line in lines)
            lines[:] = [new for line, new in left if new or not line]
        self.tags = tuple(tag for tag in self.tags if tag in self._sources or not is_told_by(tag))
        self._drop_empty()

    def take(self, merged: MergedLines) -> None:
        """Put merged lines in place of those that rest on one of their events, or on one that is outdated."""
        gone = {*merged.outdated, *(one for line in merged.lines for one in line.event_ids)}
        for _, lines in self._sections:
            lines[:] = [line for line in lines if gone.isdisjoint(self._sources.get(said_in(line), ()))]
        self.tags = tuple(tag for tag in self.tags if set(merged.outdated).isdisjoint(self._sources.get(tag, ())))
        self._drop_empty()
        for line in merged.lines:
            self._add(line)
        if merged.tags:
            by_hand = [tag for tag in self.tags if tag not in self._sources]
            self._sources |= {tag: ids for tag, ids in merged.tags.items() if tag not in self._sources}
            self.tags = tuple(dict.fromkeys((*by_hand, *merged.tags)))[:MOST_TAGS]

    def _add(self, line: MergedLine) -> None:
        """Append a line to its section; a missing one is inserted where its order puts it.

        An equal line, if it names events, gives way to it, else the new one is left out. A line without a title is a
        paragraph at the beginning.
        """

        def key(text: str) -> str:
            noted = sentences.context.noted(text)  # with the day on which rules wrote it
            return duplicate_key(noted[0] if noted else said_in(text))

        wanted, every = key(line.text), (one for _, lines in self._sections for one in lines if one.strip())
        equal = [one for one in every if key(one) == wanted]
        if any(said_in(one) not in self._sources for one in equal):
            return
        for _, lines in self._sections:
            lines[:] = [one for one in lines if one not in equal]

        titles = [title_of(heading) for heading, _ in self._sections]
        if not line.title:
            lines = self._sections[0][1]
        elif line.title in titles:
            lines = self._sections[titles.index(line.title)][1]
        else:
            earlier = self._titles[: self._titles.index(line.title)]
            at = max((index for index, one in enumerate(titles) if one in earlier), default=0) + 1
            before, lines = self._sections[at - 1][1], [""]
            if at == 1 and not any(one.strip() for one in before):
                before.clear()
            elif before[-1:] != [""]:
                before.append("")
            self._sections.insert(at, (f"{_MARK} {line.title}", lines))
        end = next((index for index in range(len(lines), 0, -1) if lines[index - 1].strip()), 0)
        lines.insert(end, f"- {line.text}" if line.title else line.text)
        self._sources[said_in(line.text)] = tuple(dict.fromkeys(line.event_ids))[:MOST_EVENTS]
        self._drop_empty()

    def shrink(self, limit: int, days: Mapping[str, str]) -> None:
        """Remove the oldest lines that have a day until the page has at most ``limit`` characters.

        ``days`` are the days of events; a line written by rules has a day of its own.
        """
        while len(self.text) > limit:
            dated: list[tuple[str, int, int]] = []
            for number, (_, lines) in enumerate(self._sections):
                for index, line in enumerate(lines):
                    noted = sentences.context.noted(line)
                    of_events = (days.get(one, "") for one in self._sources.get(said_in(line), ()))
                    if day := noted[1] if noted else max(of_events, default=""):
                        dated.append((day, -number, index))  # of one day, lines of the less durable sections go first
            if not dated:
                break
            _, section, index = min(dated)
            del self._sections[-section][1][index]
        self._drop_empty()

    def _drop_empty(self) -> None:
        """Remove those of this library's sections that have no lines."""
        self._sections = [
            (heading, lines)
            for heading, lines in self._sections
            if title_of(heading) not in self._titles or any(line.strip() for line in lines)
        ]
