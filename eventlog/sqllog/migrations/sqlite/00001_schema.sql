-- +goose Up
-- A store has one row here. The epoch names its life.
CREATE TABLE store (epoch TEXT NOT NULL);

-- Times are milliseconds since 1970, except updated_at: microseconds.
CREATE TABLE sessions (
	id          TEXT    NOT NULL PRIMARY KEY,
	agent       TEXT    NOT NULL DEFAULT '',
	title       TEXT    NOT NULL DEFAULT '',
	kind        TEXT    NOT NULL DEFAULT '',
	created_by  TEXT    NOT NULL DEFAULT '',
	created_at  INTEGER NOT NULL DEFAULT 0,
	updated_at  INTEGER NOT NULL DEFAULT 0,
	owner       TEXT    NOT NULL DEFAULT '', -- the gateway that may write
	term        INTEGER NOT NULL,            -- grows with each change of owner
	lease_until INTEGER NOT NULL DEFAULT 0,
	last        INTEGER NOT NULL DEFAULT 0,  -- numbers up to this one are used
	erased      INTEGER NOT NULL DEFAULT 0,  -- records up to this number are deleted
	unfinished  INTEGER NOT NULL DEFAULT 0,  -- 1: there are turns without a stop
	doc         TEXT                         -- NULL: the session is removed
);
CREATE INDEX sessions_by_time ON sessions (updated_at) WHERE doc IS NOT NULL;
CREATE INDEX sessions_by_creator ON sessions (created_by, updated_at) WHERE doc IS NOT NULL;
CREATE INDEX sessions_unfinished ON sessions (updated_at) WHERE doc IS NOT NULL AND unfinished <> 0;
CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner <> '';

CREATE TABLE members (
	session TEXT NOT NULL,
	person  TEXT NOT NULL,
	role    TEXT NOT NULL,
	PRIMARY KEY (session, person)
) WITHOUT ROWID;
CREATE INDEX members_by_person ON members (person, session);

CREATE TABLE records (
	session    TEXT    NOT NULL,
	seq        INTEGER NOT NULL,
	turn       TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	message_id TEXT,             -- of a prompt, reply or rewind; NULL: read it in the body
	person     TEXT,             -- of a prompt
	at         INTEGER NOT NULL,
	body       TEXT    NOT NULL, -- the record as one line of JSON
	PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX records_of_messages ON records (session, seq) WHERE kind IN ('prompt', 'reply', 'rewind');

CREATE TABLE turns (
	session TEXT    NOT NULL,
	turn    TEXT    NOT NULL,
	first   INTEGER NOT NULL,
	last    INTEGER NOT NULL DEFAULT 0, -- of its stop
	PRIMARY KEY (session, turn)
) WITHOUT ROWID;
CREATE INDEX turns_by_position ON turns (session, first, turn, last);

CREATE TABLE checkpoints (
	session TEXT    NOT NULL,
	turn    TEXT    NOT NULL,
	part    TEXT    NOT NULL,
	chunk   INTEGER NOT NULL,
	seq     INTEGER NOT NULL, -- of the last delta in it
	body    TEXT    NOT NULL, -- one delta record with the text of them all
	PRIMARY KEY (session, turn, part, chunk)
) WITHOUT ROWID;
