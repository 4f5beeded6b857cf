"""Counting what is left of an import or a tag, and what of a file is history, reads by keys."""

import pytest

from tests.tweets.large.test_version_plans import explain, nodes, rows_of
from trackers.ingest.files import lookups
from trackers.ingest.sources.models import Source
from trackers.tweets import record
from trackers.tweets.tags import lookups as lookups_of_tags
from trackers.tweets.tags.models import Tag
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

TWEETS, PIECE, ASKED = 30_000, 1_000, 300
MS = 1 << 22
TABLES = ("trackers_tweet", "trackers_sourcetweet", "trackers_tweettag", "trackers_sample",
          "trackers_packedsamples")  # fmt: skip


def fill(db, source, tag):
    """Tweets half an hour apart over years, each with a closed sample, a packed month and a newest
    one; all came from the file, and have a tag."""
    db.execute(
        "INSERT INTO trackers_tweet (id, tracked_at, came_from, measurements, paused, paid_on,"
        f" missing_reason, taken_at, measured_until)"
        f" SELECT g::bigint * 1800000 * {MS}, now(), '', 1, false, current_date, '', now(), now()"
        f" FROM generate_series(1, {TWEETS}) g"
    )
    db.execute(
        "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
        f" SELECT {source}, id, now(), false FROM trackers_tweet ORDER BY random()"
    )
    db.execute(
        "INSERT INTO trackers_tweettag (tag_id, tweet_id)"
        f" SELECT {tag}, id FROM trackers_tweet ORDER BY random()"
    )
    db.execute(
        "INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements, likes)"
        " SELECT id, now() - interval '2 hours', now() - interval '1 hour', 1, 1"
        " FROM trackers_tweet"
    )
    db.execute(
        "INSERT INTO trackers_packedsamples (tweet_id, month, taken_at, measured_until,"
        " measurements, retweets, replies, likes, quotes, bookmarks, views)"
        " SELECT id, date_trunc('month', now() - interval '40 days')::date,"
        " ARRAY[now() - interval '40 days'], ARRAY[now() - interval '39 days'], ARRAY[1],"
        " ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1]::bigint[] FROM trackers_tweet"
    )


def fresh_statistics(db, source, tag):
    fill(db, source, tag)
    analyze(db)


def no_statistics(db, source, tag):
    fill(db, source, tag)


def statistics_of_empty_tables(db, source, tag):
    """The pages are still there."""
    fill(db, source, tag)
    for table in reversed(TABLES):
        db.execute(f"DELETE FROM {table}")
    analyze(db)
    fill(db, source, tag)


def analyze(db):
    for table in TABLES:
        db.execute(f"ANALYZE {table}")


def read_most(db, statement, params, types):
    """The most rows that a node of a plan reads of a table, whichever way it is planned."""
    for mode in ("force_custom_plan", "force_generic_plan"):
        db.execute(f"SET LOCAL plan_cache_mode = {mode}")
        plan = explain(db, statement, params, types)
        for node in nodes(plan):
            if str(node.get("Relation Name", "")).startswith(TABLES):
                yield rows_of(node)


@pytest.mark.parametrize("prepare", [fresh_statistics, no_statistics, statistics_of_empty_tables])
def test_an_import_is_counted_and_compared_with_history_by_keys(prepare):
    source = Source.objects.create(kind="import", of="file").pk
    tag = Tag.objects.create(name="moon").pk
    middle = TWEETS // 2 * 1_800_000 * MS
    ids = [(TWEETS // 2 + g) * 1_800_000 * MS for g in range(ASKED)]
    with cursor() as db:
        prepare(db, source, tag)

        counted = {"row": "bigint", "after": "bigint", "most": "int"}
        for row, sql in ((source, lookups.COUNT), (tag, lookups_of_tags.COUNT)):
            piece = {"row": str(row), "after": str(middle), "most": str(PIECE)}
            assert max(read_most(db, sql, piece, counted)) <= PIECE

        for days in (0, 39, 400):
            times = {
                "ids": f"'{{{','.join(map(str, ids))}}}'",
                "at": f"array_fill(now() - interval '{days} days', ARRAY[{ASKED}])",
            }
            types = {"ids": "bigint[]", "at": "timestamptz[]"}
            # Of the newest samples, of closed ones, and of each month since.
            assert max(read_most(db, record._UNMEASURED, times, types)) <= 2 * ASKED
