"""The tables: the steps from an empty file to the present schema, one for each format of the ledger."""

from __future__ import annotations

# Instants: *_us are microseconds since 1970 in UTC, for order and comparison; the text beside them keeps the offset.
# scope is Scope.key. revision rises with every change visible to vector search; embedded_as is the vector's model.
_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('revision', 0), ('terms', ''), ('fingerprint', '');

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    user_id TEXT NOT NULL,
    group_id TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    subjects TEXT NOT NULL,
    message_ids TEXT NOT NULL,
    request_type TEXT NOT NULL,
    perspective TEXT,
    happened_at TEXT NOT NULL,
    is_absolute INTEGER NOT NULL,
    count INTEGER NOT NULL,
    last_seen_at TEXT,
    agent TEXT NOT NULL,
    confidence REAL NOT NULL,
    pain TEXT NOT NULL,
    solution TEXT NOT NULL,
    outcome TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    retired_at TEXT,
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    duplicate_key TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX events_standing ON events (scope, sender_id, duplicate_key) WHERE retired_at IS NULL;
CREATE INDEX events_by_words ON events (duplicate_key, scope, sender_id);
CREATE INDEX events_by_time ON events (scope, at_us);
CREATE INDEX events_by_place ON events (scope, revision);
CREATE INDEX events_by_sender ON events (agent, sender_id, revision);
CREATE INDEX events_by_model ON events (embedded_as, seq) WHERE retired_at IS NULL;

CREATE TABLE event_subjects (
    seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    PRIMARY KEY (seq, subject)
) WITHOUT ROWID;
CREATE TABLE event_sources (
    seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    PRIMARY KEY (seq, message_id)
) WITHOUT ROWID;
CREATE INDEX event_sources_by_message ON event_sources (message_id);
CREATE TABLE vectors (seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE, vector BLOB NOT NULL);
CREATE TABLE jobs_done (job_id TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    sent_at TEXT NOT NULL,
    reply_to TEXT,
    is_bot INTEGER NOT NULL,
    addressed_to_bot INTEGER NOT NULL,
    agent TEXT NOT NULL,
    request_type TEXT NOT NULL,
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    group_name TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    UNIQUE (scope, id)
);
CREATE INDEX messages_by_place ON messages (scope, at_us);
CREATE INDEX messages_by_time ON messages (at_us);
CREATE TABLE withdrawals (
    scope TEXT NOT NULL,
    message_id TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    PRIMARY KEY (scope, message_id)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE event_words USING fts5 (
    place, voice, body, content = '', tokenize = 'unicode61 remove_diacritics 0'
);
CREATE VIRTUAL TABLE message_words USING fts5 (
    place, voice, body, content = '', tokenize = 'unicode61 remove_diacritics 0'
);
INSERT INTO event_words (event_words, rank) VALUES ('rank', 'bm25(0.0, 0.0, 1.0)');
INSERT INTO message_words (message_words, rank) VALUES ('rank', 'bm25(0.0, 0.0, 1.0)');

CREATE TABLE memos (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    text TEXT NOT NULL,
    written_at TEXT NOT NULL,
    user_id TEXT NOT NULL,
    at_us INTEGER NOT NULL
);
CREATE INDEX memos_by_place ON memos (scope, at_us);
CREATE TABLE pins (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    text TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    pinned_at TEXT NOT NULL,
    at_us INTEGER NOT NULL
);
CREATE INDEX pins_by_place ON pins (scope, at_us);

CREATE TABLE opt_outs (seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL UNIQUE, at_us INTEGER NOT NULL);
CREATE TABLE switches (scope TEXT PRIMARY KEY, switch TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names (
    seq INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    first_us INTEGER NOT NULL,
    last_us INTEGER NOT NULL,
    UNIQUE (scope, user_id, name)
);
CREATE TABLE spending (
    day TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, purpose)
) WITHOUT ROWID;
"""

# erasures: keyed hashes of erased persons and places, and the instant up to which each applies. copies: exports and
# backups. index_marks: checkpoint (revision, seq) of each generation of the vector store.
_SECOND = """
INSERT INTO meta VALUES ('erasure_key', hex(randomblob(32))), ('purge_due_us', NULL), ('purged_us', NULL);
CREATE TABLE erasures (digest TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE copies (path TEXT PRIMARY KEY, kind TEXT NOT NULL, at_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE index_marks (
    birth TEXT PRIMARY KEY, revision INTEGER NOT NULL, seq INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX events_by_change ON events (revision, seq);
"""

# facts belong to the profile of (agent, entity_type, group_id, user_id). merged: the profile contains the fact.
# fallen: its event is retired or replaced. A fact waits while both are equal: to be merged (false) or removed (true).
# heard: maps the digest of an observation's duplicate key to its event. profiles: a copy of the profile files; words is
# the digest of the embedded text, embedded_as the vector's model.
_THIRD = """
CREATE TABLE facts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    happened_at TEXT NOT NULL,
    noted_us INTEGER NOT NULL,
    merged INTEGER NOT NULL DEFAULT 0,
    fallen INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX facts_waiting ON facts (agent, entity_type, group_id, user_id, seq) WHERE merged = fallen;
CREATE INDEX facts_withdrawn ON facts (agent, entity_type, group_id, user_id) WHERE merged = 1 AND fallen = 1;
CREATE TRIGGER facts_fall_with_events AFTER UPDATE OF retired_at ON events
WHEN (OLD.retired_at IS NULL) <> (NEW.retired_at IS NULL)
BEGIN
    UPDATE facts SET fallen = NEW.retired_at IS NOT NULL WHERE event_seq = NEW.seq;
END;
CREATE INDEX facts_by_profile ON facts (agent, entity_type, group_id, user_id, seq);
CREATE INDEX facts_by_event ON facts (event_seq);
CREATE INDEX facts_by_person ON facts (user_id);
CREATE TABLE merge_failures (
    agent TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    failed_us INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (agent, entity_type, group_id, user_id)
) WITHOUT ROWID;
CREATE TABLE heard (
    scope TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, sender_id, digest)
) WITHOUT ROWID;
CREATE INDEX heard_by_event ON heard (event_seq);

CREATE TABLE profiles (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    group_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    tags TEXT NOT NULL,
    summary TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    source_event_id TEXT NOT NULL,
    version TEXT NOT NULL,
    words TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT '',
    UNIQUE (agent, entity_type, group_id, user_id)
);
CREATE INDEX profiles_by_person ON profiles (user_id);
CREATE INDEX profiles_by_model ON profiles (embedded_as, seq);
CREATE TABLE profile_vectors (
    seq INTEGER PRIMARY KEY REFERENCES profiles (seq) ON DELETE CASCADE, vector BLOB NOT NULL
);
CREATE TABLE sharing (seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL UNIQUE, at_us INTEGER NOT NULL);

ALTER TABLE spending ADD COLUMN unreachable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN bad INTEGER NOT NULL DEFAULT 0;
"""

# author_id: who wrote a pin, "" if unknown. forgotten: events retired on request, until they are restored; events
# retired before this migration count as forgotten. veils: lines of the log that are hidden while an event is
# forgotten: its sources, and lines of the bot that repeat it. gone: digests of the ids of forgotten events that were
# erased.
_FOURTH = """
ALTER TABLE pins ADD COLUMN author_id TEXT NOT NULL DEFAULT '';
UPDATE pins SET author_id = owner_id;

CREATE INDEX events_retired ON events (seq) WHERE retired_at IS NOT NULL;
CREATE TABLE gone (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE forgotten (seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE);
CREATE TRIGGER forgotten_until_restored AFTER UPDATE OF retired_at ON events
WHEN OLD.retired_at IS NOT NULL AND NEW.retired_at IS NULL
BEGIN
    DELETE FROM forgotten WHERE seq = NEW.seq;
END;
CREATE TABLE veils (
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    event_seq INTEGER NOT NULL REFERENCES forgotten (seq) ON DELETE CASCADE,
    PRIMARY KEY (seq, event_seq)
) WITHOUT ROWID;
CREATE INDEX veils_by_event ON veils (event_seq);
INSERT INTO forgotten SELECT seq FROM events WHERE retired_at IS NOT NULL;
INSERT INTO meta VALUES ('veils', '');
"""

# incognito: periods [starts_at, ends_at) in which a person is not recorded in a place.
_FIFTH = """
CREATE TABLE incognito (
    seq INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL,
    starts_at TEXT NOT NULL,
    ends_at TEXT NOT NULL,
    ends_us INTEGER NOT NULL,
    UNIQUE (scope, user_id, starts_at)
);
CREATE INDEX incognito_by_person ON incognito (user_id);
"""

# is_admin: the platform stated with the line that its sender is the group's owner or one of its admins.
_SIXTH = """
ALTER TABLE messages ADD COLUMN is_admin INTEGER NOT NULL DEFAULT 0;
"""

# beliefs: one row per version; chain_id and parent_id are ids, which an import keeps. is_current marks the last version
# of a chain. belief_changes: the change log. evolutions: the last message that a group's last run was given, and the
# number of that run in the order of all runs.
_SEVENTH = """
CREATE TABLE beliefs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    statement TEXT NOT NULL,
    version INTEGER NOT NULL,
    parent_id TEXT,
    chain_id TEXT NOT NULL,
    status TEXT NOT NULL,
    tags TEXT NOT NULL,
    strength REAL NOT NULL,
    change_summary TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    weighed_at TEXT,
    message_ids TEXT NOT NULL,
    event_ids TEXT NOT NULL,
    supporters TEXT NOT NULL,
    is_current INTEGER NOT NULL,
    is_barred INTEGER NOT NULL,
    duplicate_key TEXT NOT NULL,
    embedded_as TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX beliefs_last ON beliefs (chain_id) WHERE is_current = 1;
CREATE UNIQUE INDEX beliefs_by_version ON beliefs (chain_id, version);
CREATE INDEX beliefs_by_place ON beliefs (scope, is_current, status);
CREATE INDEX beliefs_by_model ON beliefs (embedded_as, seq) WHERE status = 'active';
CREATE TABLE belief_vectors (
    seq INTEGER PRIMARY KEY REFERENCES beliefs (seq) ON DELETE CASCADE, vector BLOB NOT NULL
);
CREATE TABLE belief_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    action TEXT NOT NULL,
    belief_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    old_id TEXT,
    old_statement TEXT NOT NULL,
    new_statement TEXT NOT NULL,
    change_reason TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    at_us INTEGER NOT NULL
);
CREATE INDEX belief_changes_by_place ON belief_changes (scope, at_us);
CREATE INDEX belief_changes_by_belief ON belief_changes (belief_id);
CREATE TABLE evolutions (
    scope TEXT PRIMARY KEY, message_seq INTEGER NOT NULL, run INTEGER NOT NULL
) WITHOUT ROWID;
"""

# decisions: what admins decided on suggestions, without words; a decision goes with the last event of its evidence.
# tallies: what the quality report counts, by day. recalls: how often an event was shown; counting may lose some.
# spending.answered: tokens of the answers, which are among its tokens.
_EIGHTH = """
CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    is_accepted INTEGER NOT NULL,
    decided_at TEXT NOT NULL,
    decided_by TEXT NOT NULL
);
CREATE INDEX decisions_by_place ON decisions (scope, seq);
CREATE TABLE decision_events (
    decision_seq INTEGER NOT NULL REFERENCES decisions (seq) ON DELETE CASCADE,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    PRIMARY KEY (decision_seq, event_seq)
) WITHOUT ROWID;
CREATE INDEX decision_events_by_event ON decision_events (event_seq);
CREATE TRIGGER decisions_go_with_events AFTER DELETE ON decision_events
WHEN NOT EXISTS (SELECT 1 FROM decision_events WHERE decision_seq = OLD.decision_seq)
BEGIN
    DELETE FROM decisions WHERE seq = OLD.decision_seq;
END;

CREATE TABLE tallies (
    day TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, name)
) WITHOUT ROWID;
CREATE TABLE recalls (
    seq INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE,
    times INTEGER NOT NULL,
    last_us INTEGER NOT NULL
);
ALTER TABLE spending ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
"""

_NINTH = """
ALTER TABLE events ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
CREATE INDEX events_replacing ON events (replaces) WHERE replaces <> '';
"""

# missed: what was asked, and the event that should have been found; text is the question. events_by_instant: lists of
# all places of an agent.
_TENTH = """
CREATE TABLE missed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL,
    text TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    at_us INTEGER NOT NULL
);
CREATE INDEX missed_by_event ON missed (event_seq);
CREATE INDEX events_by_instant ON events (agent, at_us);
"""

# switches: one row per place whose switch is not "on"; it counts as not set from until_us on, NULL means never. seq is
# for exports.
_ELEVENTH = """
ALTER TABLE switches RENAME TO endless_switches;
CREATE TABLE switches (
    seq INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, switch TEXT NOT NULL, until_us INTEGER
);
INSERT INTO switches (scope, switch) SELECT scope, switch FROM endless_switches;
DROP TABLE endless_switches;
"""

# lists of all places of an agent: active events, forgotten ones, and those that are not absolute.
_TWELFTH = """
DROP INDEX events_by_instant;
CREATE INDEX events_active ON events (agent, at_us) WHERE retired_at IS NULL;
CREATE INDEX events_forgotten ON events (agent, at_us) WHERE retired_at IS NOT NULL;
CREATE INDEX events_relative ON events (agent, at_us) WHERE retired_at IS NULL AND is_absolute = 0;
"""

# quotes: the lines that an event rests on, [message, sender, text, sender's name, instant] each; "[]" for events stored
# before. others_words: one of them is not its sender's, so that it does not follow its sender into a private chat.
_THIRTEENTH = """
ALTER TABLE events ADD COLUMN quotes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE events ADD COLUMN others_words INTEGER NOT NULL DEFAULT 0;
"""

# cause: why an event counts as forgotten: "author" (its person asked for it, or it was before this format), "other" (an
# admin or the operator did) or "correction" (it was worded anew, and only the lines that it came from are hidden).
_FOURTEENTH = """
ALTER TABLE forgotten ADD COLUMN cause TEXT NOT NULL DEFAULT 'author';
"""

# number: of a line in its group, the same for every account and in every export, "" if unknown. line_ids: further ids
# of a line. unconsidered: past lines that no dialogue holds yet. consent_changes: keyed hashes of a person, a place, or
# a person in a place, "" for everybody; what might be recorded before at_us is not known any more. A file that was in
# use before this format does not know its earlier changes.
_FIFTEENTH = """
ALTER TABLE messages ADD COLUMN number TEXT NOT NULL DEFAULT '';
CREATE INDEX messages_by_number ON messages (scope, number) WHERE number <> '';
CREATE TABLE line_ids (
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE INDEX line_ids_by_line ON line_ids (seq);
CREATE TABLE unconsidered (
    scope TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    seq INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (scope, at_us, seq)
) WITHOUT ROWID;
CREATE TABLE consent_changes (digest TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO consent_changes SELECT '', CAST(strftime('%s', 'now') AS INTEGER) * 1000000
WHERE EXISTS (SELECT 1 FROM messages) OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM names)
OR EXISTS (SELECT 1 FROM opt_outs) OR EXISTS (SELECT 1 FROM switches) OR EXISTS (SELECT 1 FROM erasures);
"""

# words: see words.py; made at the next start, because "terms" tells no form. row_changes: the last rows that were
# deleted, reworded, hidden or shown again, for the places in memory; a new row, and a change that raises an event's
# revision, are known without.
_SIXTEENTH = """
DROP TABLE event_words;
DROP TABLE message_words;
DELETE FROM meta WHERE key LIKE 'event_words%' OR key LIKE 'message_words%';
UPDATE meta SET value = '' WHERE key = 'terms';
ALTER TABLE events ADD COLUMN words BLOB NOT NULL DEFAULT x'';
ALTER TABLE messages ADD COLUMN words BLOB NOT NULL DEFAULT x'';
CREATE TABLE row_changes (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, seq INTEGER NOT NULL);
CREATE TRIGGER row_changes_kept AFTER INSERT ON row_changes
BEGIN DELETE FROM row_changes WHERE number <= NEW.number - 1000; END;
CREATE TRIGGER events_deleted AFTER DELETE ON events
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('events', OLD.seq); END;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
CREATE TRIGGER messages_reworded AFTER UPDATE OF text ON messages
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
CREATE TRIGGER messages_hidden AFTER INSERT ON veils
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', NEW.seq); END;
CREATE TRIGGER messages_shown AFTER DELETE ON veils
BEGIN INSERT INTO row_changes (kind, seq) VALUES ('messages', OLD.seq); END;
"""

STEPS: tuple[str, ...] = (
    *(_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH, _SEVENTH, _EIGHTH, _NINTH, _TENTH),
    *(_ELEVENTH, _TWELFTH, _THIRTEENTH, _FOURTEENTH, _FIFTEENTH, _SIXTEENTH),
)
