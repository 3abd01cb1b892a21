-- The gateways on the database, one row for each process. One renews its row while it runs, and owns sessions for that long. SQLite has one gateway, and no row.
CREATE TABLE gateways (
	id          text   NOT NULL PRIMARY KEY,        -- of the process, as in places.owner: name:process
	name        text   NOT NULL,                    -- stays the same over restarts
	address     text   NOT NULL DEFAULT '',         -- host:port where other gateways reach it
	key         bytes  NOT NULL DEFAULT '',         -- SHA-256 of the public key of that address
	version     text   NOT NULL DEFAULT '',         -- of the program
	state       text   NOT NULL DEFAULT 'running',  -- or draining; or dead: another gateway has found it so
	lease_until bigint NOT NULL,                    -- milliseconds since 1970
	lock        bigint NOT NULL DEFAULT 0,          -- the advisory lock that the process holds
	started     bigint NOT NULL DEFAULT 0           -- milliseconds since 1970
);
