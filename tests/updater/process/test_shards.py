"""A batch touches its own tweets alone: claim and save, on tables that are spread by a shard.

Each cluster serves one shard through views that say WHERE shard = k, on partitions of one server.
Every statement of a batch then touches the partitions of that shard alone.
"""

import psycopg
import pytest
from django.db import connection

from tests.large_tables import FILL_QUEUE
from tests.plans import MODES, watched
from tests.queues import fill_buckets
from tests.updater.process.test_plans import one_batch, shown_of, track, x

__all__ = ["x"]

pytestmark = pytest.mark.django_db(transaction=True)

SHARDS, MINE = 4, 2
# The tables of a tweet, with the column that tells its shard, and what is unique there.
SPREAD = {
    "trackers_tweet": ("id", "id"),
    "trackers_tweettext": ("tweet_id", "tweet_id"),
    "trackers_tweetversion": ("tweet_id", "id"),
    "trackers_tweetupdate": ("key", "key"),
    "trackers_tweetbucket": ("keys[1]", "id"),
    "trackers_sample": ("tweet_id", ""),
}
SPREAD_OUT = """
    CREATE TABLE spread.{table} (LIKE public.{table} INCLUDING DEFAULTS INCLUDING IDENTITY,
                                 shard int NOT NULL) PARTITION BY HASH (shard);
"""
# The same indexes, which are not unique: a key of a spread table includes the shard.
INDEXES = """
    SELECT regexp_replace(
        pg_get_indexdef(indexrelid), '^CREATE .*INDEX \\S+ ON (ONLY )?public\\.',
        'CREATE INDEX ON spread.')
    FROM pg_index WHERE indrelid = %s::regclass
"""
PARTITION = """
    CREATE TABLE spread.{table}_{k} PARTITION OF spread.{table}
    FOR VALUES WITH (MODULUS {shards}, REMAINDER {k});
"""
# A view may call a column ctid, and hands it on; who inserts needs not know of the shard.
VIEW = """
    CREATE VIEW mine.{table} AS SELECT {table}.ctid, {table}.* FROM spread.{table}
    WHERE shard = {mine};
    ALTER VIEW mine.{table} ALTER COLUMN shard SET DEFAULT {mine};
"""
COPY = """
    INSERT INTO spread.{table} ({columns}, shard)
    SELECT {columns}, mod({of}, {shards}) FROM public.{table}
"""
COLUMNS = """
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""


def spread(db):
    """What is in the tables, over their partitions; and one shard before our eyes."""
    db.execute("CREATE SCHEMA spread; CREATE SCHEMA mine")
    for table, (of, unique) in SPREAD.items():
        params = {"table": table, "shards": SHARDS, "mine": MINE, "of": of}
        db.execute(SPREAD_OUT.format(**params))
        for k in range(SHARDS):
            db.execute(PARTITION.format(k=k, **params))
        for (index,) in db.execute(INDEXES, [table]).fetchall():
            db.execute(index)
        if unique:
            db.execute(f"CREATE UNIQUE INDEX ON spread.{table} (shard, {unique})")
        [(columns,)] = db.execute(COLUMNS, [table]).fetchall()
        db.execute(COPY.format(columns=columns, **params))
        if table == "trackers_tweetbucket":
            db.execute(f"ALTER TABLE spread.{table} ALTER COLUMN id RESTART WITH 1000000")
        db.execute(VIEW.format(**params))
        # What is not found in a shard must not be found elsewhere.
        db.execute(f"TRUNCATE public.{table} CASCADE")
    db.execute("SET search_path = mine, public")


def own_partitions(db):
    """The one of each table in which the shard is."""
    rows = db.execute(
        "SELECT tableoid::regclass::text FROM spread.trackers_tweet WHERE shard = %s LIMIT 1",
        [MINE],
    ).fetchall()
    nth = rows[0][0].rpartition("_")[2]
    return {f"{table}_{nth}" for table in SPREAD}


def test_every_statement_of_a_batch_stays_in_its_shard(x, monkeypatch):
    visible = shown_of(x, sorted(x.ids(1200)))
    track(visible, known=True)
    with connection.cursor() as django:
        db = psycopg.ClientCursor(django.connection)
        db.execute(FILL_QUEUE.replace("ORDER BY random()", f"ORDER BY mod(id, {SHARDS})"))
        db.execute(
            f"UPDATE trackers_tweetupdate SET stamp = mod(key, {SHARDS}) * 1000 + stamp % 1000"
        )
        fill_buckets(db)
        spread(db)
        mine = own_partitions(db)
    ours = {id for id in visible if id % SHARDS == MINE}
    assert 100 < len(ours) < len(visible)

    with watched(monkeypatch) as seen:
        batch = one_batch()

    assert set(batch.keys) <= ours
    for mode in MODES:
        reached = {one.table for one in seen.reached if one.mode == mode}
        spread_out = {name for name in reached if name.rpartition("_")[0] in SPREAD}
        assert spread_out <= mine, spread_out - mine
        assert {name.rpartition("_")[0] for name in spread_out} >= {
            *("trackers_tweet", "trackers_tweetupdate", "trackers_tweetbucket")
        }
        # A new row's partition is found when it comes: a plan of it names the whole table.
        whole = {one.how for one in seen.reached if one.mode == mode and one.table in SPREAD}
        assert whole == {"ModifyTable"}
    with connection.cursor() as db:
        db.execute("SELECT DISTINCT shard FROM spread.trackers_sample")
        assert db.fetchall() == [(MINE,)]
        db.execute(
            "SELECT count(*) FROM spread.trackers_tweet WHERE shard <> %s AND measurements > 1",
            [MINE],
        )
        assert db.fetchone() == (0,)
    connection.close()
