-- What a search finds: the words of titles (seq 0), prompts and answers (texts.go).
/*sqlite: CREATE TABLE searched (no integer PRIMARY KEY, session text NOT NULL UNIQUE);
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii', prefix='1 2');
*/
/*postgres: CREATE TABLE texts (session text NOT NULL, seq bigint NOT NULL, words tsvector NOT NULL, PRIMARY KEY (session, seq));
CREATE INDEX texts_by_word ON texts USING gin (words);
*/
ALTER TABLE store ADD COLUMN indexed bigint NOT NULL DEFAULT 0; -- 1: all sessions are
