"""The world of the feeds' benches: sources, tweets until now, readers, and homes laid out.

The readers follow hundreds of sources. The followers are others: in their homes is what CROWDED
brought, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from tests.timelines.homes.large_homes import SOURCES, fill
from trackers.timelines import homes
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import HomeSettings
from trackers.timelines.settings import home_settings
from trackers.tweets.pack import SAMPLES
from trackers.tweets.snowflake import TWEPOCH_MS
from tweetwatch.database import array, cursor

READERS, FOLLOWERS, CROWD = 2_000, 1_024, 1_000
FIRST_FOLLOWER = 10_001
CROWDED = SOURCES

# Of the newest, which are on the first page of every home.
TEXTS = """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history)
    SELECT id, 'What everybody says about number ' || id || ', in a text of the usual length, '
               'with a few more words behind it. https://t.co/abcdefghij', 'en', '{}'
    FROM (SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT 20000) newest
"""
FIGURES = """
    UPDATE trackers_tweet SET taken_at = now(), measured_until = now(), measurements = 13,
        retweets = 40, replies = 9, likes = 800, quotes = 3, bookmarks = 7, views = 20000
    WHERE id IN (SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT 20000)
"""
SOME_SAMPLES = """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT id, at, at, 1, 40 - n, 9, 800 - 20 * n, 3, 7, 20000 - 300 * n
    FROM (SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT 5000) newest,
         generate_series(1, 12) n,
         LATERAL (SELECT now() - n * interval '20 minutes') t(at)
"""
PEOPLE = (
    "INSERT INTO auth_user (id, username, password, is_superuser, first_name, last_name, email,"
    " is_staff, is_active, date_joined) SELECT n, 'user ' || n, '', false, '', '', '', false,"
    " true, now() FROM generate_series(%(first)s::int, %(last)s::int) n",
    "INSERT INTO trackers_follower (id, user_id, read_at) SELECT n, n, now()"
    " FROM generate_series(%(first)s::int, %(last)s::int) n",
    "INSERT INTO trackers_builthome (follower_id, strategy, shape, floor, total, built_at)"
    " SELECT w, s.key, s.shape, 0, 0, now()"
    " FROM generate_series(%(first)s::int, %(last)s::int) w,"
    " (VALUES ('cache', 0), ('sized', 50), ('timed', 1)) s(key, shape)",
)
UNFOLLOW = "DELETE FROM trackers_follow WHERE origin_id = %(origin)s"
FOLLOW = """
    INSERT INTO trackers_follow (follower_id, origin_id, followed_at)
    SELECT n, %(origin)s, now()
    FROM generate_series(%(first)s::int, %(first)s::int + %(many)s::int - 1) n
"""
NEWEST = "SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT %(many)s"
# To be delivered: newer than all that are there.
NEW_TWEETS = """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
                                missing_reason, measurements)
    SELECT id, 1, now(), now(), '', false, '', 0 FROM unnest(%(ids)s::bigint[]) id
"""


def main(*, tweets: int, readers: int, followers: int, full: int) -> None:
    """`full`: so many tweets are in the home of each follower."""
    now = datetime.now(UTC)
    base = (int(now.timestamp() * 1000) - TWEPOCH_MS - (tweets + 1) * 60_000) << 22
    HomeSettings.objects.get_or_create(pk=1)
    fill(tweets=tweets, followers=readers, analyze=False, base=base)
    for at in (now - timedelta(hours=4), now):
        SAMPLES.make(SAMPLES.covering(at))
    with cursor() as db:
        for statement in (TEXTS, FIGURES, SOME_SAMPLES):
            db.execute(statement, prepare=False)
        for statement in PEOPLE:
            given = {"first": FIRST_FOLLOWER, "last": FIRST_FOLLOWER + followers - 1}
            db.execute(statement, given, prepare=False)
    follow_only(CROWDED, min(CROWD, followers))
    User.objects.update(is_staff=True, is_superuser=True)
    lay_out_full(range(FIRST_FOLLOWER, FIRST_FOLLOWER + followers), full)
    with cursor() as db:
        db.execute("VACUUM ANALYZE", prepare=False)


def follow_only(origin: int, followers: int) -> None:
    """Nobody but so many of the followers follows it."""
    with cursor() as db:
        db.execute(UNFOLLOW, {"origin": origin})
        db.execute(FOLLOW, {"origin": origin, "first": FIRST_FOLLOWER, "many": followers})


def lay_out_full(followers: Sequence[int], full: int) -> None:
    """Homes that hold as much as they do after a while."""
    ids = newest(full)
    for strategy in all_strategies(home_settings()):
        for me in followers:
            strategy.stub(me)
        with transaction.atomic():
            strategy.put(followers, ids)


def newest(many: int) -> list[int]:
    with cursor() as db:
        return [row[0] for row in db.execute(NEWEST, {"many": many})]


def lay_out(readers: list[int]) -> None:
    for me in readers:
        for one in homes.strategies().values():
            one.rebuild(me)


def new_tweets(many: int) -> list[int]:
    [last] = newest(1)
    ids = [last + (n << 22) for n in range(1, many + 1)]
    with cursor() as db:
        db.execute(NEW_TWEETS, {"ids": array(ids)})
    return ids
