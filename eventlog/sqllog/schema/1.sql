-- One source for both databases: comments that begin with sqlite or postgres are for that one (db.go).
-- The columns sum are checksums of their rows (sum.go).

-- A store has one row here. The epoch names its life.
CREATE TABLE store (epoch text NOT NULL, starts bigint NOT NULL DEFAULT 0);

-- The registry. Times are milliseconds since 1970, except updated_at: microseconds.
CREATE TABLE sessions (
	id         text   NOT NULL PRIMARY KEY,
	agent      text   NOT NULL,
	title      text   NOT NULL,
	kind       text   NOT NULL,
	created_by text   NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	unfinished bigint NOT NULL, -- 1: there are turns without a stop
	members    bigint NOT NULL, -- how many it has
	doc        text   NOT NULL,
	sum        bigint NOT NULL
);
CREATE INDEX sessions_by_time ON sessions (updated_at, id);
CREATE INDEX sessions_by_creator ON sessions (created_by, updated_at, id);
CREATE INDEX sessions_unfinished ON sessions (updated_at, id) WHERE unfinished <> 0;

-- Where a session stands, also after its end: who writes to it, and which numbers are used.
CREATE TABLE places (
	session         text   NOT NULL PRIMARY KEY,
	owner           text   NOT NULL,            -- the gateway that may write
	term            bigint NOT NULL,            -- grows with each change of owner
	lease_until     bigint NOT NULL,
	last            bigint NOT NULL DEFAULT 0,  -- numbers up to this one are used
	deleted_through bigint NOT NULL DEFAULT 0,  -- records up to this number are deleted
	registered      bigint NOT NULL DEFAULT 0,  -- 1: the session has a row in the registry
	sum             bigint NOT NULL             -- of all but owner, term and lease
);
CREATE INDEX places_by_owner ON places (owner) WHERE owner <> '';

/*postgres: -- Gateways that show a list of sessions hear of each change, and of its author.
CREATE FUNCTION session_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	changed text := COALESCE(NEW.id, OLD.id);
BEGIN
	PERFORM pg_notify('tributary_sessions', COALESCE((SELECT owner FROM places WHERE session = changed), '') || ' ' || changed);
	RETURN NULL;
END $$;
CREATE TRIGGER session_changed AFTER INSERT OR UPDATE OR DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION session_changed();
*/
CREATE TABLE members (
	session text   NOT NULL,
	person  text   NOT NULL,
	role    text   NOT NULL,
	sum     bigint NOT NULL,
	PRIMARY KEY (session, person)
)/*sqlite:  WITHOUT ROWID*/;
CREATE INDEX members_by_person ON members (person, session);

CREATE TABLE records (
	session    text   NOT NULL,
	seq        bigint NOT NULL,
	prev       bigint NOT NULL, -- the number of the durable record before it, 0: none
	turn       text   NOT NULL,
	kind       text   NOT NULL,
	message_id text,            -- of a mark: a prompt, reply, rewind, or step with the agent's id; empty: read it in the body
	person     text,            -- of a mark: who sent the prompt
	at         bigint NOT NULL,
	body       bytes  NOT NULL, -- the record as one line of JSON
	sum        bigint NOT NULL, -- of session, seq, prev and body
	mark_sum   bigint NOT NULL, -- of the others, with session and seq
	PRIMARY KEY (session, seq)
)/*sqlite:  WITHOUT ROWID*/;
CREATE INDEX records_of_messages ON records (session, seq) WHERE message_id IS NOT NULL;

CREATE TABLE turns (
	session text   NOT NULL,
	turn    text   NOT NULL,
	first   bigint NOT NULL,
	last    bigint NOT NULL DEFAULT 0, -- of its stop
	sum     bigint NOT NULL,           -- of session, turn and first
	end_sum bigint NOT NULL DEFAULT 0, -- of session, turn and last, once it has one
	PRIMARY KEY (session, turn)
)/*sqlite:  WITHOUT ROWID*/;
CREATE INDEX turns_by_position ON turns (session, first);

CREATE TABLE checkpoints (
	session text   NOT NULL,
	turn    text   NOT NULL,
	part    text   NOT NULL,
	chunk   bigint NOT NULL,
	seq     bigint NOT NULL, -- of the last delta in it
	body    bytes  NOT NULL, -- one delta record with the text of them all
	sum     bigint NOT NULL,
	PRIMARY KEY (session, turn, part, chunk)
)/*sqlite:  WITHOUT ROWID*/;

/*postgres: -- For people: the bodies as text.
CREATE VIEW trace AS SELECT session, seq, turn, kind, to_timestamp(at / 1000.0) AS at, convert_from(body, 'UTF8') AS body FROM records;
*/
