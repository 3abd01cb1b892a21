-- A gateway of an older version goes on beside this step: it names its columns, and its entries have no owner.
ALTER TABLE access_entries ADD COLUMN owner TEXT NOT NULL DEFAULT '';
CREATE INDEX access_entries_owner ON access_entries (kind, owner);
