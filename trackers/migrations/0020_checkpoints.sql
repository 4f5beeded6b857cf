-- A tweet's metrics at one of 18 ages, written by the save that crosses it. `age` is the place of the
-- age in tweets.checkpoints.ages.AGES, from 1; `crossed_at` the time of the measurement after it.

CREATE TABLE trackers_checkpoint (
    tweet_id bigint NOT NULL,
    views bigint,
    crossed_at timestamptz NOT NULL,
    retweets integer,
    replies integer,
    likes integer,
    quotes integer,
    bookmarks integer,
    age smallint NOT NULL
) PARTITION BY RANGE (crossed_at);
-- Duplicates are folded by the index; a tweet has eighteen at most.
CREATE INDEX checkpoint_of_tweet ON trackers_checkpoint (tweet_id);
CREATE TABLE trackers_checkpoint_default PARTITION OF trackers_checkpoint DEFAULT;

-- Those of past days: a row a tweet, parallel arrays, in the order of ages unless some came late.
CREATE TABLE trackers_packedcheckpoints (
    tweet_id bigint PRIMARY KEY,
    ages smallint[] NOT NULL,
    retweets integer[] NOT NULL,
    replies integer[] NOT NULL,
    likes integer[] NOT NULL,
    quotes integer[] NOT NULL,
    bookmarks integer[] NOT NULL,
    views bigint[] NOT NULL
) WITH (fillfactor = 70);

-- Which tweets crossed which ages, for what is worked out from them each minute. Nothing is lost with
-- it that cannot be made again, so it is not in the WAL; nor compressed, since it lives for a minute.
ALTER TABLE trackers_crossedages SET UNLOGGED;
ALTER SEQUENCE trackers_crossedages_id_seq SET LOGGED;
ALTER TABLE trackers_crossedages ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_crossedages ALTER COLUMN ages SET STORAGE EXTERNAL;
ALTER TABLE trackers_crossedages SET (autovacuum_vacuum_scale_factor = 0.2,
    autovacuum_vacuum_cost_delay = 0);

-- tweets.checkpoints.ages.place_of, of an age in seconds.
CREATE FUNCTION trackers_age_place_v1(age float8) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN width_bucket(age, ARRAY[
    300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 32400, 43200, 64800,
    86400, 172800, 259200, 604800, 1209600, 2592000]::float8[]);

-- tweets.checkpoints.ages.count_between: `share` of the way from one measurement to the next.
CREATE FUNCTION trackers_count_between_v1(before float8, after float8, share float8) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN round(before + (after - before) * share)::bigint;
