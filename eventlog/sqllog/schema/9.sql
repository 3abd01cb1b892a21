-- For people: the payloads as text, also of records whose body is the whole record.
/*postgres: CREATE OR REPLACE VIEW trace AS SELECT session, seq, turn, kind, to_timestamp(at / 1000.0) AS at, convert_from(body, 'UTF8') AS body,
	CASE WHEN id IS NULL THEN (convert_from(body, 'UTF8')::json -> 'payload')::text ELSE convert_from(body, 'UTF8') END AS payload FROM records;
*/
/*sqlite: CREATE VIEW trace AS SELECT session, seq, turn, kind, datetime(at / 1000, 'unixepoch') AS at, body,
	CASE WHEN id IS NULL THEN body -> '$.payload' ELSE body END AS payload FROM records;
*/
