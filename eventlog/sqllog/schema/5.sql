-- What persons have allowed beforehand in all sessions with an agent. Ids are in the order of time.
CREATE TABLE grants (
	id    text NOT NULL PRIMARY KEY,
	agent text NOT NULL,
	doc   text NOT NULL -- JSON
)/*sqlite:  WITHOUT ROWID*/;
