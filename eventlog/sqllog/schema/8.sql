-- The body of a record is its payload. The rest of the record is columns (record.go).
-- alone: a gateway of the step before reads each body as a whole record.
ALTER TABLE records ADD COLUMN id text;     -- null: the body is the whole record as one line of JSON. "." at its beginning: the turn
ALTER TABLE records ADD COLUMN parent text; -- as id; empty: none
ALTER TABLE records ADD COLUMN actor text;
ALTER TABLE records ADD COLUMN ns bigint;   -- nanoseconds behind at
