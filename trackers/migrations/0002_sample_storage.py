"""The sample tables, which Django cannot declare, and the storage settings of the hot tables."""

from django.db import migrations

SAMPLES = """
CREATE TABLE trackers_sample (
    tweet_id bigint NOT NULL,
    impressions bigint,
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
    impressions bigint[] NOT NULL,
    PRIMARY KEY (tweet_id, month)
) WITH (toast_tuple_target = 256);
"""

# MAIN: compressed in place beyond 256 bytes, never moved to a table of its own.
PACKED_STORAGE = "".join(
    f"ALTER TABLE trackers_packedsamples ALTER COLUMN {column} SET STORAGE MAIN;\n"
    for column in (
        "taken_at", "measured_until", "measurements", "retweets", "replies",
        "likes", "quotes", "bookmarks", "impressions",
    )
)

# Every change of due_at is a new row version and two index entries: vacuum early and often.
# No low fillfactor there, HOT is impossible; on the tweet HOT is the rule, so room is kept.
HOT_TABLES = """
ALTER TABLE trackers_tweetupdate SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_tweet SET (
    fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE trackers_namespace SET (fillfactor = 50);
ALTER TABLE trackers_worker SET (fillfactor = 50);
ALTER TABLE trackers_window SET (fillfactor = 50);
ALTER TABLE trackers_tally SET (fillfactor = 70);
"""


class Migration(migrations.Migration):
    dependencies = [("trackers", "0001_initial")]

    operations = [
        migrations.RunSQL(
            SAMPLES, "DROP TABLE trackers_packedsamples; DROP TABLE trackers_sample;"
        ),
        migrations.RunSQL(PACKED_STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(HOT_TABLES, migrations.RunSQL.noop),
    ]
