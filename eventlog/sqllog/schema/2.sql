-- Lists by agent, state and archive.
-- alone: a gateway of the step before looks for the column unfinished.
DROP INDEX sessions_unfinished;
DROP INDEX sessions_by_creator;
ALTER TABLE sessions RENAME COLUMN unfinished TO phase; -- eventlog.Phase
ALTER TABLE sessions ADD COLUMN archived bigint NOT NULL DEFAULT 0;
CREATE INDEX sessions_by_creator ON sessions (created_by, archived, updated_at, id);
CREATE INDEX sessions_by_phase ON sessions (phase, archived, updated_at, id) WHERE phase <> 0;
CREATE INDEX sessions_by_agent ON sessions (agent, archived, updated_at, id);
CREATE INDEX sessions_archived ON sessions (archived, updated_at, id);
