-- Sessions that a gateway loads go on behind this number: after a loss of commits, and in a restored copy, it is one that nobody has given.
-- -1: a copy that no gateway has started with. The column epoch was part of a client's position once; nothing reads it now.
ALTER TABLE store ADD COLUMN numbers_from bigint NOT NULL DEFAULT 0;
