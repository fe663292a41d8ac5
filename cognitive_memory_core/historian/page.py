"""A profile while facts are merged into it: its sections, and its lines, each with the events that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from .. import sentences
from ..domain.event import duplicate_key
from ..domain.profile import Profile, said_in
from ..ports.models import MergedLines
from ..text.statements.withdrawn_claims import without

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
MOST_EVENTS = 8  # that a line names; the newest


class Page:
    """The lines of a profile under their headings.

    A line without events was written by a person, or before lines named their events: it is changed by
    :meth:`untell` only.
    """

    def __init__(self, profile: Profile | None, *, is_group: bool) -> None:
        """Parse a profile; in a group's, sections to which an earlier version gave a person's headings are renamed."""
        self._titles = tuple(sentences.stored_text.headings(is_group=is_group).values())
        self._tags = list(profile.tags) if profile else []
        self._sources = dict(profile.sources) if profile else {}
        self._sections: list[tuple[str, list[str]]] = []
        for as_written, lines in sections_of(profile.summary if profile else ""):
            title = sentences.stored_text.EARLIER_GROUP_HEADINGS.get(title_of(as_written)) if is_group else None
            heading = f"{_MARK} {title}" if title else as_written
            same = next((others for known, others in self._sections if is_group and known == heading), None)
            if same is None:
                self._sections.append((heading, lines))
                continue
            while same and not same[-1].strip():
                same.pop()
            same += lines

    @property
    def text(self) -> str:
        """The sections as the Markdown text of a profile."""
        return written(self._sections).strip()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags."""
        return tuple(self._tags)

    @property
    def sources(self) -> Mapping[str, tuple[str, ...]]:
        """The ids of the events that each line or tag rests on, in the order of the lines."""
        standing = (said for said in (*map(said_in, self._lines), *self._tags) if said in self._sources)
        return {said: self._sources[said] for said in standing}

    def untell(self, is_told_by: Callable[[str], bool]) -> None:
        """Remove the sentences for which ``is_told_by`` is true from lines and tags that name no events."""
        for _, lines in self._sections:
            left = ((line, line if said_in(line) in self._sources else without(line, is_told_by)) for line in lines)
            lines[:] = [new for line, new in left if new or not line]
        self._tags = [tag for tag in self._tags if tag in self._sources or not is_told_by(tag)]
        self._drop_empty()

    def take(self, merged: MergedLines) -> None:
        """Put merged lines in place of those that rest on one of their events, or on one that is outdated."""
        self._remove_lines({*merged.outdated, *(one for line in merged.lines for one in line.event_ids)})
        self._remove_tags(merged.outdated)
        for line in merged.lines:
            self._add(line.title, line.text, line.event_ids)
        if merged.tags:
            by_hand = [tag for tag in self._tags if tag not in self._sources]
            self._sources |= {tag: ids for tag, ids in merged.tags.items() if tag not in self._sources}
            self._tags = list(dict.fromkeys((*by_hand, *merged.tags)))[:MOST_TAGS]

    def shrink(self, limit: int, days: Mapping[str, str]) -> None:
        """Remove the oldest lines that have a day until the page has at most ``limit`` characters.

        ``days`` are the days of events; a line written by rules has a day of its own. A note in the page states how
        many lines were ever removed.
        """
        count = self._pop_removed_count()
        while len(self.text) + (len(sentences.stored_text.left_out_lines(count)) + 2 if count else 0) > limit:
            oldest = min(self._dated(days), default=None)
            if oldest is None:
                break
            del self._sections[-oldest[1]][1][oldest[2]]
            count += 1
        self._drop_empty()
        if count:
            lead = self._sections[0][1]
            while lead and not lead[-1].strip():
                lead.pop()
            lead += [*([""] if lead else []), sentences.stored_text.left_out_lines(count), ""]

    def _add(self, title: str, text: str, event_ids: Sequence[str]) -> None:
        """Append a line to a section; an equal one, if it names events, gives way to it, else the new one is left out.

        A line without a title is a paragraph at the beginning.
        """
        key = duplicate_key(_without_day(text))
        equal = [line for line in self._lines if line.strip() and duplicate_key(_without_day(line)) == key]
        if any(said_in(line) not in self._sources for line in equal):
            return
        for _, lines in self._sections:
            lines[:] = [line for line in lines if line not in equal]
        lines = self._lines_under(title) if title else self._sections[0][1]
        end = next((index for index in range(len(lines), 0, -1) if lines[index - 1].strip()), 0)
        lines.insert(end, f"- {text}" if title else text)
        self._sources[said_in(text)] = tuple(dict.fromkeys(event_ids))[-MOST_EVENTS:]
        self._drop_empty()

    @property
    def _lines(self) -> Iterator[str]:
        return (line for _, lines in self._sections for line in lines)

    def _remove_lines(self, gone: Collection[str]) -> None:
        for _, lines in self._sections:
            lines[:] = [line for line in lines if not self._rests_on(said_in(line), gone)]
        self._drop_empty()

    def _remove_tags(self, gone: Collection[str]) -> None:
        self._tags = [tag for tag in self._tags if not self._rests_on(tag, gone)]

    def _rests_on(self, said: str, events: Collection[str]) -> bool:
        return any(one in events for one in self._sources.get(said, ()))

    def _dated(self, days: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
        """Yield the day, the negative section number and the index of each line that has a day."""
        for number, (_, lines) in enumerate(self._sections):
            for index, line in enumerate(lines):
                noted = sentences.stored_text.noted(line)
                of_events = (days.get(one, "") for one in self._sources.get(said_in(line), ()))
                day = noted[1] if noted else max(of_events, default="")
                if day:
                    yield day, -number, index  # of one day, lines of the less durable sections go first

    def _pop_removed_count(self) -> int:
        """Remove the note on removed lines from the page; return how many lines it counts, 0 if there is no note."""
        found = 0
        for _, lines in self._sections:
            counts = [sentences.stored_text.left_out_count(line) for line in lines]
            found += sum(filter(None, counts))
            lines[:] = [line for line, count in zip(lines, counts, strict=True) if count is None]
        return found

    def _lines_under(self, title: str) -> list[str]:
        """Return the lines of a section, which may be changed; a missing one is inserted where its order puts it."""
        titles = [title_of(heading) for heading, _ in self._sections]
        if title in titles:
            return self._sections[titles.index(title)][1]
        earlier = self._titles[: self._titles.index(title)]
        at = max((index for index, one in enumerate(titles) if one in earlier), default=0) + 1
        before = self._sections[at - 1][1]
        if at == 1 and not any(line.strip() for line in before):
            before.clear()
        elif before[-1:] != [""]:
            before.append("")
        lines: list[str] = [""]
        self._sections.insert(at, (f"{_MARK} {title}", lines))
        return lines

    def _drop_empty(self) -> None:
        """Remove those of this library's sections that have no lines."""
        self._sections = [
            (heading, lines)
            for heading, lines in self._sections
            if title_of(heading) not in self._titles or any(line.strip() for line in lines)
        ]


def _without_day(line: str) -> str:
    noted = sentences.stored_text.noted(line)
    return noted[0] if noted else said_in(line)
