-- tweets.uncounted: not in the WAL, since the row that is lost with it says that it was lost; nor
-- compressed, since a row lives for a minute.
ALTER TABLE trackers_uncounted SET UNLOGGED;
ALTER SEQUENCE trackers_uncounted_id_seq SET LOGGED;
ALTER TABLE trackers_uncounted ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_uncounted SET (autovacuum_vacuum_scale_factor = 0.2,
    autovacuum_vacuum_cost_delay = 0);

-- A row is written some four times; with room on its page no index is.
ALTER TABLE trackers_rollup SET (fillfactor = 85);

-- rollups.recount.quarter_at, of the time in an id.
CREATE FUNCTION trackers_quarter_v1(id bigint) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (((id >> 22) + 1288834974657) / 900000)::int;

-- rollups.classes.class_of
CREATE FUNCTION trackers_class_v1(count bigint) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(63, floor(ln((count + 1)::float8) * 3)::int);
