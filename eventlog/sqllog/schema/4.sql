-- How far each exporter has sent the turns of each session. The session '' says that an exporter is known.
CREATE TABLE exports (
	session     text   NOT NULL,
	exporter    text   NOT NULL,
	seq         bigint NOT NULL, -- of the stop of the last turn that was sent
	owner       text   NOT NULL, -- the gateway that is at it
	lease_until bigint NOT NULL,
	PRIMARY KEY (session, exporter)
)/*sqlite:  WITHOUT ROWID*/;
CREATE INDEX turns_by_end ON turns (session, last);
