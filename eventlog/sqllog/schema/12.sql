-- Sessions that a gateway loads go on behind this number: after a loss of commits, and in a restored back-up, it is one that nobody has given.
-- Below 0: a back-up that no gateway has started with; -1 - n was its number. A gateway of the step before does not look at it. The column
-- epoch was part of a client's position once; nothing reads it now.
ALTER TABLE store ADD COLUMN numbers_from bigint NOT NULL DEFAULT 0;
