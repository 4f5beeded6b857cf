"""The demo's tweets have a past that the fake X might have told, and that its answers continue."""

from datetime import timedelta

from django.utils import timezone

from fakex.world.traits import DELETED, TROUBLED
from trackers.ingest.files.track_lines import track_lines
from trackers.management.demo_history import WEEK, posted_at, record_past_week
from trackers.management.demo_scene import world_of
from trackers.schedule import intervals
from trackers.tweets.history import histories
from trackers.tweets.models import Tweet
from trackers.xapi.results import Figures

TWEETS = 300


def test_the_demo_records_a_week_of_look_ups_as_the_intervals_plan_them():
    now = timezone.now()
    options = {"seed": 7, "tweets": TWEETS, "clock_speed": 1.0}
    world = world_of(options, start_ms=int(now.timestamp() * 1000))
    ids = list(world.ids.between(0, TWEETS))
    track_lines(map(str, ids), came_from="the demo")

    looks = record_past_week(world, ids, intervals.current()[1], now=now)

    runs = histories(ids)
    assert sum(run.measurements for run in runs) == looks > 10 * TWEETS
    for run in runs:
        tweet = world.traits(run.tweet_id)
        assert max(posted_at(tweet), now - WEEK) < run.taken_at <= run.measured_until < now
        for at in (run.taken_at, run.measured_until):
            age_ms = (at - posted_at(tweet)) / timedelta(milliseconds=1)
            assert run[4:] == Figures(*world.count(tweet, age_ms))
            assert not tweet.flags & DELETED or age_ms < tweet.turn_ms
    first = {run.tweet_id: run.taken_at for run in reversed(runs)}
    tracked = dict(Tweet.objects.filter(pk__in=first).values_list("pk", "tracked_at"))
    assert tracked == first
    authors = dict(Tweet.objects.filter(pk__in=first).values_list("pk", "author_id"))
    assert authors == {id: world.people[world.traits(id).author].id for id in first}
    # What has a time of creation counts as described, and its text would never be stored.
    assert not Tweet.objects.exclude(created_at=None).exists()
    hidden = [id for id in ids if world.traits(id).flags & TROUBLED]
    assert hidden
    assert not first.keys() & set(hidden)
