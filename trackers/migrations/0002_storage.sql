-- Samples: a row for a stretch of time in which nothing changed, by the day on which it ended.

CREATE TABLE trackers_sample (
    tweet_id bigint NOT NULL,
    views bigint,
    taken_at timestamptz NOT NULL,
    measured_until timestamptz NOT NULL,
    measurements integer NOT NULL CHECK (measurements > 0),
    retweets integer,
    replies integer,
    likes integer,
    quotes integer,
    bookmarks integer,
    CONSTRAINT sample_time_goes_forward CHECK (taken_at <= measured_until)
) PARTITION BY RANGE (measured_until);
-- Duplicates of tweet_id are folded by the index, which makes it a fifth of (tweet_id, taken_at).
CREATE INDEX sample_of_tweet ON trackers_sample (tweet_id);
-- A row for which no partition was made goes here: a missing one never stops a save.
CREATE TABLE trackers_sample_default PARTITION OF trackers_sample DEFAULT;

CREATE TABLE trackers_packedsamples (
    tweet_id bigint NOT NULL,
    month date NOT NULL,
    taken_at timestamptz[] NOT NULL,
    measured_until timestamptz[] NOT NULL,
    measurements integer[] NOT NULL,
    retweets integer[] NOT NULL,
    replies integer[] NOT NULL,
    likes integer[] NOT NULL,
    quotes integer[] NOT NULL,
    bookmarks integer[] NOT NULL,
    views bigint[] NOT NULL,
    PRIMARY KEY (tweet_id, month)
) WITH (toast_tuple_target = 256);
-- MAIN: compressed in place beyond 256 bytes, never moved to a table of its own.
ALTER TABLE trackers_packedsamples
    ALTER COLUMN taken_at SET STORAGE MAIN,
    ALTER COLUMN measured_until SET STORAGE MAIN,
    ALTER COLUMN measurements SET STORAGE MAIN,
    ALTER COLUMN retweets SET STORAGE MAIN,
    ALTER COLUMN replies SET STORAGE MAIN,
    ALTER COLUMN likes SET STORAGE MAIN,
    ALTER COLUMN quotes SET STORAGE MAIN,
    ALTER COLUMN bookmarks SET STORAGE MAIN,
    ALTER COLUMN views SET STORAGE MAIN;
-- A month has many rows, which the index folds into a few bytes each.
CREATE INDEX packedsamples_month ON trackers_packedsamples (month);

-- Events and attempts. The keys begin with the id, by which rows are found; the day of a row is
-- known wherever its id is, so that one partition alone is looked into.

CREATE SEQUENCE trackers_event_id AS bigint;
CREATE TABLE trackers_event (
    id bigint NOT NULL DEFAULT nextval('trackers_event_id'),
    received_at timestamptz NOT NULL DEFAULT now(),
    t bigint NOT NULL,
    tweet_id bigint,
    topic_id bigint NOT NULL,
    type text NOT NULL CHECK (type IN ('create', 'update', 'delete', 'noop')),
    url text,
    figures bigint[],
    data jsonb,
    PRIMARY KEY (id, received_at)
) PARTITION BY RANGE (received_at);
-- "what was told since?" Ids are drawn in about the order of time.
CREATE INDEX event_received ON trackers_event USING brin (received_at);
CREATE TABLE trackers_event_default PARTITION OF trackers_event DEFAULT;

CREATE SEQUENCE trackers_attempt_id AS bigint;
CREATE TABLE trackers_attempt (
    id bigint NOT NULL DEFAULT nextval('trackers_attempt_id'),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    subscriber_id bigint NOT NULL,
    uid uuid NOT NULL,
    kind text NOT NULL DEFAULT 'events',
    number integer NOT NULL,
    outcome text NOT NULL,
    took_ms integer,
    status integer,
    error text NOT NULL DEFAULT '',
    answer text NOT NULL DEFAULT '',
    events bigint[] NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);
CREATE INDEX attempt_of_subscriber ON trackers_attempt (subscriber_id, id DESC);
CREATE TABLE trackers_attempt_default PARTITION OF trackers_attempt DEFAULT;

-- Numbers of the spreads, by which batches stand in line.
CREATE SEQUENCE trackers_spread_number AS bigint;
-- One for all origins. No number is kept ready for a session, so that each is drawn when it is
-- written, under the lock of its origin.
CREATE SEQUENCE trackers_arrival_number AS bigint CACHE 1;

-- On tables of others: the admin's history of one row, and failed tasks, which are few.
CREATE INDEX adminlog_object ON django_admin_log (object_id, content_type_id);
CREATE INDEX tweetwatch_failed_tasks ON django_q_task (stopped) WHERE NOT success;

-- How tables are stored. HOT: an update that changes no indexed column and finds room in its page
-- costs no index entry and no vacuum; a fillfactor keeps that room.

-- Jobs live by HOT. Those that found no room are vacuumed early and often.
ALTER TABLE trackers_tweetupdate SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0, fillfactor = 50);
ALTER TABLE trackers_sourcepoll SET (fillfactor = 50);
ALTER TABLE trackers_importjob SET (fillfactor = 50);
ALTER TABLE trackers_timelinedelivery SET (fillfactor = 50);
ALTER TABLE trackers_homerebuild SET (fillfactor = 50);
-- Buckets are rewritten with each claim, and are few.
ALTER TABLE trackers_tweetbucket SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_pollbucket SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_importbucket SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_deliverybucket SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_rebuildbucket SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

ALTER TABLE trackers_tweet SET (fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- A timeline's row changes with each write to it, and no index does. What was cut from timelines is
-- vacuumed early, since reads walk over it.
ALTER TABLE trackers_timeline SET (fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_timelineentry SET (
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
-- Small values that are written often; a page stays on its page. The ids are kept as they are:
-- compressing them took nine tenths of a delivery, and made them half as large.
ALTER TABLE trackers_timedbucket SET (fillfactor = 70);
ALTER TABLE trackers_sizedbucket SET (fillfactor = 70);
ALTER TABLE trackers_timedbucket ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_sizedbucket ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_origin SET (fillfactor = 50);
ALTER TABLE trackers_deliverymark SET (fillfactor = 50);

-- What is staged lives for a moment, and a batch is written with each event that comes.
ALTER TABLE trackers_staged SET (autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_eventbatch SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_subscriberstate SET (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);
-- The row of a minute is written with each spread, or each end of deliveries.
ALTER TABLE trackers_topicminute SET (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_subscriberminute SET (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);

-- Changes are worth nothing after a crash, and cost no WAL; arrays of up to a thousand ids, which
-- do not compress well. Both tables are small and rewritten all the time.
ALTER TABLE trackers_changed SET UNLOGGED;
-- Not its sequence: after the promotion of a standby that had replayed its creation, PostgreSQL
-- refuses every nextval of one that is unlogged ("bad magic number in sequence").
ALTER SEQUENCE trackers_changed_id_seq SET LOGGED;
ALTER TABLE trackers_changed ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE trackers_changed SET (autovacuum_vacuum_scale_factor = 0.2,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_gain SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1,
    autovacuum_vacuum_cost_delay = 0);

-- Every request writes the row of its token: in place, and not into the log.
ALTER TABLE trackers_apiuse SET UNLOGGED, SET (fillfactor = 50);

-- Few rows that are rewritten every few seconds.
ALTER TABLE trackers_queue SET (fillfactor = 50);
ALTER TABLE trackers_worker SET (fillfactor = 50);
ALTER TABLE trackers_window SET (fillfactor = 50);
ALTER TABLE trackers_queuestatistics SET (fillfactor = 50);
ALTER TABLE trackers_tweetcensus SET (fillfactor = 50);
ALTER TABLE trackers_queuecounters SET (fillfactor = 70);
ALTER TABLE trackers_queueminute SET (fillfactor = 70);
