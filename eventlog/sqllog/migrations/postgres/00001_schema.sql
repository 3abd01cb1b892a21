-- +goose Up
-- A store has one row here. The epoch names its life.
CREATE TABLE store (epoch text NOT NULL);

-- Times are milliseconds since 1970, except updated_at: microseconds.
CREATE TABLE sessions (
	id          text NOT NULL PRIMARY KEY,
	agent       text NOT NULL DEFAULT '',
	title       text NOT NULL DEFAULT '',
	kind        text NOT NULL DEFAULT '',
	created_by  text NOT NULL DEFAULT '',
	created_at  bigint NOT NULL DEFAULT 0,
	updated_at  bigint NOT NULL DEFAULT 0,
	owner       text NOT NULL DEFAULT '', -- the gateway that may write
	term        bigint NOT NULL,            -- grows with each change of owner
	lease_until bigint NOT NULL DEFAULT 0,
	last        bigint NOT NULL DEFAULT 0,  -- numbers up to this one are used
	erased      bigint NOT NULL DEFAULT 0,  -- records up to this number are deleted
	unfinished  bigint NOT NULL DEFAULT 0,  -- 1: there are turns without a stop
	doc         text -- NULL: the session is removed
);
CREATE INDEX sessions_by_time ON sessions (updated_at) WHERE doc IS NOT NULL;
CREATE INDEX sessions_by_creator ON sessions (created_by, updated_at) WHERE doc IS NOT NULL;
CREATE INDEX sessions_unfinished ON sessions (updated_at) WHERE doc IS NOT NULL AND unfinished <> 0;
CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner <> '';

-- Gateways that show a list of sessions hear of each change, and of its author.
-- +goose StatementBegin
CREATE FUNCTION session_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('tributary_sessions', NEW.owner || ' ' || NEW.id);
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER session_changed AFTER UPDATE OF doc ON sessions FOR EACH ROW EXECUTE FUNCTION session_changed();

CREATE TABLE members (
	session text NOT NULL,
	person  text NOT NULL,
	role    text NOT NULL,
	PRIMARY KEY (session, person)
);
CREATE INDEX members_by_person ON members (person, session);

CREATE TABLE records (
	session    text NOT NULL,
	seq        bigint NOT NULL,
	turn       text NOT NULL,
	kind       text NOT NULL,
	message_id text,             -- of a prompt, reply or rewind; NULL: read it in the body
	person     text,             -- of a prompt
	at         bigint NOT NULL,
	body       bytea NOT NULL, -- the record as one line of JSON
	PRIMARY KEY (session, seq)
);
CREATE INDEX records_of_messages ON records (session, seq) WHERE kind IN ('prompt', 'reply', 'rewind');

CREATE TABLE turns (
	session text NOT NULL,
	turn    text NOT NULL,
	first   bigint NOT NULL,
	last    bigint NOT NULL DEFAULT 0, -- of its stop
	PRIMARY KEY (session, turn)
);
CREATE INDEX turns_by_position ON turns (session, first, turn, last);

CREATE TABLE checkpoints (
	session text NOT NULL,
	turn    text NOT NULL,
	part    text NOT NULL,
	chunk   bigint NOT NULL,
	seq     bigint NOT NULL, -- of the last delta in it
	body    bytea NOT NULL, -- one delta record with the text of them all
	PRIMARY KEY (session, turn, part, chunk)
);

-- For people: the bodies as text.
CREATE VIEW trace AS SELECT session, seq, turn, kind, to_timestamp(at / 1000.0) AS at, convert_from(body, 'UTF8') AS body FROM records;
