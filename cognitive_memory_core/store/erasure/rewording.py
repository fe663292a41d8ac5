"""Removal of a person from what others said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from sqlite3 import Connection

from ...domain.belief import Belief, Change, without_changer, without_supporter
from ...domain.erasure import texts_of, without_person
from .. import beliefs, event_rows, profiles
from ..database.rows import BELIEF, CHANGE, EVENT, LISTED, MESSAGE, bound, listed, next_revision
from ..event_rows import seqs_of
from ..profiles import PROFILE
from ..search import words
from ..search.read_filter_sql import Filter

_FUNCTION = "names_somebody"


def search_of(names: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tells whether a text has one of the names; its time hardly depends on their number."""
    by_start: dict[str, list[str]] = {}
    for name in {name for name in names if name}:
        by_start.setdefault(name[:2], []).append(name)

    def is_in(text: str) -> bool:
        starts = by_start.keys() & {*text, *map("".join, pairwise(text))}
        return any(name in text for start in starts for name in by_start[start])

    return is_in


class Rewording:
    """Hides one person, by ``hide``, in what others said, and counts in ``reworded`` how many texts changed."""

    def __init__(
        self,
        connection: Connection,
        user_id: str,
        names: Iterable[str],
        places: Sequence[str],
        hide: Callable[[str], str],
    ) -> None:
        """Hide a person by id anywhere and by name in ``places``, where they were seen.

        Names and places must be collected before anything is hidden.
        """
        self._connection, self._user_id, self._places, self._hide = connection, user_id, places, hide
        search = search_of((*bound(user_id), *names))
        connection.create_function(_FUNCTION, 1, search, deterministic=True)
        self.reworded = 0

    def events(self) -> list[str]:
        """Hide the person in events; return the ids of events erased or merged."""
        said = "e.quotes || char(10) || e.text || char(10) || e.pain || char(10) || e.solution || char(10) || e.outcome"
        named, values = self._within(f"{said} || char(10) || coalesce(e.perspective, '')")
        about = "e.user_id = ? OR e.seq IN (SELECT seq FROM event_subjects WHERE subject = ?)"
        theirs = (*bound(self._user_id, self._user_id), *values, json.dumps(self._user_id, ensure_ascii=False))
        gone, revision = list[str](), next_revision(self._connection)
        for seq in seqs_of(self._connection, "events", f"{about} OR {named} OR instr(e.quotes, ?)", theirs):
            old = event_rows.event_at(self._connection, seq)
            new = without_person(old, self._user_id, self._hide)
            if new is old:
                continue
            is_reworded = new is not None and texts_of(new) != texts_of(old)
            self.reworded += is_reworded
            self._connection.execute("DELETE FROM heard WHERE event_seq = ?", (seq,))  # the original words name them
            is_active_anew = new is not None and is_reworded and new.retired_at is None
            twin = event_rows.active_duplicate(self._connection, new) if new and is_active_anew else None
            if new is not None and twin in (None, seq):
                event_rows.put_anew(self._connection, seq, old, new, revision)
                continue
            if new is not None and twin is not None:  # counted in an active event that now has the same text
                sources = self._connection.execute("SELECT message_id FROM event_sources WHERE seq = ?", (seq,))
                event_rows.count_again(self._connection, twin, new, [row[0] for row in sources.fetchall()])
            gone += event_rows.delete(self._connection, EVENT, "e.seq = ?", (seq,))
        return gone

    def messages(self) -> None:
        """Hide the person in the log."""
        named, values = self._within("e.text")
        read = MESSAGE.numbered(self._connection, f"WHERE {named} ORDER BY e.seq", values)
        changed = [(seq, old, text) for seq, old in read if (text := bound(self._hide(old.text))[0]) != old.text]
        words.drop(self._connection, [(seq, old) for seq, old, _ in changed])
        for seq, old, text in changed:
            self._connection.execute("UPDATE messages SET text = ? WHERE seq = ?", (text, seq))
            words.add(self._connection, seq, replace(old, text=text))
        self.reworded += len(changed)

    def texts(self, table: str, source: str = "") -> int:
        """Hide the person in the texts of a table; return how many changed.

        ``source`` selects seq, text and scope if the table has no scope.
        """
        named, values = self._within("e.text")
        rows = self._connection.execute(f"SELECT e.seq, e.text FROM {source or table} e WHERE {named}", values)
        changed = [(*bound(new), seq) for seq, text in rows.fetchall() if (new := self._hide(text)) != text]
        self._connection.executemany(f"UPDATE {table} SET text = ? WHERE seq = ?", changed)
        return len(changed)

    def facts(self) -> None:
        """Hide the person in facts learned in the person's places, and in the errors of failed merges."""
        self.texts("facts", "(SELECT f.seq, f.text, o.scope FROM facts f JOIN events o ON o.seq = f.event_seq)")
        query = "SELECT agent, entity_type, group_id, user_id, error FROM merge_failures"
        self._connection.executemany(
            f"UPDATE merge_failures SET error = ? WHERE {profiles.OF_KEY}",
            [(*bound(self._hide(error)), *key) for *key, error in self._connection.execute(query).fetchall()],
        )

    def profiles(self) -> None:
        """Hide the person in the indexed profiles of other people and groups, as in the profile files."""
        tags = "coalesce((SELECT group_concat(value, char(10)) FROM json_each(e.tags)), '')"
        named = f"{_FUNCTION}(e.name || char(10) || e.summary || char(10) || {tags})"
        for seq, old in PROFILE.numbered(self._connection, f"WHERE {named} ORDER BY e.seq"):
            name = old.name if old.key.user_id else self._hide(old.name)  # another person's name is kept
            profiles.reword(self._connection, seq, replace(old.reworded(self._hide), name=name))

    def beliefs(self) -> int:
        """Erase the beliefs that only the person supported, and hide the person in the others; return how many went."""
        named, values = self._within("e.statement || char(10) || e.change_summary || char(10) || e.tags")
        said = "EXISTS (SELECT 1 FROM json_each(e.supporters) WHERE value = ?)"
        where = f"WHERE {named} OR {said} ORDER BY e.seq"
        gone: list[Belief] = []
        for belief in BELIEF.found(self._connection, where, (*values, *bound(self._user_id))):
            senders = beliefs.senders_of(self._connection, belief)
            left = without_supporter(belief, self._user_id, self._hiding(belief), senders)
            if left is None:
                gone.append(belief)
            elif left != belief:
                beliefs.reword(self._connection, left)
                self.reworded += left.statement != belief.statement
        beliefs.erase(self._connection, gone)
        named, values = self._within("e.old_statement || char(10) || e.new_statement || char(10) || e.change_reason")
        where = f"WHERE {named} OR e.changed_by = ?"
        for seq, change in CHANGE.numbered(self._connection, where, (*values, *bound(self._user_id))):
            left = CHANGE.values(without_changer(change, self._user_id, self._hiding(change)))
            self._connection.execute(f"{CHANGE.update} WHERE seq = ?", (*left, seq))
        return len(gone)

    def _hiding(self, said: Belief | Change) -> Callable[[str], str]:
        """Return ``hide`` if the person was seen in the place or a text contains the id; else :class:`str`."""
        is_meant = said.scope.key in self._places or any(self._user_id in text for text in texts_of(said))
        return self._hide if is_meant else str

    def _within(self, texts: str) -> Filter:
        """Return the SQL condition for texts that name the person: by id anywhere, by name in the person's places."""
        there = (listed(self._places), *bound(self._user_id))
        return f"((e.scope IN {LISTED} AND {_FUNCTION}({texts})) OR instr({texts}, ?))", there
