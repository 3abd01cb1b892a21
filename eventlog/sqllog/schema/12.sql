-- How many commits a process of a gateway has had confirmed. A database that lacks one of them, as after a fail-over to a server that did not have it yet, has a lower number.
-- SQLite has one gateway and one disk, and no row.
CREATE TABLE marks (
	gateway text   NOT NULL PRIMARY KEY, -- as gateways.id
	mark    bigint NOT NULL
);
