"""Forgetting of people, places and single events, and removal of their bytes from every file of the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Literal

from ..domain.belief import Belief, Change, change_without_people, without_people
from ..domain.erasure import Erasure, Tombstones, texts_of, without_person
from ..domain.event import Event
from ..domain.figures import PurgeState
from ..domain.scope import Scope
from ..text.redaction import hides_alone
from . import beliefs, consent, event_rows, profiles
from .database import migrations
from .database.database import Table, reads, writes
from .database.rows import (
    BELIEF,
    CHANGE,
    EVENT,
    LISTED,
    MESSAGE,
    PROFILE,
    bound,
    instant_of,
    key_values,
    listed,
    micros,
    next_revision,
)
from .database.words import line_words
from .event_rows import seqs_of
from .facts import FactBook
from .messages import note_withdrawn
from .names import NameBook
from .profiles import OF_KEY, keys_in
from .search.filters import GONE, RESTS_ON_NOTHING


def _named(texts: str) -> str:
    """Return the SQL condition for texts that name the person of a Rewording: by id anywhere, by name where seen."""
    return f"(was_seen_in(e.scope) AND names_them({texts}) OR instr({texts}, the_person()))"


class Rewording:
    """Hides one person, by ``hide``, in what others said, and counts in ``reworded`` how many texts changed."""

    def __init__(
        self,
        connection: Connection,
        user_id: str,
        names: Iterable[str],
        places: Collection[str],
        hide: Callable[[str], str],
    ) -> None:
        """Hide a person by id anywhere and by name in ``places``, where they were seen.

        Names and places must be collected before anything is hidden.
        """
        self._connection, self._user_id, self._places, self._hide = connection, user_id, places, hide
        named = re.compile("|".join(map(re.escape, (*bound(user_id), *names))))
        connection.create_function("the_person", 0, lambda: bound(user_id)[0], deterministic=True)
        connection.create_function("was_seen_in", 1, places.__contains__, deterministic=True)

        def names_them(text: str) -> bool:
            return named.search(text) is not None

        connection.create_function("names_them", 1, names_them, deterministic=True)
        self.reworded = 0

    def events(self) -> None:
        """Hide the person in events; one that then says what another says is counted in that one."""
        said = "e.quotes || char(10) || e.text || char(10) || e.pain || char(10) || e.solution || char(10) || e.outcome"
        named = _named(f"{said} || char(10) || coalesce(e.perspective, '')")
        about = "e.user_id = the_person() OR e.seq IN (SELECT seq FROM event_subjects WHERE subject = the_person())"
        where = f"{about} OR {named} OR instr(e.quotes, json_quote(the_person()))"
        revision = next_revision(self._connection)
        for seq in seqs_of(self._connection, "events", where, ()):
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
            event_rows.delete(self._connection, EVENT, "e.seq = ?", (seq,))

    def messages(self) -> None:
        """Hide the person in the log, also in the words of its lines."""
        changed = self.texts("messages")
        for seq, line in MESSAGE.numbered(self._connection, f"WHERE seq IN {LISTED}", (listed(changed),)):
            words = line_words(line, micros(line.sent_at))
            self._connection.execute("UPDATE messages SET words = ? WHERE seq = ?", (words, seq))
        self.reworded += len(changed)

    def texts(self, table: str, source: str = "") -> list[int]:
        """Hide the person in the texts of a table; return the seqs of those that changed.

        ``source`` selects seq, text and scope if the table has no scope.
        """
        rows = self._connection.execute(f"SELECT e.seq, e.text FROM {source or table} e WHERE {_named('e.text')}")
        changed = [(*bound(new), seq) for seq, text in rows.fetchall() if (new := self._hide(text)) != text]
        self._connection.executemany(f"UPDATE {table} SET text = ? WHERE seq = ?", changed)
        return [seq for _, seq in changed]

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
        named = f"names_them(e.name || char(10) || e.summary || char(10) || {tags})"
        for seq, old in PROFILE.numbered(self._connection, f"WHERE {named} ORDER BY e.seq"):
            name = old.name if old.key.user_id else self._hide(old.name)  # another person's name is kept
            profiles.reword(self._connection, seq, replace(old.reworded(self._hide), name=name))

    def beliefs(self) -> int:
        """Erase the beliefs that only the person supported, and hide the person in the others; return how many went."""
        named = _named("e.statement || char(10) || e.change_summary || char(10) || e.tags")
        said = "EXISTS (SELECT 1 FROM json_each(e.supporters) WHERE value = the_person())"
        gone: list[Belief] = []
        for belief in BELIEF.found(self._connection, f"WHERE {named} OR {said} ORDER BY e.seq"):
            senders = beliefs.senders_of(self._connection, belief)
            left = without_people(belief, {self._user_id}, self._hiding(belief))
            if left is None:
                gone.append(belief)
                continue
            logged = tuple(one for one in belief.message_ids if one in senders)  # the others may be the person's
            if (left := replace(left, message_ids=logged)) != belief:
                beliefs.reword(self._connection, left)
                self.reworded += left.statement != belief.statement
        beliefs.erase(self._connection, gone)
        named = _named("e.old_statement || char(10) || e.new_statement || char(10) || e.change_reason")
        for seq, change in CHANGE.numbered(self._connection, f"WHERE {named} OR e.changed_by = the_person()"):
            left = CHANGE.values(change_without_people(change, {self._user_id}, self._hiding(change)))
            self._connection.execute(f"{CHANGE.update} WHERE seq = ?", (*left, seq))
        return len(gone)

    def _hiding(self, said: Belief | Change) -> Callable[[str], str]:
        """Return ``hide`` if the person was seen in the place or a text contains the id; else :class:`str`."""
        is_meant = said.scope.key in self._places or any(self._user_id in text for text in texts_of(said))
        return self._hide if is_meant else str


_SEEN = (("names", "user_id"), *((table, of) for table in ("events", "messages") for of in ("sender_id", "user_id")))
_PRIVATE = "substr(scope, -length(:private)) = :private"  # a person's private chats with every agent
_OF_PERSON = {  # which rows are a person's own, or the bot's answers to the person
    "events": "e.sender_id = :person OR (e.user_id = :person AND (e.request_type = 'private' OR e.sender_id = ''))",
    "messages": "e.user_id = :person",
    "memos": f"{_PRIVATE} OR user_id = :person",
    "pins": f"{_PRIVATE} OR author_id = :person OR owner_id = :person",
    "names": f"{_PRIVATE} OR user_id = :person",
    "withdrawals": _PRIVATE,
    **dict.fromkeys(("facts", "merge_failures", "profiles", "sharing", "missed"), "user_id = :person"),
    "incognito": "user_id = :person AND ends_us <= :at",
}
_OF_PLACE = {
    **dict.fromkeys(("events", "messages", "memos", "pins", "names", "withdrawals"), "scope = :scope"),
    **dict.fromkeys(("beliefs", "belief_changes", "evolutions", "decisions", "missed"), "scope = :scope"),
    "incognito": "scope = :scope AND ends_us <= :at",
}


class Eraser(Table):
    """Forgetting of single events, and permanent erasure of events, people and places.

    A forgotten event is hidden while it can be restored. Meanwhile no read returns log lines that it was made from or
    that retell it (:func:`retells`), including lines appended later; :meth:`MessageLog.append` still accepts them.
    :meth:`EventLedger.restore` shows them again. A line that is appended while an equal event is active is not hidden.

    Erased data cannot be read once a method returns; :meth:`purge` removes the bytes. The caller keeps erasures, purges
    and copies apart.
    """

    @writes
    def forget_person(
        self, connection: Connection, user_id: str, at: datetime, hide: Callable[[str], str]
    ) -> tuple[Erasure, list[str]]:
        """Erase a person for every agent; return what was erased of the ledger, and the ids of the erased memos.

        Erased: what they said, their names, memos and sharing consent; pins that they own or wrote, also for a whole
        group; their private chat; the indexed copies of their profiles, and the facts that wait for these profiles. An
        event is erased if its sender is the person or it is of the person's private chat.

        Everywhere else, in events, subjects, facts and profile copies of others, the person is hidden: ``hide`` returns
        a text without them, and a reworded row loses its vector. Mentions by name instead of id are hidden only in
        places where the person was seen.

        A tombstone of the id (a keyed hash) permanently rejects data dated ``at`` or earlier; an existing tombstone
        dated more than a day after ``at`` is attributed to a wrong clock and replaced.
        """
        consent.record_erasure(connection, user_id, at)
        person = bound(user_id)
        names = {name.strip() for name in NameBook.borne(connection, user_id)}
        places = {  # elsewhere an equal name is taken for somebody else's
            row[0]
            for table, owner in _SEEN
            for row in connection.execute(f"SELECT DISTINCT scope FROM {table} WHERE {owner} = ?", person)
        }
        rewording = Rewording(connection, user_id, filter(hides_alone, sorted(names)), places, hide)
        values = {"person": person[0], "private": f"\x1fprivate\x1f{person[0]}", "at": micros(at)}
        deleted, memo_ids = _delete_rows(connection, _OF_PERSON, values)
        connection.execute("UPDATE decisions SET decided_by = '' WHERE decided_by = ?", person)
        rewording.events()
        rewording.messages()
        rewording.reworded += sum(len(rewording.texts(table)) for table in ("memos", "pins", "missed"))
        rewording.facts()
        rewording.profiles()
        erased = rewording.beliefs()
        return replace(deleted, beliefs=erased, reworded=rewording.reworded), memo_ids

    @writes
    def forget_place(self, connection: Connection, scope: Scope, at: datetime) -> tuple[Erasure, list[str]]:
        """Erase everything of a place permanently, including the facts and copies of its profiles; its switch is kept.

        Return as for a person. A profile that also has facts from other places (:meth:`FactBook.keys_with_facts_of`)
        loses its indexed copy, and its remaining facts wait again, so that it is rebuilt from them.
        """
        consent.record_erasure(connection, scope, at)
        fed = [key_values(key) for key in FactBook.keys_with_facts_of(connection, scope)]
        here, values = keys_in(scope)
        if scope.kind == "group":  # a person has facts from other places, too
            connection.execute(f"DELETE FROM facts WHERE {here}", values)
        for table in ("merge_failures", "profiles"):
            connection.execute(f"DELETE FROM {table} WHERE {here}", values)
            connection.executemany(f"DELETE FROM {table} WHERE {OF_KEY}", fed)
        deleted = _delete_rows(connection, _OF_PLACE, {"scope": bound(scope.key)[0], "at": micros(at)})
        # those from other places are merged into a new profile
        connection.executemany(f"UPDATE facts SET merged = 0 WHERE {OF_KEY}", fed)
        return deleted

    @reads
    def tombstones(self, connection: Connection) -> Tombstones:
        """Return all tombstones with the key of their hashes."""
        return consent.tombstones_of(connection)

    async def purge(self, at: datetime) -> None:
        """Remove the bytes of erased data from every file of the ledger, including migration copies.

        The purge stays due until :meth:`end_purge`, because files outside the ledger may still hold the bytes.
        """
        await self.database.purge()
        done = "UPDATE meta SET value = ? WHERE key = 'purged_us'"
        await self.database.write(lambda connection: connection.execute(done, (micros(at),)))

    @writes
    def end_purge(self, connection: Connection) -> None:
        """Record that no file holds erased bytes any more."""
        connection.execute("UPDATE meta SET value = NULL WHERE key = 'purge_due_us'")

    @reads
    def purge_due(self, connection: Connection) -> PurgeState:
        """Return since when erased bytes remain on disk, if any, and when the last purge was."""
        kept = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('purge_due_us', 'purged_us')"))
        due, purged = (kept[key] for key in ("purge_due_us", "purged_us"))
        return PurgeState(None if due is None else instant_of(due), None if purged is None else instant_of(purged))

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent, durable copy of the ledger to a new file.

        The copy is recorded under ``name``, if given: the path to which the caller renames it afterwards.
        """
        if (await self.purge_due()).erased_at is not None:
            await self.database.purge()
        await self.note_copy(str(name or path), "backup", at)
        await self.database.read(migrations.write_copy, path)

    @writes
    def note_copy(self, connection: Connection, path: str, kind: Literal["export", "backup"], at: datetime) -> None:
        """Record a copy of the memory that is made for people."""
        connection.execute("INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", (*bound(path, kind), micros(at)))

    @writes
    def drop_copy(self, connection: Connection, path: str) -> None:
        """Remove the record of a copy whose file was deleted."""
        connection.execute("DELETE FROM copies WHERE path = ?", bound(path))

    @reads
    def copies(self, connection: Connection) -> list[str]:
        """Return the paths of the recorded copies, oldest first."""
        return [row[0] for row in connection.execute("SELECT path FROM copies ORDER BY at_us, path")]

    @writes
    def forget(self, connection: Connection, event_id: str, at: datetime, cause: event_rows.Cause = "author") -> None:
        """Retire an event and hide the lines that repeat it, atomically; does nothing if there is no such event."""
        event_rows.forget(connection, event_id, at, cause)

    @reads
    def unrepeatable(self, connection: Connection) -> list[Event]:
        """Return the events that no text may repeat: forgotten ones, and those all of whose messages were withdrawn.

        An event is left out if an equal one is active again.
        """
        rest = f"WHERE {GONE} AND NOT EXISTS ({event_rows.STANDS_AGAIN}) ORDER BY e.seq"
        return EVENT.found(connection, rest)

    @reads
    def forgotten(self, connection: Connection, user_id: str, since: datetime) -> list[Event]:
        """Return a person's restorable events that were forgotten at ``since`` or later, the latest first.

        These are events that the person said and events of their private chats, not corrected or withdrawn ones, nor
        those that somebody else had forgotten.
        """
        theirs = (
            "e.sender_id = ?1 OR (e.user_id = ?1 AND"
            " (e.request_type = 'private' OR (e.sender_id = '' AND e.quotes <> '[]')))"  # noted by the bot in a turn
        )
        rest = (
            f"JOIN forgotten f ON f.seq = e.seq WHERE f.cause = 'author' AND ({theirs}) AND NOT ({RESTS_ON_NOTHING})"
            " AND julianday(e.retired_at) >= julianday(?2) ORDER BY julianday(e.retired_at) DESC, e.seq DESC"
        )
        return EVENT.found(connection, rest, bound(user_id, since.isoformat()))

    @reads
    def expired(self, connection: Connection, before: datetime) -> list[Event]:
        """Return the events retired before an instant, and all withdrawn ones that no profile tells any more."""
        told = "SELECT 1 FROM facts f WHERE f.event_seq = e.seq AND f.merged"
        is_over = f"julianday(e.retired_at) < julianday(?) OR ({RESTS_ON_NOTHING} AND NOT EXISTS ({told}))"
        rest = f"WHERE e.retired_at IS NOT NULL AND ({is_over}) ORDER BY e.seq"
        return EVENT.found(connection, rest, (before.isoformat(),))

    @writes
    def erase(self, connection: Connection, event_ids: Sequence[str], at: datetime) -> int:
        """Erase retired events and the lines hidden because of them; neither can be stored again.

        Active events are skipped. A purge is due afterwards.
        """
        named = f"e.id IN {LISTED} AND e.retired_at IS NOT NULL"
        seqs = listed(event_rows.seqs_of(connection, "events", named, (listed(event_ids),)))
        gone = listed(event_rows.seqs_of(connection, "events", f"{named} AND {GONE}", (listed(event_ids),)))
        hidden = f"seq IN (SELECT seq FROM veils WHERE event_seq IN {LISTED})"
        sources = f"FROM event_sources s JOIN events e ON e.seq = s.seq WHERE e.seq IN {LISTED}"
        places = f"SELECT scope, id FROM messages WHERE {hidden} UNION SELECT e.scope, s.message_id {sources}"
        for scope, message_id in connection.execute(places, (gone, gone)).fetchall():
            beliefs.withdraw(connection, Scope.of_key(scope), message_id, at)
            event_rows.retire(connection, event_rows.drop_quotes(connection, scope, [message_id]), at)
        note_withdrawn(connection, event_rows.seqs_of(connection, "messages", hidden, (seqs,)), at)
        withdrawn = f"INSERT OR IGNORE INTO withdrawals SELECT e.scope, s.message_id, ? {sources}"
        connection.execute(withdrawn, (micros(at), gone))
        event_rows.delete(connection, MESSAGE, hidden, (seqs,))
        erased = event_rows.delete(connection, EVENT, f"e.seq IN {LISTED}", (seqs,))
        digests = [(event_rows.gone_digest(event_id),) for event_id in erased]
        connection.executemany("INSERT OR IGNORE INTO gone VALUES (?)", digests)
        if erased:
            consent.record_purge_due(connection, at)
        return len(erased)


def _delete_rows(
    connection: Connection, which: Mapping[str, str], values: Mapping[str, object]
) -> tuple[Erasure, list[str]]:
    """Delete rows by a condition for each table; return how many, and the ids of the memos."""
    memos = connection.execute(f"SELECT id FROM memos WHERE {which['memos']}", values).fetchall()
    counts = {
        table: connection.execute(f"DELETE FROM {table} AS e WHERE {where}", values).rowcount
        for table, where in which.items()
    }
    erased = Erasure(
        events=counts["events"],
        messages=counts["messages"],
        memos=counts["memos"],
        pins=counts["pins"],
        names=counts["names"],
        beliefs=counts.get("beliefs", 0),
    )
    return erased, [row[0] for row in memos]
