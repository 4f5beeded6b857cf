"""No call of the API may grow with the number of tweets, or read a tweet's history twice over.

`API_TWEETS=1000000 API_SAMPLES=10000 pytest tests/api/large/test_plans.py -s` tells the figures
of a million tweets, and of histories of ten thousand samples.
"""

import os
import time
from collections import namedtuple
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from tests.api.conftest import Program
from tests.pages.many import fill
from trackers.api.tweets.filters import Filters
from trackers.api.wire.parameters import cursor_of
from trackers.ingest.sources.models import Source
from trackers.listing import search
from trackers.tweets.gains import update
from trackers.tweets.models import METRICS, Tweet
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS = int(os.environ.get("API_TWEETS", "20000"))
SAMPLES = int(os.environ.get("API_SAMPLES", "400"))

MODES = ("auto", pytest.param("force_generic_plan", marks=pytest.mark.more))

# One source brought every third tweet, many others one each.
FILL_BROUGHT = """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT CASE WHEN n % 3 = 0 THEN 1 ELSE n END, id, now(), false
    FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM trackers_tweet) t
    WHERE n % 3 = 0 OR n BETWEEN 2 AND 250
"""
FILL_GAINS = f"""
    INSERT INTO trackers_gain
        (tweet_id, minutes, metric, gain, velocity, since, until, again_at)
    SELECT id, minutes, metric, n, n * 2.5, now() - interval '9 minutes', now(), now()
    FROM (SELECT id, row_number() OVER () AS n FROM (
              SELECT id FROM trackers_tweet
              ORDER BY id DESC LIMIT {2 * update.MAX_LIST_LENGTH}) t) t
    CROSS JOIN unnest(ARRAY[0, 15, 60, 1440]) AS minutes
    CROSS JOIN unnest(%(metrics)s::text[]) AS metric
"""
# Of ten tweets; a tenth of their samples is not packed yet. Three thousand others have two each.
FILL_PACKED = """
    INSERT INTO trackers_packedsamples (tweet_id, month, taken_at, measured_until, measurements,
                                        retweets, replies, likes, quotes, bookmarks, views)
    SELECT t.id, date_trunc('month', t.created_at AT TIME ZONE 'UTC')::date,
           array_agg(t.created_at + n * interval '30 seconds'),
           array_agg(t.created_at + n * interval '30 seconds'), array_agg(1),
           array_agg(n), array_agg(n), array_agg(n), array_agg(n), array_agg(n), array_agg(n)
    FROM (SELECT *, row_number() OVER (ORDER BY id) <= 10 AS is_deep FROM (
              SELECT * FROM trackers_tweet WHERE gone_at IS NULL ORDER BY id LIMIT 3000) first) t
    CROSS JOIN generate_series(1, CASE WHEN is_deep THEN %(samples)s * 9 / 10 ELSE 2 END) n
    GROUP BY t.id, t.created_at
"""
FILL_RECENT = """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT t.id, t.created_at + n * interval '30 seconds',
           t.created_at + n * interval '30 seconds', 1, n, n, n, n, n, n
    FROM (SELECT * FROM trackers_tweet WHERE gone_at IS NULL ORDER BY id LIMIT 10) t
    CROSS JOIN generate_series(%(samples)s * 9 / 10 + 1, %(samples)s) n
"""
GROWING = (
    "trackers_author", "trackers_tweet", "trackers_tweetupdate", "trackers_tweetbucket",
    "trackers_tweettext", "trackers_tweettag", "trackers_sourcetweet", "trackers_packedsamples",
    "trackers_gain",
)  # fmt: skip

FILTERED = {
    "all": {},
    "an author": {"author": "1"},
    "@name": {"author": "@PDM_3"},
    "no author": {"author": "nobodyatall"},
    "a source of many": {"source": "1"},
    "a source of one": {"source": "77"},
    "a source, paused": {"source": "1", "state": "paused"},
    "a tag of half": {"tag": "half"},
    "a tag of three": {"tag": "three"},
    **{
        f"state {state}": {"state": state}
        for state in ("fresh", "resting", "paused", "no_money", "missing", "not_found",
                      "unreadable", "gone", "isolated")
    },
    "a language of all": {"lang": "en"},
    "a language nobody wrote": {"lang": "xx"},
    "an hour": {"age": "1h"},
    "before all": {"until": "2011-01-01"},
    "no such figure": {f"min_{metric}": "1000000" for metric in METRICS},
    "a word in every text": {"q": "the"},
    "a word nobody wrote": {"q": "nobodywrotethis"},
    "an author, a language, likes": {"author": "2", "lang": "xx", "min_likes": "5"},
}  # fmt: skip

# 10,000 candidates are looked through, each in up to four tables; and what is shown.
MOST_ROWS = 5 * 10_000
# What was read of a history, with room for the rows around it.
MOST_OF_HISTORY = 2 * SAMPLES + 100
# Since the transaction began.
TOUCHED = """
    SELECT CASE WHEN relname LIKE 'trackers_sample%%' THEN 'samples' ELSE relname END,
           sum(seq_scan), sum(seq_tup_read + coalesce(idx_tup_fetch, 0))
    FROM pg_stat_xact_user_tables
    WHERE relname = ANY(%s) OR relname LIKE 'trackers_sample%%' GROUP BY 1
"""
Touched = namedtuple("Touched", "scans rows")


@pytest.mark.parametrize("mode", MODES)
def test_calls_read_a_bounded_number_of_rows_and_never_a_whole_table(
    capsys, monkeypatch, settings, client, mode
):
    settings.API_RATE_LIMIT, settings.SECURE_SSL_REDIRECT = 0, False
    # What counts here is what is read; how long it takes is the machine's.
    monkeypatch.setattr(search, "SEARCH_TIMEOUT", timedelta(minutes=1))
    fill(TWEETS)
    Source.objects.bulk_create(
        Source(id=id, kind="search", of=f"moon {id}") for id in range(1, 251)
    )
    with cursor() as db:
        for statement in (FILL_BROUGHT, FILL_GAINS, FILL_PACKED, FILL_RECENT):
            given = {"metrics": list(METRICS), "samples": SAMPLES}
            # By hand what it has: with values, a lone % has a meaning.
            some = {name: one for name, one in given.items() if f"%({name})" in statement}
            db.execute(statement, some or None)
        db.execute("ANALYZE")
    program = Program(client, User.objects.create_superuser("ada"))

    seen, took = {}, {}
    for name, path in calls().items():
        began = time.perf_counter()
        # psycopg prepares the third time, and then it is a generic plan.
        for _ in range(1 if mode == "auto" else 4):
            seen[name] = of_call(program, path, mode)
        took[name] = (time.perf_counter() - began) * 1000

    with capsys.disabled():
        print(f"\n{TWEETS:,} tweets, {SAMPLES:,} samples, {mode}; rows read:")
        for name, found in seen.items():
            print(f"{name:42}{took[name]:7.0f} ms {rows_of(found):>7,}")
    scanned = {
        name: tables
        for name, found in seen.items()
        if (tables := [table for table, one in found.items() if one.scans and not is_small(table)])
    }
    assert scanned == {}
    assert {name: one for name, one in seen.items() if rows_of(one) > most_of(name)} == {}


def calls():
    ids = list(Tweet.objects.order_by("-pk").values_list("pk", flat=True)[: TWEETS // 2 + 1])
    deep = Tweet.objects.filter(gone_at=None).order_by("pk").values_list("pk", flat=True)[:6]
    collected = {}
    for name, filters in FILTERED.items():
        query = urlencode(filters)
        collected[name] = f"tweets?limit=200&{query}"
        if len(filters) < 2 and not filters.keys() & {"state", "q"}:
            collected[f"{name}, on"] = f"{collected[name]}&cursor={middle(filters, ids[-1])}"
    first = f"tweets/{deep[0]}"
    return collected | {
        "one": first,
        "history": f"{first}/history?limit=1000",
        "history, buckets": f"{first}/history?bucket=1h",
        "history, many buckets": f"{first}/history?bucket=1m&limit=5000",
        "compare": f"tweets/compare?ids={','.join(map(str, deep))}",
        "leaderboard": "leaderboards/tweets?metric=likes&limit=200",
        "leaderboard by gain": "leaderboards/tweets?metric=views&by=gain&window=24h",
        "left": "tweets/left",
        "sources": "sources?limit=200",
    }


def middle(filters, id):
    given = Filters.model_validate(filters).wanted(User()).address()
    return cursor_of(id, of=f"tweets:{given}")


def of_call(program, path, mode):
    """By table. In one transaction: between two, the counts go to the statistics at any time."""
    with transaction.atomic(), cursor() as db:
        db.execute(f"SET LOCAL plan_cache_mode = {mode}")
        before = touched(db)
        program.get(path)
        assert program.status == 200, path
        after = touched(db)
    none = Touched(0, 0)
    return {
        table: Touched(now.scans - was.scans, now.rows - was.rows)
        for table, now in after.items()
        for was in [before.get(table, none)]
    }


def touched(db):
    rows = db.execute(TOUCHED, (list(GROWING),)).fetchall()
    return {table: Touched(int(scans), int(read)) for table, scans, read in rows}


def is_small(table):
    """Two thousand authors are read as a whole where two hundred are wanted; a million are not."""
    return table == "trackers_author" and TWEETS < 200_000


def rows_of(found):
    return sum(one.rows for one in found.values())


def most_of(name):
    if name.startswith("history"):
        return MOST_OF_HISTORY
    return 6 * MOST_OF_HISTORY if name == "compare" else MOST_ROWS
