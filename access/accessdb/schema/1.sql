CREATE TABLE access_entries (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    created BIGINT NOT NULL, -- milliseconds since 1970
    expires BIGINT NOT NULL, -- 0: never
    doc TEXT NOT NULL, -- base64
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
);
