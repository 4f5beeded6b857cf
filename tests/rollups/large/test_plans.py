"""However many tweets there are, a piece reads the quarters that it is about, by ranges of keys.

`ROLLED_UP_TWEETS=1000000 pytest -s` prints what each costs at that size.
"""

import os
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.jobs.plans import nodes
from tests.plans import watched
from trackers.rollups import read, recount, update
from trackers.rollups.audit import TAKE_OLDEST
from trackers.rollups.models import Rollup, RollupKind, RollupQuarter
from trackers.rollups.recount import first_id_of
from trackers.rollups.update import FIND_UNKNOWN, TAKE_DUE, update_rollups
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1800)]

TWEETS = int(os.environ.get("ROLLED_UP_TWEETS", "60000"))
DAY = timedelta(days=1)
# A month of tweets; a fifth of the authors write most of them.
FILL = (
    """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
        missing_reason, taken_at, measured_until, measurements)
    SELECT ((ms - 1288834974657) << 22) | (n & 4194303), 1 + floor(%(authors)s * random() ^ 3),
           to_timestamp(ms / 1000.0), now(), '', false, '', now(), now(), 9
    FROM (SELECT n, (extract(epoch FROM now()) * 1000 - 31 * 86400000.0 * n / %(tweets)s)::bigint
                    AS ms FROM generate_series(1, %(tweets)s) n) births
    """,
    """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, kind, hashtags, domains)
    SELECT id, 'words', (ARRAY['en', 'en', 'en', 'fr', 'de', 'ja'])[1 + id %% 6], '{}', 3 + id %% 4,
           CASE WHEN id %% 3 = 0 THEN ARRAY['h' || floor(5000 * random() ^ 3),
                                            'g' || floor(5000 * random() ^ 3)] END,
           CASE WHEN id %% 4 = 0 THEN ARRAY['d' || floor(2000 * random() ^ 3) || '.com'] END
    FROM trackers_tweet
    """,
    """
    INSERT INTO trackers_packedcheckpoints
    SELECT id, of.ages, of.counts, of.counts, of.counts, of.counts, of.counts, of.counts
    FROM trackers_tweet CROSS JOIN LATERAL (
        SELECT array_agg(age::smallint) AS ages,
               array_agg((age * 10 * exp(id %% 90 / 10.0))::int) AS counts
        FROM generate_series(
            1, trackers_age_place_v1(date_part('epoch', now() - created_at))) AS age
    ) of WHERE of.ages IS NOT NULL
    """,
    """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT %(source)s, id, now(), false FROM trackers_tweet WHERE id %% 10 < 9
    """,
    """
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT %(tag)s, id FROM trackers_tweet WHERE id %% 10 = 5
    """,
    """ANALYZE trackers_tweet, trackers_tweettext, trackers_packedcheckpoints,
               trackers_sourcetweet, trackers_tweettag""",
)


@pytest.fixture
def many_tweets():
    from trackers.ingest.sources.models import Source
    from trackers.tweets.tags.models import Tag

    params = {
        "tweets": TWEETS, "authors": TWEETS // 50,
        "source": Source.objects.create(kind="account", of="nasa").pk,
        "tag": Tag.objects.create(name="space").pk,
    }  # fmt: skip
    with cursor() as db:
        for statement in FILL:
            db.execute(statement, params, prepare=False)
    return datetime.now(UTC)


def reached(statement, params, *, name, settings=()):
    """The nodes that reach tables: (table, how, rows)."""
    with cursor() as db:
        for choice in ("SET LOCAL jit = off", *settings):
            db.execute(choice)
        [[[plan]]] = db.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", params, prepare=False
        ).fetchall()
        for choice in recount.PLANNED_AS_USUAL:
            db.execute(choice)
    print(f"{name}: {plan['Execution Time']:.1f} ms")
    return [
        (node["Relation Name"], node["Node Type"], node["Actual Rows"] * node["Actual Loops"])
        for node in nodes(plan["Plan"])
        if "Relation Name" in node and node["Actual Loops"]
    ]


def timed(name, act):
    began = time.perf_counter()
    result = act()
    print(f"{name}: {1000 * (time.perf_counter() - began):.1f} ms")
    return result


def test_a_recount_reads_its_quarters_alone(many_tweets):
    now = many_tweets
    touched = reached(FIND_UNKNOWN, {"since": 0, "now": now}, name="quarters with tweets")
    assert {how for table, how, _ in touched if table == "trackers_tweet"} == {"Index Only Scan"}
    quarters = RollupQuarter.objects.count()
    assert 2970 <= quarters <= 2980
    assert sum(rows for *_, rows in touched) <= quarters + 2

    some = list(
        RollupQuarter.objects.order_by("-quarter").values_list("quarter", flat=True)[99:110]
    )
    params = {
        "quarters": some, "now": now, "first": [first_id_of(q) for q in some],
        "beyond": [first_id_of(q + 1) for q in some],
    }  # fmt: skip
    posts = Tweet.objects.filter(id__gte=min(params["first"]), id__lt=max(params["beyond"])).count()
    touched = reached(
        recount.RECOUNT, params, name=f"{posts} posts", settings=recount.PLANNED_FOR_RANGES
    )
    for table, how, rows in touched:
        if table != "trackers_checkpoint_default":
            assert how != "Seq Scan", (table, how, rows)
        assert rows <= 8 * posts, (table, how, rows)

    worked = timed(f"all {TWEETS}", lambda: update_rollups(now=now, deadline=Deadline.after(1800)))
    # What was found without a mark of it may have been lost: all are counted.
    assert worked.rows == quarters
    with cursor() as db:
        db.execute("ANALYZE trackers_rollup, trackers_rollupquarter")
        [size] = db.execute(
            "SELECT pg_size_pretty(pg_total_relation_size('trackers_rollup')) || ', ' ||"
            " pg_size_pretty(pg_relation_size('trackers_rollup'))"
        ).fetchone()
    print(f"{Rollup.objects.count()} rollups, {size}")
    timed("again", lambda: recount.recount(some, now=now))
    for statement, params in (
        (TAKE_DUE, {"now": now, "longest": timedelta(minutes=15)}), (TAKE_OLDEST, {"before": now})
    ):  # fmt: skip
        assert {how for _, how, _ in reached(statement, params, name="next")} <= {"Index Scan"}
    assert not update_rollups(now=now, deadline=Deadline.after(60)).rows


def test_a_set_is_read_from_its_index(many_tweets, monkeypatch):
    now = many_tweets
    days = list(pairwise(now - n * DAY for n in range(30, -1, -1)))
    with cursor() as db:
        db.execute("SELECT 1")
    update_rollups(now=now, deadline=Deadline.after(1800))
    with cursor() as db:
        db.execute("ANALYZE trackers_rollup")
    for kind, key in (
        (RollupKind.ALL, "all"),
        (RollupKind.AUTHOR, "1"),
        (RollupKind.LANGUAGE, "en"),
    ):
        with watched(monkeypatch) as seen:
            read.sums(kind, key, days, DAY)
            read.median(kind, key, now - 30 * DAY, now, DAY, "views")
        touched = [one for one in seen.reached if one.table == "trackers_rollup"]
        assert {one.how for one in touched} <= {"Index Scan", "Bitmap Heap Scan"}
        assert len(touched) == 4  # two statements in two modes
        assert all(one.rows <= 2880 for one in touched)
    rows = timed("read", lambda: read.sums(RollupKind.ALL, "all", days, DAY))
    assert sum(row.posts for row in rows) == pytest.approx(TWEETS * 30 / 31, rel=0.01)
    assert read.median(RollupKind.ALL, "all", now - 30 * DAY, now, DAY, "views") > 0
    assert update.WORK
