"""However many tweets there are, scores and benchmarks read those that they are about, by key.

`SCORED_TWEETS=1000000 pytest -s` prints what each costs at that size.
"""

import os
import time
from datetime import UTC, datetime

import pytest

from tests.jobs.plans import nodes
from trackers.scores.benchmarks import MAKE, bounds
from trackers.scores.models import Benchmark, BenchmarkAuthor, Score
from trackers.scores.read import OF_TWEETS
from trackers.scores.update import FIND_OUTSTANDING, SCORE
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]

TWEETS = int(os.environ.get("SCORED_TWEETS", "30000"))
AUTHORS = TWEETS // 50
# A month of tweets; a fifth of the authors write most of them.
FILL = (
    """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
        missing_reason, taken_at, measured_until, measurements,
        retweets, replies, likes, quotes, bookmarks, views)
    SELECT ((ms - 1288834974657) << 22) | (n & 4194303), 1 + floor(%(authors)s * random() ^ 3),
           to_timestamp(ms / 1000.0), now(), '', false, '', now(), now(), 9,
           n %% 50, n %% 20, n %% 700, n %% 9, n %% 30, 1000 * (n %% 300)
    FROM (SELECT n, (extract(epoch FROM now()) * 1000 - 31 * 86400000.0 * n / %(tweets)s)::bigint
                    AS ms FROM generate_series(1, %(tweets)s) n) births
    """,
    """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, kind)
    SELECT id, 'words', 'en', '{}', 3 + id %% 4 FROM trackers_tweet
    """,
    """
    INSERT INTO trackers_packedcheckpoints
    SELECT id, of.ages, of.ages, of.ages, of.ages, of.ages, of.ages, of.ages
    FROM trackers_tweet CROSS JOIN LATERAL (
        SELECT array_agg(age::smallint) AS ages FROM generate_series(
            1, trackers_age_place_v1(date_part('epoch', now() - created_at))) AS age
    ) of WHERE of.ages IS NOT NULL
    """,
    "ANALYZE trackers_tweet, trackers_tweettext, trackers_packedcheckpoints",
)


@pytest.fixture
def many_tweets():
    with cursor() as db:
        for statement in FILL:
            db.execute(statement, {"tweets": TWEETS, "authors": AUTHORS}, prepare=False)
    return datetime.now(UTC)


def reached(statement, params, *, name):
    """The nodes that reach tables: (table, how, rows)."""
    began = time.perf_counter()
    with cursor() as db:
        db.execute("SET LOCAL jit = off")
        [[[plan]]] = db.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", params, prepare=False
        ).fetchall()
    took = time.perf_counter() - began
    print(f"{name}: {plan['Execution Time']:.1f} ms, with planning {1000 * took:.1f}")
    return [
        (node["Relation Name"], node["Node Type"], node["Actual Rows"] * node["Actual Loops"])
        for node in nodes(plan["Plan"])
        if "Relation Name" in node and node["Actual Loops"]
    ]


def assert_by_key(touched, *, most):
    for table, how, rows in touched:
        if table not in ("trackers_checkpoint_default",):
            assert how != "Seq Scan", (table, how, rows)
        assert rows <= most, (table, how, rows)


def test_benchmarks_and_scores_read_what_they_are_about(many_tweets):
    now = many_tweets
    with cursor() as db:
        busy = [
            id
            for (id,) in db.execute(
                "SELECT author_id FROM trackers_tweet TABLESAMPLE SYSTEM (5) "
                "GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 100"
            )
        ]
        some = [
            id for (id,) in db.execute("SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT 2000")
        ]
    params = {"authors": sorted(busy), "below": bounds(now), "now": now}
    touched = reached(MAKE, params, name="benchmarks of the 100 who post most")
    # Below each of eight bounds three hundred posts at most.
    assert_by_key(touched, most=100 * 8 * 300)
    assert Benchmark.objects.count() > 100

    with cursor() as db:
        of_all = "INSERT INTO trackers_benchmark SELECT n, b.kind, b.made_at, b.expected, b.posts"
        db.execute(
            f"{of_all} FROM generate_series(1, %(authors)s) n, (SELECT * FROM trackers_benchmark"
            " LIMIT 2) b ON CONFLICT DO NOTHING",
            {"authors": AUTHORS},
        )
        db.execute("ANALYZE trackers_benchmark")
    touched = reached(OF_TWEETS, {"ids": some[:50]}, name="50 tweets")
    assert_by_key(touched, most=100)
    touched = reached(SCORE, {"ids": some, "now": now}, name="scores of 2,000 kept")
    assert_by_key(touched, most=2 * 2000)
    assert Score.objects.exists()


def test_the_highest_are_read_from_an_index(many_tweets):
    now = many_tweets
    with cursor() as db:
        db.execute(
            "INSERT INTO trackers_score (tweet_id, at, views, likes, retweets)"
            " SELECT id, now(), id % 97 - 85, id % 41 - 35, 0 FROM trackers_tweet",
            prepare=False,
        )
        db.execute("ANALYZE trackers_score")
    since = first_id_at(int(now.timestamp() * 1000) - 7 * 86_400_000)

    touched = reached(FIND_OUTSTANDING, {"since": since, "most": 100}, name="those that stand out")

    assert {how for _, how, _ in touched} <= {"Index Scan", "Index Only Scan"}
    assert sum(rows for *_, rows in touched) <= 300


def test_an_author_that_is_due_is_read_from_an_index():
    BenchmarkAuthor.objects.bulk_create(BenchmarkAuthor(author_id=n) for n in range(3000))
    with cursor() as db:
        db.execute("ANALYZE trackers_benchmarkauthor")
        rows = db.execute(
            "EXPLAIN SELECT author_id FROM trackers_benchmarkauthor WHERE due_at <= now()"
            " ORDER BY due_at LIMIT 100"
        ).fetchall()

    assert "benchmark_due" in "\n".join(row for (row,) in rows)
