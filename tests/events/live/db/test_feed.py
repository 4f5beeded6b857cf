"""What is in the live feed: while somebody watches, for an hour, and by which filters."""

import pytest
from django.utils import timezone

from tests.events.conftest import news, subscriber
from tests.events.live.conftest import Reader, run, watch
from tests.factories import TweetFactory
from trackers.events.fan_out import fan_out
from trackers.events.live.cursor import Cursor
from trackers.events.live.models import LiveEvents
from trackers.events.live.read import Wanted, first_read, newest_events, read_on
from trackers.events.live.watch import FEED_KEPT_FOR, prune_feed
from trackers.outbox.models import Event, Staged, Topic
from trackers.outbox.publish import NewEvent, publish_events
from trackers.tweets.models import Author
from tweetwatch.pieces import Deadline


@pytest.fixture(autouse=True)
def _topic(db):
    Topic.objects.create(name="news", publisher="somebody")


def test_topics_without_watchers_are_not_recorded():
    publish_events([NewEvent("tweets", "create", tweet_id=5)])
    assert not Event.objects.exists()

    # Somebody subscribes, and nobody watches: it is delivered, and not in the feed.
    subscriber(topics=["tweets"])
    publish_events([NewEvent("tweets", "create", tweet_id=5)])
    fan_out()

    assert Event.objects.count() == 1
    assert not LiveEvents.objects.exists()


def test_watching_records_a_topic_until_some_time_after_the_last_read():
    watch("tweets")
    publish_events(
        [NewEvent("tweets", "create", tweet_id=5), NewEvent("milestones", "create", tweet_id=5)]
    )
    assert [one.topic.name for one in Event.objects.all()] == ["tweets"]

    run("UPDATE trackers_topic SET watched_until = now() - interval '1 s'")
    publish_events([NewEvent("tweets", "update", tweet_id=5)])

    assert Event.objects.count() == 1


def test_reading_renews_the_watch_at_most_once_a_minute():
    watch("news")
    [until] = Topic.objects.filter(name="news").values_list("watched_until", flat=True)

    watch("news")
    assert Topic.objects.get(name="news").watched_until == until

    run("UPDATE trackers_topic SET watched_until = watched_until - interval '2 minutes'")
    watch("news")
    assert Topic.objects.get(name="news").watched_until >= until
    # It was watched all the time: no mark, so nobody is told of a gap.
    assert LiveEvents.objects.count() == 1


def test_a_reader_returning_after_an_unwatched_time_gets_a_gap_with_its_end():
    reader = Reader("news")
    news(1)
    reader.read()
    run("UPDATE trackers_topic SET watched_until = now() - interval '1 s'")
    news(2)
    fan_out()

    before = timezone.now()
    back = Reader("news", after=reader.at)
    news(3)

    assert back.read() == [3]
    [gap] = back.gaps
    assert before <= gap.kept_since <= timezone.now()


def test_a_reader_away_longer_than_events_are_kept_resumes_at_the_oldest():
    reader = Reader("news")
    for number in range(1, 6):
        news(number)
        fan_out()
    first = LiveEvents.objects.order_by("place")[1].place
    run(
        f"UPDATE trackers_liveevents SET spread_at = spread_at - interval '{FEED_KEPT_FOR}' "
        "WHERE place <= (SELECT place FROM trackers_liveevents ORDER BY place OFFSET 3 LIMIT 1)"
    )

    prune_feed(deadline=Deadline.after(60))

    back = Reader("news", after=Cursor(first))
    assert (back.read(), len(back.gaps)) == ([3, 4, 5], 1)
    oldest = LiveEvents.objects.order_by("place").first()
    assert back.gaps[0].kept_since == oldest.spread_at
    # Who had read all that is gone misses nothing, and is told of nothing.
    in_time = Reader("news", after=Cursor(oldest.place + 1))
    assert (in_time.read(), in_time.gaps) == ([4, 5], [])
    assert reader.read() == [1, 2, 3, 4, 5][2:]


def test_pruning_keeps_the_place_of_readers_without_new_events():
    reader = Reader("news")
    news(1)
    reader.read()
    run(f"UPDATE trackers_liveevents SET spread_at = spread_at - interval '{3 * FEED_KEPT_FOR}'")

    prune_feed(deadline=Deadline.after(60))
    news(2)

    back = Reader("news", after=reader.at)
    assert (back.read(), back.gaps) == ([2], [])


def test_a_cursor_that_was_never_issued_is_a_gap():
    Reader("news")

    back = Reader("news", after=Cursor(2**60))
    news(1)

    assert (back.read(), len(back.gaps)) == ([1], 1)


def test_events_of_one_subscriber_alone_are_not_live_events():
    reader = Reader("news")
    news(1)
    fan_out()
    run("INSERT INTO trackers_staged (received_at, events, only_for)"
        " SELECT received_at, ARRAY[id], 7 FROM trackers_event")  # fmt: skip

    assert reader.read() == [1]
    assert not Staged.objects.exists()


def test_live_filters_equal_those_of_the_bus():
    ada, bob = Author.objects.create(id=1), Author.objects.create(id=2)
    mine, other = TweetFactory(author=ada), TweetFactory(author=bob)
    topics = watch("tweets").topics
    start = first_read(None).reached
    publish_events([NewEvent("tweets", "update", tweet_id=one.pk) for one in (mine, other)])
    publish_events([NewEvent("tweets", "delete", tweet_id=5)])
    fan_out()

    def filtered(**given):
        return [one.tweet_id for _, one in read_on(start, Wanted(topics, **given)).events]

    assert filtered() == [mine.pk, other.pk, 5]
    assert filtered(author=ada.pk) == [mine.pk, 5]
    assert filtered(source=7) == [5]


def test_the_newest_events_are_read_backwards_down_to_a_cursor():
    reader = Reader("news")
    start = reader.at
    for number in range(1, 4):
        news(10 * number, 10 * number + 1)
        fan_out()
    reader.read()

    def numbers(after):
        return [int(told.url.rsplit("/", 1)[1]) for _, told in newest_events(after, reader.wanted)]

    assert numbers(start) == [31, 30, 21, 20, 11, 10]
    [(_, _), (behind, _), *_] = newest_events(start, reader.wanted)
    assert numbers(behind) == [31]
    assert numbers(reader.at) == []
