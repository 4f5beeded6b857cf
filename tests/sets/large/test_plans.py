"""However many tweets there are, a set's page reads those of the set, by keys.

`SET_TWEETS=1000000 pytest -s` prints what each costs at that size.
"""

import os
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.plans import watched
from trackers.ingest.sources.models import Source
from trackers.rollups.models import RollupKind
from trackers.rollups.update import find_unknown, update_rollups
from trackers.sets import members
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.leaderboards import asked as boards
from trackers.sets.leaderboards import count
from trackers.sets.leaderboards.asked import AskedBoard, read_leaderboard
from trackers.sets.leaderboards.count import count_sets
from trackers.sets.leaderboards.update import LISTED_KINDS, spans_of_hours
from trackers.sets.period_figures import MAX_POSTS, period_figures
from trackers.sets.periods import named_period
from trackers.tweets.tags.models import Tag
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]

TWEETS = int(os.environ.get("SET_TWEETS", "30000"))
# Two months of tweets: an author of a tenth of all, a source and a tag of a fifth, names that are
# rare and frequent; those older than two days have packed checkpoints.
FILL = (
    """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
        missing_reason, taken_at, measured_until, measurements, views)
    SELECT ((ms - 1288834974657) << 22) | (n & 4194303),
           CASE WHEN n %% 10 = 0 THEN 1 ELSE 2 + n %% (%(tweets)s / 50) END,
           to_timestamp(ms / 1000.0), now(), '', false, '', now(), now(), 9, n
    FROM (SELECT n, (extract(epoch FROM now()) * 1000 - 60 * 86400000.0 * n / %(tweets)s)::bigint
                    AS ms FROM generate_series(1, %(tweets)s) n) births
    """,
    """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, kind, hashtags)
    SELECT id, repeat('words ', 20), CASE WHEN views %% 3 = 0 THEN 'de' ELSE 'en' END, '{}',
           3 + id %% 4,
           CASE WHEN views %% (%(tweets)s / 200) = 0 THEN '{rare}'::text[]
                WHEN views %% 5 < 2 THEN '{frequent}'::text[] END
    FROM trackers_tweet
    """,
    """
    INSERT INTO trackers_packedcheckpoints
    SELECT id, of.ages, of.ages, of.ages, of.ages, of.ages, of.ages, of.ages
    FROM trackers_tweet CROSS JOIN (
        SELECT array_agg(age::smallint) AS ages FROM generate_series(1, 14) AS age
    ) of WHERE created_at < now() - interval '2 days'
    """,
    """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT 1, id, now(), false FROM trackers_tweet WHERE views %% 5 = 0
    """,
    """
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT 1, id FROM trackers_tweet WHERE views %% 5 = 1
    """,
    """
    INSERT INTO trackers_benchmark (author_id, kind, made_at, expected, posts)
    SELECT author_id, kind, now(), array_fill(9::real, ARRAY[6, 18]),
           array_fill(9::smallint, ARRAY[6, 18])
    FROM (SELECT DISTINCT author_id FROM trackers_tweet) a CROSS JOIN generate_series(0, 6) kind
    """,
    "ANALYZE trackers_tweet, trackers_tweettext, trackers_packedcheckpoints, trackers_benchmark",
    "ANALYZE trackers_sourcetweet, trackers_tweettag",
)
SETS = {
    "all": ("all", "all"), "author": ("author", "1"), "source": ("source", "1"),
    "tag": ("tag", "1"), "language": ("language", "de"), "view": ("view", "1"),
    "rare hashtag": ("hashtag", "rare"),
    "frequent hashtag": ("hashtag", "frequent"), "unknown hashtag": ("hashtag", "none"),
}  # fmt: skip


@pytest.fixture
def many_tweets():
    Tag.objects.create(id=1, name="launch")
    Source.objects.create(id=1, kind="account", of="vera")
    with cursor() as db:
        for statement in FILL:
            db.execute(statement, {"tweets": TWEETS}, prepare=False)
    return datetime.now(UTC)


@pytest.fixture
def with_rollups(many_tweets):
    find_unknown(now=many_tweets)
    update_rollups(now=many_tweets, deadline=Deadline.after(900))
    with cursor() as db:
        db.execute("ANALYZE trackers_rollup")
    return many_tweets


def test_a_period_of_any_set_is_read_by_keys(with_rollups, monkeypatch):
    period = named_period("30d", ZoneInfo("Asia/Kathmandu"), now=with_rollups)
    with cursor() as db:
        newest = "SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT 3000"
        matches = members.Members([id for (id,) in db.execute(newest)], 0)
    for name, (kind, key) in SETS.items():
        of = TweetSet(SetKind(kind), key, name)

        def read(of=of):
            return period_figures(of, period, age="24h", metric="views", matches=matches)

        read()
        began = time.perf_counter()
        made = read()
        print(f"{name}: {made.this.posts:,} posts, {1000 * (time.perf_counter() - began):.1f} ms")
        assert made.is_summed == (made.this.posts > MAX_POSTS)

        with watched(monkeypatch) as seen:
            read()

        for reach in seen.reached:
            if reach.table.startswith("trackers_checkpoint_"):
                assert reach.rows <= 1
            else:
                assert reach.how != "Seq Scan", reach
                assert reach.rows <= limit_of(reach.statement), reach


def test_a_list_within_a_set_reads_its_posts_by_keys(many_tweets, monkeypatch):
    monkeypatch.setattr(boards, "MAX_POSTS", TWEETS)
    posts = TWEETS // 5
    for kind in LISTED_KINDS:
        asked = AskedBoard(kind, "30d", TweetSet(SetKind.TAG, "1", "launch"))

        def read(asked=asked):
            return read_leaderboard(asked, now=many_tweets)

        read()
        began = time.perf_counter()
        made = read()
        took = 1000 * (time.perf_counter() - began)
        print(f"{kind.name} within {posts:,} posts: {len(made.rows)} rows, {took:.0f} ms")
        assert made.rows or kind in (RollupKind.DOMAIN, RollupKind.SOURCE)

        with watched(monkeypatch) as seen:
            read()

        for reach in seen.reached:
            if reach.table.startswith("trackers_checkpoint_"):
                assert reach.rows <= 1
            else:
                assert reach.how != "Seq Scan", reach
                assert reach.rows <= posts + 1, reach


def test_the_share_above_usual_of_names_reads_so_many_texts(many_tweets, monkeypatch):
    for kind in (RollupKind.HASHTAG, RollupKind.DOMAIN, RollupKind.LANGUAGE):
        monkeypatch.setitem(count.ABOVE, kind, count.above_named(kind, most=2_000))

        with watched(monkeypatch) as seen:
            count_sets(kind, spans_of_hours("30d", many_tweets))

        reached = [
            reach
            for reach in seen.reached
            if reach.table in ("trackers_tweettext", "trackers_score")
        ]
        assert max(reach.rows for reach in reached) == 2_000
        assert all(reach.how != "Seq Scan" for reach in reached)


def limit_of(statement):
    """How many rows of a table it may read."""
    if "named AS" in statement:
        return members.MAX_RARE + 1
    if "places_" in statement:
        return 32 * 96
    return members.STEP if "array_agg" in statement else 2 * MAX_POSTS + 1
