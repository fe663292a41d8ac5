"""The tables of the ledger as they are now, and what turns the rows of earlier formats into theirs.

A column that ends in ``_us`` holds an instant as microseconds since 1970 in UTC, for order and comparison; the text
beside it keeps the offset. ``scope`` is Scope.key. The columns of an object are its fields, as :class:`Columns`
declares them. A file of an earlier format gets the tables and columns that it lacks, so that a new column of a table
needs a default.
"""

from __future__ import annotations

from typing import NamedTuple

from .rows import (
    ALIAS,
    BELIEF,
    CHANGE,
    DECISION,
    EVENT,
    INCOGNITO,
    KEY,
    MEMO,
    MESSAGE,
    OPT_OUT,
    PIN,
    PROFILE,
    SHARED,
    SPENDING,
    SWITCH,
)

FORMAT = 16  # one more for every change of a table

# revision: rises with every change visible to vector search. embedded_as: the vector's model. others_words: a quote is
# not its sender's, so that the event does not follow its sender into a private chat. words: see words.py. gone: digests
# of the ids of forgotten events that were erased. heard: maps the digest of an observation's duplicate key to its
# event. forgotten: events retired on request, until they are restored; cause: "author" (its person asked for it),
# "other" (an admin or the operator did) or "correction" (it was worded anew, and only the lines that it came from are
# hidden). recalls: how often an event was shown; counting may lose some. missed: what was asked, and the event that
# should have been found. events_active, events_forgotten and events_relative serve lists of all places of an agent.
_EVENTS = f"""
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {EVENT.declared},
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    duplicate_key TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL DEFAULT 0,
    others_words INTEGER NOT NULL DEFAULT 0,
    words BLOB NOT NULL DEFAULT x'',
    UNIQUE (id)
);
CREATE UNIQUE INDEX IF NOT EXISTS events_standing ON events (scope, sender_id, duplicate_key) WHERE retired_at IS NULL;
CREATE INDEX IF NOT EXISTS events_by_words ON events (duplicate_key, scope, sender_id);
CREATE INDEX IF NOT EXISTS events_by_time ON events (scope, at_us);
CREATE INDEX IF NOT EXISTS events_by_place ON events (scope, revision);
CREATE INDEX IF NOT EXISTS events_by_sender ON events (agent, sender_id, revision);
CREATE INDEX IF NOT EXISTS events_by_model ON events (embedded_as, seq) WHERE retired_at IS NULL;
CREATE INDEX IF NOT EXISTS events_by_change ON events (revision, seq);
CREATE INDEX IF NOT EXISTS events_retired ON events (seq) WHERE retired_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS events_replacing ON events (replaces) WHERE replaces <> '';
CREATE INDEX IF NOT EXISTS events_active ON events (agent, at_us) WHERE retired_at IS NULL;
CREATE INDEX IF NOT EXISTS events_forgotten ON events (agent, at_us) WHERE retired_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS events_relative ON events (agent, at_us) WHERE retired_at IS NULL AND is_absolute = 0;
CREATE TABLE IF NOT EXISTS event_subjects (
    seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    PRIMARY KEY (seq, subject)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS event_sources (
    seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    PRIMARY KEY (seq, message_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS event_sources_by_message ON event_sources (message_id);
CREATE TABLE IF NOT EXISTS vectors (
    seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE, vector BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS gone (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS heard (
    scope TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, sender_id, digest)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS heard_by_event ON heard (event_seq);
CREATE TABLE IF NOT EXISTS forgotten (
    seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE, cause TEXT NOT NULL DEFAULT 'author'
);
CREATE TRIGGER IF NOT EXISTS forgotten_until_restored AFTER UPDATE OF retired_at ON events
WHEN OLD.retired_at IS NOT NULL AND NEW.retired_at IS NULL
BEGIN
    DELETE FROM forgotten WHERE seq = NEW.seq;
END;
CREATE TABLE IF NOT EXISTS recalls (
    seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE,
    times INTEGER NOT NULL,
    last_us INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS missed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL,
    text TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    at_us INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS missed_by_event ON missed (event_seq);
"""

# is_admin: the platform stated with the line that its sender is the group's owner or one of its admins. number: of a
# line in its group, the same for every account and in every export, "" if unknown. line_ids: further ids of a line.
# unconsidered: past lines that no dialogue holds yet. veils: lines that are hidden while an event is forgotten: its
# sources, and lines of the bot that repeat it.
_LINES = f"""
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {MESSAGE.declared},
    sender_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    words BLOB NOT NULL DEFAULT x'',
    UNIQUE (scope, id)
);
CREATE INDEX IF NOT EXISTS messages_by_place ON messages (scope, at_us);
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (at_us);
CREATE INDEX IF NOT EXISTS messages_by_number ON messages (scope, number) WHERE number <> '';
CREATE TABLE IF NOT EXISTS withdrawals (
    scope TEXT NOT NULL,
    message_id TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    PRIMARY KEY (scope, message_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS line_ids (
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS line_ids_by_line ON line_ids (seq);
CREATE TABLE IF NOT EXISTS unconsidered (
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    seq INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, at_us, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS veils (
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    event_seq INTEGER NOT NULL REFERENCES forgotten (seq) ON DELETE CASCADE,
    PRIMARY KEY (seq, event_seq)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS veils_by_event ON veils (event_seq);
CREATE TABLE IF NOT EXISTS memos (seq INTEGER PRIMARY KEY, {MEMO.declared}, at_us INTEGER NOT NULL, UNIQUE (id));
CREATE INDEX IF NOT EXISTS memos_by_place ON memos (scope, at_us);
CREATE TABLE IF NOT EXISTS pins (seq INTEGER PRIMARY KEY, {PIN.declared}, at_us INTEGER NOT NULL, UNIQUE (id));
CREATE INDEX IF NOT EXISTS pins_by_place ON pins (scope, at_us);
"""

# switches: one row per place whose switch is not "on"; it counts as not set from until_us on, NULL means never.
# incognito: periods [starts_at, ends_at) in which a person is not recorded in a place. consent_changes: keyed hashes of
# a person, a place, or a person in a place, "" for everybody; what might be recorded before at_us is not known any
# more. erasures: keyed hashes of erased persons and places, and the instant up to which each applies. copies: exports
# and backups.
_CONSENT = f"""
CREATE TABLE IF NOT EXISTS opt_outs (seq INTEGER PRIMARY KEY, {OPT_OUT.declared}, UNIQUE (user_id));
CREATE TABLE IF NOT EXISTS sharing (seq INTEGER PRIMARY KEY, {SHARED.declared}, UNIQUE (user_id));
CREATE TABLE IF NOT EXISTS switches (seq INTEGER PRIMARY KEY, {SWITCH.declared}, UNIQUE (scope));
CREATE TABLE IF NOT EXISTS incognito (
    seq INTEGER PRIMARY KEY, {INCOGNITO.declared}, ends_us INTEGER NOT NULL, UNIQUE (scope, user_id, starts_at)
);
CREATE INDEX IF NOT EXISTS incognito_by_person ON incognito (user_id);
CREATE TABLE IF NOT EXISTS consent_changes (digest TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erasures (digest TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS copies (path TEXT PRIMARY KEY, kind TEXT NOT NULL, at_us INTEGER NOT NULL) WITHOUT ROWID;
"""

_KEY = ", ".join(f"{name} TEXT NOT NULL" for name in KEY)

# facts belong to the profile of (agent, entity_type, group_id, user_id). merged: the profile contains the fact.
# fallen: its event is retired or replaced. A fact waits while both are equal: to be merged (false) or removed (true).
# profiles: a copy of the profile files; words is the digest of the embedded text, embedded_as the vector's model.
_PEOPLE = f"""
CREATE TABLE IF NOT EXISTS names (seq INTEGER PRIMARY KEY, {ALIAS.declared}, UNIQUE (scope, user_id, name));
CREATE TABLE IF NOT EXISTS facts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    {_KEY},
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    happened_at TEXT NOT NULL,
    noted_us INTEGER NOT NULL,
    merged INTEGER NOT NULL DEFAULT 0,
    fallen INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS facts_waiting ON facts (agent, entity_type, group_id, user_id, seq) WHERE merged = fallen;
CREATE INDEX IF NOT EXISTS facts_withdrawn ON facts (agent, entity_type, group_id, user_id)
WHERE merged = 1 AND fallen = 1;
CREATE INDEX IF NOT EXISTS facts_by_profile ON facts (agent, entity_type, group_id, user_id, seq);
CREATE INDEX IF NOT EXISTS facts_by_event ON facts (event_seq);
CREATE INDEX IF NOT EXISTS facts_by_person ON facts (user_id);
CREATE TRIGGER IF NOT EXISTS facts_fall_with_events AFTER UPDATE OF retired_at ON events
WHEN (OLD.retired_at IS NULL) <> (NEW.retired_at IS NULL)
BEGIN
    UPDATE facts SET fallen = NEW.retired_at IS NOT NULL WHERE event_seq = NEW.seq;
END;
CREATE TABLE IF NOT EXISTS merge_failures (
    {_KEY},
    attempts INTEGER NOT NULL,
    failed_us INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (agent, entity_type, group_id, user_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS profiles (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {PROFILE.declared},
    words TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT '',
    UNIQUE (agent, entity_type, group_id, user_id)
);
CREATE INDEX IF NOT EXISTS profiles_by_person ON profiles (user_id);
CREATE INDEX IF NOT EXISTS profiles_by_model ON profiles (embedded_as, seq);
CREATE TABLE IF NOT EXISTS profile_vectors (
    seq INTEGER PRIMARY KEY REFERENCES profiles (seq) ON DELETE CASCADE, vector BLOB NOT NULL
);
"""

# beliefs: one row per version; chain_id and parent_id are ids, which an import keeps. is_current marks the last version
# of a chain. belief_changes: the change log. evolutions: the last message that a group's last run was given, and the
# number of that run in the order of all runs. decisions: what admins decided on suggestions, without words; a decision
# goes with the last event of its evidence.
_BELIEFS = f"""
CREATE TABLE IF NOT EXISTS beliefs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {BELIEF.declared},
    duplicate_key TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT '',
    UNIQUE (id)
);
CREATE UNIQUE INDEX IF NOT EXISTS beliefs_last ON beliefs (chain_id) WHERE is_current = 1;
CREATE UNIQUE INDEX IF NOT EXISTS beliefs_by_version ON beliefs (chain_id, version);
CREATE INDEX IF NOT EXISTS beliefs_by_place ON beliefs (scope, is_current, status);
CREATE INDEX IF NOT EXISTS beliefs_by_model ON beliefs (embedded_as, seq) WHERE status = 'active';
CREATE TABLE IF NOT EXISTS belief_vectors (
    seq INTEGER PRIMARY KEY REFERENCES beliefs (seq) ON DELETE CASCADE, vector BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS belief_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {CHANGE.declared},
    at_us INTEGER NOT NULL,
    UNIQUE (id)
);
CREATE INDEX IF NOT EXISTS belief_changes_by_place ON belief_changes (scope, at_us);
CREATE INDEX IF NOT EXISTS belief_changes_by_belief ON belief_changes (belief_id);
CREATE TABLE IF NOT EXISTS evolutions (
    scope TEXT PRIMARY KEY, message_seq INTEGER NOT NULL, run INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    {DECISION.declared},
    UNIQUE (id)
);
CREATE INDEX IF NOT EXISTS decisions_by_place ON decisions (scope, seq);
CREATE TABLE IF NOT EXISTS decision_events (
    decision_seq INTEGER NOT NULL REFERENCES decisions (seq) ON DELETE CASCADE,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    PRIMARY KEY (decision_seq, event_seq)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS decision_events_by_event ON decision_events (event_seq);
CREATE TRIGGER IF NOT EXISTS decisions_go_with_events AFTER DELETE ON decision_events
WHEN NOT EXISTS (SELECT 1 FROM decision_events WHERE decision_seq = OLD.decision_seq)
BEGIN
    DELETE FROM decisions WHERE seq = OLD.decision_seq;
END;
"""

# index_marks: checkpoint (revision, seq) of the generation of the vector store. answered: tokens of the answers, which
# are among the tokens. tallies: what the quality report counts, by day. row_changes: the last rows that were deleted,
# reworded, hidden or shown again, for the places in memory; a new row, and a change that raises an event's revision,
# are known without.
_UPKEEP = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('revision', 0), ('terms', ''), ('veils', ''),
('erasure_key', hex(randomblob(32))), ('purge_due_us', NULL), ('purged_us', NULL);
CREATE TABLE IF NOT EXISTS jobs_done (job_id TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS index_marks (
    birth TEXT PRIMARY KEY, revision INTEGER NOT NULL, seq INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending (
    day TEXT NOT NULL, {SPENDING.declared}, PRIMARY KEY (day, purpose)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tallies (
    day TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS row_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, seq INTEGER NOT NULL
);
CREATE TRIGGER IF NOT EXISTS row_changes_kept AFTER INSERT ON row_changes
BEGIN DELETE FROM row_changes WHERE number <= NEW.number - 1000; END;
CREATE TRIGGER IF NOT EXISTS events_deleted AFTER DELETE ON events
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('events', OLD.seq); END;
CREATE TRIGGER IF NOT EXISTS messages_deleted AFTER DELETE ON messages
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
CREATE TRIGGER IF NOT EXISTS messages_reworded AFTER UPDATE OF text ON messages
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
CREATE TRIGGER IF NOT EXISTS messages_hidden AFTER INSERT ON veils
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', NEW.seq); END;
CREATE TRIGGER IF NOT EXISTS messages_shown AFTER DELETE ON veils
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
"""

SCHEMA = f"{_EVENTS}{_LINES}{_CONSENT}{_PEOPLE}{_BELIEFS}{_UPKEEP}"


class Step(NamedTuple):
    """What a file of a format below ``number`` needs beside new tables and columns, before and after they are added."""

    number: int
    before: str = ""
    after: str = ""


STEPS = (
    # who wrote a pin was its owner; an event that was retired counts as forgotten
    Step(
        4,
        after="""
        UPDATE pins SET author_id = owner_id;
        INSERT INTO forgotten (seq) SELECT seq FROM events WHERE retired_at IS NOT NULL;""",
    ),
    Step(
        11,
        before="ALTER TABLE switches RENAME TO endless_switches;",
        after="""
        INSERT INTO switches (scope, switch) SELECT scope, switch FROM endless_switches;
        DROP TABLE endless_switches;""",
    ),
    Step(12, before="DROP INDEX IF EXISTS events_by_instant;"),
    # a file that was in use does not know its earlier changes of consent
    Step(
        15,
        after="""
        INSERT INTO consent_changes SELECT '', CAST(strftime('%s', 'now') AS INTEGER) * 1000000
        WHERE EXISTS (SELECT 1 FROM messages) OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM names)
        OR EXISTS (SELECT 1 FROM opt_outs) OR EXISTS (SELECT 1 FROM switches) OR EXISTS (SELECT 1 FROM erasures);""",
    ),
    # words are made at the next start, because "terms" tells no form
    Step(
        16,
        before="""
        DROP TABLE event_words;
        DROP TABLE message_words;
        DELETE FROM meta WHERE key LIKE 'event_words%' OR key LIKE 'message_words%';
        UPDATE meta SET value = '' WHERE key = 'terms';""",
    ),
)
