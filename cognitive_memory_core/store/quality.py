"""Figures of the whole ledger for the quality report, and the counters behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, tzinfo
from sqlite3 import Connection

from ..domain.event import Event, MissedEvent
from ..domain.quality import PlaceQuality, TeacherShare
from ..domain.scope import Scope
from ..ports import Clock, Tally
from ..tasks import WriteLoop
from .database.database import Table, reads, writes
from .database.rows import EVENT, LISTED, bound, bounded, instant_of, listed, micros
from .search.filters import NOT_OF, joined

_LEAST_EVENTS, _LEAST_PEOPLE = 10, 3  # of a group, from which those who taught most are compared
_TEACHERS = 3  # of each group
_EVENTS = """
SELECT e.scope, e.kind, count(*), sum(e.is_absolute), count(r.seq) FROM events e LEFT JOIN recalls r ON r.seq = e.seq
WHERE e.retired_at IS NULL GROUP BY e.scope, e.kind ORDER BY e.scope, count(*) DESC, e.kind"""
_LINES = "SELECT scope, count(*) FROM messages WHERE is_bot = 0 GROUP BY scope"
_TEACHING = f"""
WITH counted AS (
    SELECT scope, sender_id, count(*) AS events, 0 AS lines FROM events
    WHERE retired_at IS NULL GROUP BY scope, sender_id
    UNION ALL
    SELECT scope, sender_id, 0, count(*) FROM messages WHERE is_bot = 0 GROUP BY scope, sender_id
), people AS (
    SELECT scope, sender_id, sum(events) AS events, sum(lines) AS lines FROM counted GROUP BY scope, sender_id
), compared AS (
    SELECT *, sum(events) OVER place AS all_events, sum(lines) OVER place AS all_lines,
        sum(sender_id <> '') OVER place AS persons,
        row_number() OVER (PARTITION BY scope ORDER BY sender_id = '', events DESC, sender_id) AS number
    FROM people WINDOW place AS (PARTITION BY scope)
)
SELECT scope, sender_id,
    ifnull((
        SELECT name FROM names WHERE names.scope = compared.scope AND user_id = sender_id
        ORDER BY last_us DESC, first_us DESC, names.seq DESC LIMIT 1
    ), ''),
    events, 1.0 * events / all_events AS share, ifnull(1.0 * lines / nullif(all_lines, 0), 0.0)
FROM compared
WHERE number <= {_TEACHERS} AND sender_id <> '' AND events > 0 AND all_events >= {_LEAST_EVENTS}
    AND persons >= {_LEAST_PEOPLE}
ORDER BY share DESC, scope, number"""


class QualityLedger(Table):
    """Figures of the whole ledger, how often each event was shown, and cases: recall failures that an operator noted.

    A case is erased with its event, the person who asked, or its place.
    """

    @reads
    def places(self, connection: Connection, agent: str | None) -> list[PlaceQuality]:
        """Return the figures of the places of an agent (None: of all), those with the most events first."""
        lines = dict(connection.execute(_LINES).fetchall())
        found = {key: PlaceQuality(Scope.of_key(key), count) for key, count in lines.items()}
        for key, kind, events, absolute, recalled in connection.execute(_EVENTS):
            here = found.get(key) or PlaceQuality(Scope.of_key(key))
            found[key] = PlaceQuality(
                here.scope,
                here.lines,
                here.events + events,
                {**here.kinds, kind: events},
                here.absolute + absolute,
                here.recalled + recalled,
            )
        wanted = (place for _, place in sorted(found.items()) if agent in (None, place.scope.agent))
        return sorted(wanted, key=lambda place: (place.events, place.lines), reverse=True)

    @reads
    def teachers(self, connection: Connection, agent: str | None) -> list[TeacherShare]:
        """Return those who taught most of each group of an agent (None: of all), the largest share first."""
        found = [TeacherShare(Scope.of_key(key), *rest) for key, *rest in connection.execute(_TEACHING)]
        return [one for one in found if one.scope.kind == "group" and agent in (None, one.scope.agent)]

    @reads
    def statements(self, connection: Connection, agent: str | None, limit: int) -> list[Event]:
        """Return the active events of an agent (None: of all), the latest stored first."""
        rest = "WHERE retired_at IS NULL AND (?1 IS NULL OR agent = ?1) ORDER BY seq DESC LIMIT ?2"
        return EVENT.found(connection, rest, (*bound(agent), bounded(limit)))

    @writes
    def tally(
        self, connection: Connection, day: date, counts: Mapping[str, int], recalled: Mapping[str, int], at: datetime
    ) -> None:
        """Add ``counts`` to a day, and ``recalled`` to how often each event was shown; deleted events are ignored."""
        connection.executemany(
            "INSERT INTO tallies (day, name, count) VALUES (?, ?, ?)"
            " ON CONFLICT (day, name) DO UPDATE SET count = count + excluded.count",
            [(*bound(day.isoformat(), name), count) for name, count in counts.items()],
        )
        connection.executemany(
            "INSERT INTO recalls SELECT seq, ?, ? FROM events WHERE id = ?"
            " ON CONFLICT (seq) DO UPDATE SET times = times + excluded.times, last_us = excluded.last_us",
            [(times, micros(at), *bound(event_id)) for event_id, times in recalled.items()],
        )

    @reads
    def tallies(self, connection: Connection, since: date) -> list[tuple[date, str, int]]:
        """Return the counts from a day on, oldest first."""
        query = "SELECT day, name, count FROM tallies WHERE day >= ? ORDER BY day, name"
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), name, count) for day, name, count in rows]

    @writes
    def note_missed(self, connection: Connection, case: MissedEvent) -> None:
        """Store a case; does nothing if its id is known or its event is not stored."""
        connection.execute(
            "INSERT OR IGNORE INTO missed (id, scope, user_id, text, at_us, event_seq)"
            " SELECT ?, ?, ?, ?, ?, seq FROM events WHERE id = ?",
            bound(case.id, case.scope.key, case.user_id, case.text, micros(case.noted_at), case.event_id),
        )

    @reads
    def missed(
        self, connection: Connection, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return the cases of an agent, or of all, the latest first, each with its event's text.

        A case is left out if its event is forgotten, or if one of the people ``without`` asked the question, said the
        event, or is a subject of the event.
        """
        clause, values = joined(
            (True, "e.retired_at IS NULL", ()),
            (agent is not None, "e.agent = ?", bound(agent)),
            (without, f"m.user_id NOT IN {LISTED} AND {NOT_OF}", (listed(sorted(without)),) * 3),
        )
        rows = connection.execute(
            "SELECT m.id, m.scope, m.user_id, m.text, e.id, m.at_us, e.text"
            f" FROM missed m JOIN events e ON e.seq = m.event_seq WHERE {clause} ORDER BY m.seq DESC LIMIT ? OFFSET ?",
            (*values, bounded(limit), bounded(offset)),
        )
        return [
            MissedEvent(case_id, Scope.of_key(scope), user_id, text, event_id, instant_of(at), wanted)
            for case_id, scope, user_id, text, event_id, at, wanted in rows
        ]

    @writes
    def drop_missed(self, connection: Connection, case_id: str) -> None:
        """Delete a case; does nothing if there is none."""
        connection.execute("DELETE FROM missed WHERE id = ?", bound(case_id))

    @reads
    def recalled(self, connection: Connection, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown, and when last; 0 and None if it never was."""
        query = "SELECT r.times, r.last_us FROM recalls r JOIN events e ON e.seq = r.seq WHERE e.id = ?"
        row = connection.execute(query, bound(event_id)).fetchone()
        return (row[0], instant_of(row[1])) if row else (0, None)


PAUSE = 60.0  # seconds between writes; a process that is killed loses the counts of up to this long
MOST_HELD = 50_000  # events whose counts wait; more are not counted while the ledger is unavailable


class QualityTally(Tally):
    """Counts in memory and writes in batches, at most once a minute and in one transaction each.

    Counting never waits for the disk. Counts that could not be written are kept for the next attempt.
    """

    def __init__(self, ledger: QualityLedger, clock: Clock, zone: tzinfo) -> None:
        """Write to a ledger, by calendar day in ``zone``."""
        self._ledger = ledger
        self._clock = clock
        self._zone = zone
        self._counts = Counter[str]()
        self._recalled = Counter[str]()
        self.loop = WriteLoop("tallies", self._write, debounce=PAUSE)
        self.flush = self.loop.flush

    def count(self, name: str, times: int = 1) -> None:
        """Add ``times`` to the counter of this name."""
        self._counts[name] += times
        self.loop.nudge()

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count these events as shown in a context or an answer."""
        if len(self._recalled) < MOST_HELD:
            self._recalled.update(event_ids)
        self.count("recalls")  # the first day with a count is the one from which it is known what was recalled

    async def _write(self) -> None:
        counts, recalled, now = Counter(self._counts), Counter(self._recalled), self._clock.now()
        if counts or recalled:
            await self._ledger.tally(now.astimezone(self._zone).date(), counts, recalled, now)
            self._counts -= counts
            self._recalled -= recalled
