-- The lease is the gateway's (11.sql), and not one of each session that it owns.
-- alone: a gateway of the step before reads and renews this column.
ALTER TABLE places DROP COLUMN lease_until;
