-- The index of words is written behind the records (texts.go). It has the records of a session up to seq, and this title. The next start completes it.
/*sqlite: ALTER TABLE searched ADD COLUMN seq bigint NOT NULL DEFAULT 0;
ALTER TABLE searched ADD COLUMN title text NOT NULL DEFAULT '';
*/
/*postgres: CREATE TABLE searched (no bigint NOT NULL DEFAULT 0, session text NOT NULL PRIMARY KEY, seq bigint NOT NULL DEFAULT 0, title text NOT NULL DEFAULT '');
*/
