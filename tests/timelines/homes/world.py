"""Sources that yield, followers who follow, and homes that must be the same by each strategy."""

from itertools import count

from django.contrib.auth import get_user_model
from django.db import transaction

from tests.factories import post
from trackers.arrivals.arrive import arrive
from trackers.arrivals.models import TimelineDelivery
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources.models import Source
from trackers.ingest.track import track_chunk
from trackers.jobs import queue
from trackers.timelines import deliver, homes
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import Follower, HomeSettings
from trackers.timelines.settings import home_settings, save_home_settings
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import array, cursor

DAY = 86_400_000 << 22
# 2026-11-01, at midnight.
BASE = (1_793_491_200_000 - 1_288_834_974_657) << 22
NUMBERS = count(1)

YIELD = """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT %(source)s, id, now(), false FROM unnest(%(ids)s::bigint[]) AS id
    ON CONFLICT DO NOTHING RETURNING tweet_id
"""


def tweet(day, n=0):
    """The id of a tweet of that day, with a time of its own."""
    return BASE + day * DAY + (n << 22)


def source(of=""):
    return Source.objects.create(kind="search", of=of or f"words {next(NUMBERS)}").pk


def follower():
    user = get_user_model().objects.create(username=f"follower {next(NUMBERS)}")
    return Follower.objects.create(user=user).pk


def store(source_id, ids, *, author=None, described=True):
    """As each of the three ways in stores what a source yielded, in the caller's transaction."""
    collected = [
        FoundTweet(id, post(id, author_id=author or 7) if described else None) for id in sorted(ids)
    ]
    Source.objects.select_for_update(no_key=True).get(pk=source_id)
    tracked = track_chunk(collected, came_from="", learns=False)
    with cursor() as db:
        given = {"source": source_id, "ids": array(sorted(ids))}
        new = [row[0] for row in db.execute(YIELD, given)]
    arrive(((source_id, id) for id in new), described=tracked.described)


def bring(source_id, *ids, author=None, described=True):
    with transaction.atomic():
        store(source_id, ids, author=author, described=described)


def deliver_all():
    """What the workers do, until nothing is left."""
    done = []
    while batch := queue.get(TimelineDelivery.queue, 10):
        done += deliver.deliver(batch)
    return done


def configure(**changes):
    settings = HomeSettings.objects.filter(pk=1).first() or HomeSettings(pk=1)
    for name, value in changes.items():
        setattr(settings, name, value)
    save_home_settings(settings)


def built(follower_id, *keys):
    """The strategies, with this home laid out by each."""
    known = homes.strategies()
    for key in keys or known:
        known[key].rebuild(follower_id)
    return {key: known[key] for key in keys or known}


def pages(strategy, follower_id, *, limit=3):
    """The home from top to end, page by page, and back to the top."""
    page = strategy.page(follower_id, limit=limit)
    down = [page.ids]
    while page.older is not None:
        page = strategy.page(follower_id, limit=limit, before=page.older)
        down.append(page.ids)
    up = []
    anchor = 0
    while anchor is not None:
        page = strategy.page(follower_id, limit=limit, after=anchor)
        up.append(page.ids)
        anchor = page.newer
    return [id for ids in down for id in ids], [id for ids in reversed(up) for id in ids]


def assert_same(follower_id, *, limit=3):
    """Each strategy shows the home that is read from the sources."""
    known = homes.strategies()
    expected = pages(known["read"], follower_id, limit=limit)
    assert expected[0] == expected[1]
    assert expected[0] == sorted(set(expected[0]), reverse=True)
    for key, strategy in known.items():
        assert pages(strategy, follower_id, limit=limit) == expected, key
    return expected[0]


def assert_laid_out(follower_id):
    """What is laid out is the home down to its floor by itself, but for what is not delivered."""
    home, looked_at = set(pages(homes.strategies()["read"], follower_id, limit=100)[0]), 0
    for strategy in all_strategies(home_settings()):
        progress = strategy.progress(follower_id)
        state = progress.state
        if state is None or progress.undelivered:
            continue
        looked_at += 1
        everything = strategy.older(follower_id, LARGEST_ID, state.floor, 5_000)
        assert {id for id in home if id >= state.floor} <= set(everything), strategy.key
        assert everything == sorted(set(everything), reverse=True), strategy.key
        assert strategy.newer(follower_id, state.floor - 1, 5_000) == everything[::-1], strategy.key
    return looked_at
