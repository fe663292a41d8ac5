"""Deletion of rows with their index entries, and removal of a person from what others said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from sqlite3 import Connection

from ...domain.belief import Belief, Change, without_changer, without_supporter
from ...domain.erasure import texts_of, without_person
from ...domain.event import Event
from ...domain.message import Message
from ...domain.profile import Profile
from .. import beliefs, event_rows, profiles
from ..database.rows import EVENT_FIELDS, MESSAGE_FIELDS, Row, bound, event_of, message_of
from ..database.statements import LISTED, delete, listed, select, update
from ..messages import drop
from ..profiles import KEY_COLUMNS, OF_KEY
from ..search import words
from ..search.read_filter_sql import Filter

FEW = 8  # up to this many are searched one by one in SQL; more of them use one Python function
_FUNCTION = "names_somebody"


class PersonSearch:
    """Finds texts that contain one of a person's names or the id, at nearly the same cost for any number of names."""

    def __init__(self, connection: Connection, search_strings: Iterable[str]) -> None:
        """Register the search as an SQL function of a connection, in place of an earlier search."""
        self._search_strings = sorted({text for text in search_strings if text})
        self._by_start: dict[str, list[str]] = {}
        for search_string in self._search_strings:
            self._by_start.setdefault(search_string[:2], []).append(search_string)
        connection.create_function(_FUNCTION, 1, self.is_in, deterministic=True)

    def is_in(self, text: str) -> bool:
        """Return whether a text contains any of the search strings; the time hardly depends on their number."""
        starts = {*text, *map("".join, pairwise(text))}
        return any(wanted in text for start in self._by_start.keys() & starts for wanted in self._by_start[start])

    def within(self, texts: str) -> Filter:
        """Return the SQL condition that ``texts``, an SQL expression, contains one of the search strings."""
        if len(self._search_strings) > FEW:
            return f"{_FUNCTION}({texts})", ()
        found = select("1", "json_each(?) wanted", f"instr({texts}, wanted.value)")
        return f"EXISTS ({found})", (listed(self._search_strings),)


TOGETHER = 500  # rows read into memory at once
_FIELDS = ", ".join(("seq", *EVENT_FIELDS))


def events_of(connection: Connection, which: Filter) -> list[str]:
    """Delete the rows of events, active or retired, with their index entries; returns their ids."""
    ids: list[str] = []
    for chunk in chunks(seqs_of(connection, "events e", which)):
        query = select(_FIELDS, "events", f"seq IN {LISTED}")
        events = [(row[0], event_of(row[1:])) for row in connection.execute(query, (listed(chunk),)).fetchall()]
        words.drop_events(connection, events)
        rows(connection, "events", (f"seq IN {LISTED}", (listed(chunk),)))  # dependent rows are deleted by cascade
        ids += [event.id for _, event in events]
    return ids


def messages_of(connection: Connection, which: Filter) -> int:
    """Delete the rows of messages with their index entries; returns how many."""
    return sum(drop(connection, chunk) for chunk in chunks(seqs_of(connection, "messages e", which)))


def rows(connection: Connection, table: str, which: Filter) -> int:
    """Delete the rows of a table that match a condition, and by cascade their dependents; return how many."""
    return connection.execute(delete(table, which[0]), which[1]).rowcount


def ids_of(connection: Connection, table: str, which: Filter) -> list[str]:
    """Delete the rows of a table that match a condition; return their ids."""
    ids = [row[0] for row in connection.execute(select("id", table, which[0], "ORDER BY seq"), which[1]).fetchall()]
    rows(connection, table, which)
    return ids


def seqs_of(connection: Connection, source: str, which: Filter) -> list[int]:
    """Return the seqs of the rows of ``source`` (a table as ``e``) that match a condition, in insertion order."""
    found: Iterator[Row] = connection.execute(select("e.seq", source, which[0], "ORDER BY e.seq"), which[1])
    return [row[0] for row in found]


def chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split seqs into chunks of at most :data:`TOGETHER`."""
    return (seqs[start : start + TOGETHER] for start in range(0, len(seqs), TOGETHER))


def of_private_chats(user_id: str) -> Filter:
    """Return the SQL condition for the rows of a person's private chats with every agent, by the scope key."""
    ending = f"\x1fprivate\x1f{user_id}"
    return "substr(scope, -length(?1)) = ?1", bound(ending)


_EVENT_TEXTS = "e.quotes || char(10) || e.text || char(10) || e.pain || char(10) || e.solution || char(10) || e.outcome"
_PROFILE_TEXTS = (
    "p.name || char(10) || p.summary || char(10)"
    f" || coalesce(({select('group_concat(value, char(10))', 'json_each(p.tags)', 'TRUE')}), '')"
)
_BELIEF_TEXTS = "e.statement || char(10) || e.change_summary || char(10) || e.tags"
_CHANGE_TEXTS = "e.old_statement || char(10) || e.new_statement || char(10) || e.change_reason"
_FACTS = f"({select('f.seq, f.text, o.scope', 'facts f JOIN events o ON o.seq = f.event_seq', 'TRUE')})"
_ERRORS = select(", ".join((*KEY_COLUMNS, "error")), "merge_failures", "TRUE")
_SPEAKS_OF = f"e.seq IN ({select('seq', 'event_subjects', 'subject = ?')})"


@dataclass(frozen=True)
class Rewording:
    """Hides one person, by ``hide``, in what others said.

    ``places`` are the places where the person was seen. ``name_search`` searches for the person's names; they must be
    collected before anything is hidden.
    """

    user_id: str
    name_search: PersonSearch
    hide: Callable[[str], str]
    places: Sequence[str]

    def events(self, connection: Connection, revision: int) -> tuple[int, list[str]]:
        """Hide the person in events; return how many texts changed, and the ids of events erased or merged."""
        texts = f"{_EVENT_TEXTS} || char(10) || coalesce(e.perspective, '')"
        named, values = self._within(texts)
        theirs = (*bound(self.user_id, self.user_id), *values, json.dumps(self.user_id, ensure_ascii=False))
        which = (f"e.user_id = ? OR {_SPEAKS_OF} OR {named} OR instr(e.quotes, ?)", theirs)
        changed, joined = 0, list[str]()
        for seq in seqs_of(connection, "events e", which):
            query = select(", ".join(EVENT_FIELDS), "events", "seq = ?")
            old = event_of(connection.execute(query, (seq,)).fetchone())
            new = without_person(old, self.user_id, self.hide)
            if new is None:
                events_of(connection, ("e.seq = ?", (seq,)))
                joined.append(old.id)
                continue
            changed += texts_of(new) != texts_of(old)
            if new is not old and not _changed(connection, seq, old, new, revision):
                joined.append(old.id)
        return changed, joined

    def messages(self, connection: Connection) -> int:
        """Hide the person in the log; returns the number of changed texts."""
        named = seqs_of(connection, "messages e", self._within("e.text"))
        return sum(self._reworded(connection, chunk) for chunk in chunks(named))

    def notes(self, connection: Connection, table: str) -> int:
        """Hide the person in memos or pins; returns the number of changed texts."""
        return self._texts(connection, table, table)

    def facts(self, connection: Connection) -> None:
        """Hide the person in facts learned in the person's places, and in the errors of failed merges."""
        self._texts(connection, "facts", _FACTS)
        for *key, error in connection.execute(_ERRORS).fetchall():
            hidden_error = bound(self.hide(error))
            connection.execute(update("merge_failures", ("error",), OF_KEY), (*hidden_error, *key))

    def profiles(self, connection: Connection) -> None:
        """Hide the person in the indexed profiles of other people and groups, as in the profile files."""
        for seq, old in profiles.found(connection, self.name_search.within(_PROFILE_TEXTS)):
            profiles.reword(connection, seq, _without(old, self.hide))

    def beliefs(self, connection: Connection) -> tuple[int, int]:
        """Erase the beliefs that only the person supported, and hide the person in the others.

        Returns how many beliefs were erased, and how many statements were reworded.
        """
        named, values = self._within(_BELIEF_TEXTS)
        said = "EXISTS (SELECT 1 FROM json_each(e.supporters) WHERE value = ?)"
        source = seqs_of(connection, "beliefs e", (f"{named} OR {said}", (*values, *bound(self.user_id))))
        resting = [one for _, one in beliefs.found(connection, (f"b.seq IN {LISTED}", (listed(source),)))]
        after = [
            (one, without_supporter(one, self.user_id, self._hiding(one), beliefs.senders_of(connection, one)))
            for one in resting
        ]
        for belief, left in after:
            if left is not None and left != belief:
                beliefs.reword(connection, left)
        gone = [belief for belief, left in after if left is None]
        beliefs.erase(connection, gone)
        beliefs.reword_changes(connection, self._of_changes(), self._without_them)
        return len(gone), sum(left is not None and left.statement != one.statement for one, left in after)

    def _of_changes(self) -> Filter:
        named, values = self._within(_CHANGE_TEXTS)
        return f"{named} OR e.changed_by = ?", (*values, *bound(self.user_id))

    def _without_them(self, change: Change) -> Change:
        return without_changer(change, self.user_id, self._hiding(change))

    def _hiding(self, said: Belief | Change) -> Callable[[str], str]:
        """Return ``hide`` if the person was seen in the place or a text contains the id; else :class:`str`."""
        is_meant = said.scope.key in self.places or any(self.user_id in text for text in texts_of(said))
        return self.hide if is_meant else str

    def _reworded(self, connection: Connection, seqs: Sequence[int]) -> int:
        """Hide the person in a chunk of messages; returns the number of changed texts."""
        read = [(seq, old, self.hide(old.text)) for seq, old in _messages(connection, seqs)]
        changed = [(seq, old, text) for seq, old, text in read if text != old.text]
        words.drop_messages(connection, [(seq, old) for seq, old, _ in changed])
        new = [(*bound(text), seq) for seq, _, text in changed]
        connection.executemany(update("messages", ("text",), "seq = ?"), new)
        for seq, message in _messages(connection, [seq for seq, *_ in changed]):  # re-read to index the row as stored
            words.add_message(connection, seq, message)
        return len(changed)

    def _texts(self, connection: Connection, table: str, source: str) -> int:
        named, values = self._within("e.text")
        found = connection.execute(select("e.seq, e.text", f"{source} e", named), values).fetchall()
        hidden = [(seq, text, self.hide(text)) for seq, text in found]
        changed = [(*bound(new), seq) for seq, old, new in hidden if new != old]
        connection.executemany(update(table, ("text",), "seq = ?"), changed)
        return len(changed)

    def _within(self, texts: str) -> Filter:
        """Return the SQL condition for texts that name the person: by id anywhere, by name in the person's places."""
        named, values = self.name_search.within(texts)
        there = (listed(self.places), *values, *bound(self.user_id))
        return f"((e.scope IN {LISTED} AND {named}) OR instr({texts}, ?))", there


def _messages(connection: Connection, seqs: Sequence[int]) -> list[tuple[int, Message]]:
    query = select(", ".join(("seq", *MESSAGE_FIELDS)), "messages", f"seq IN {LISTED}")
    return [(row[0], message_of(row[1:])) for row in connection.execute(query, (listed(seqs),))]


def _without(profile: Profile, hide: Callable[[str], str]) -> Profile:
    """Return a profile with a person hidden; the name of another person's profile is kept."""
    name = profile.name if profile.key.user_id else hide(profile.name)
    return replace(profile.reworded(hide), name=name)


def _changed(connection: Connection, seq: int, old: Event, new: Event, revision: int) -> bool:
    """Rewrite an event; return False if it was instead merged into an active event with the same text, and erased.

    The record of its observation is deleted, too, because the original words name the person.
    """
    rows(connection, "heard", ("event_seq = ?", (seq,)))
    is_reworded = texts_of(new) != texts_of(old)
    twin = event_rows.active_duplicate(connection, new) if is_reworded and new.retired_at is None else None
    if twin not in (None, seq):
        query = select("message_id", "event_sources", "seq = ?")
        sources = [row[0] for row in connection.execute(query, (seq,)).fetchall()]
        event_rows.count_again(connection, twin, new, sources)
        events_of(connection, ("e.seq = ?", (seq,)))
        return False
    event_rows.put_anew(connection, seq, old, new, revision)
    return True
