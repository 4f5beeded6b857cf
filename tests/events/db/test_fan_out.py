"""What is told comes to those who subscribe: once, in order, in batches."""

from tests.events.conftest import books, fanned_out, line, news, subscriber
from tests.factories import TweetFactory
from trackers.events.fan_out import fan_out
from trackers.events.models import EventBatch
from trackers.events.subscribers import acts
from trackers.history import by_command
from trackers.outbox.models import Event, Staged, Topic
from trackers.outbox.publish import NewEvent, publish_events
from trackers.schedule import tweet_changes

AN_HOUR_MS = 3_600_000


def test_each_event_reaches_every_subscriber_of_its_topic_and_no_other():
    first, two = subscriber("one", timeout_ms=AN_HOUR_MS), subscriber("two", timeout_ms=AN_HOUR_MS)
    other = subscriber("other", ["sports"])

    fanned_out(1, 2)
    fanned_out(3)

    assert line(first) == line(two) == [("current", 1, 2, 3)]
    assert line(other) == []
    assert books("one") == (3, 0, 0, 3)
    assert Topic.objects.get(name="news").events == 3
    assert not Staged.objects.exists()


def test_events_wait_for_their_commit_and_not_for_subscribers():
    subscriber()
    news(1, 2, 3)

    assert Event.objects.count() == 3
    assert not EventBatch.objects.exists()
    assert fan_out() == 1
    assert fan_out() == 0


def test_events_are_cut_into_full_batches_in_order_and_the_rest_stays_open():
    shop = subscriber(max_events=3, timeout_ms=AN_HOUR_MS)

    fanned_out(1, 2)
    first = EventBatch.objects.get()
    fanned_out(3, 4, 5, 6, 7)

    assert line(shop) == [("ready", 1, 2, 3), ("ready", 4, 5, 6), ("current", 7)]
    # What is current now is all new, and waits as long as anything new does.
    assert EventBatch.objects.get(is_current=True).deadline > first.deadline

    fanned_out(8, 9)
    assert line(shop)[2:] == [("ready", 7, 8, 9)]
    fanned_out(10)
    assert line(shop)[3:] == [("current", 10)]
    assert books() == (10, 0, 0, 10)


def test_the_first_event_of_a_batch_sets_its_deadline():
    subscriber(timeout_ms=AN_HOUR_MS)
    fanned_out(1)
    deadline = EventBatch.objects.get().deadline

    fanned_out(2)

    assert EventBatch.objects.get().deadline == deadline


def of_tweet(tweet, type="update", figures=None):
    publish_events([NewEvent("tweets", type, tweet_id=tweet.pk)])
    if figures:
        newest = Event.objects.order_by("-id").values_list("id", flat=True)[0]
        Event.objects.filter(id=newest).update(figures=[0] * 6 + figures)


def test_of_several_changes_of_a_tweet_in_a_batch_the_newest_is_kept():
    shop = subscriber("one", ["tweets"], timeout_ms=AN_HOUR_MS)
    each = subscriber("each", ["tweets"], timeout_ms=AN_HOUR_MS, newest_only=False)
    tweet, other = TweetFactory(), TweetFactory()

    of_tweet(tweet, "create")
    of_tweet(tweet)
    of_tweet(other)
    fan_out()
    of_tweet(tweet)
    of_tweet(tweet)
    fan_out()

    ids = list(Event.objects.order_by("id").values_list("id", flat=True))
    first, _old, others, _older, newest = ids
    assert EventBatch.objects.get(subscriber=shop).events == [first, others, newest]
    assert EventBatch.objects.get(subscriber=each).events == ids
    assert books("one") == (3, 0, 0, 3)
    assert books("each") == (5, 0, 0, 5)


def test_filters_select_by_author_source_and_metric():
    tweet, other = TweetFactory(), TweetFactory(author_id=7)
    wants = {
        "author": {"authors": [7]},
        "likes": {"metric": "likes", "at_least": 100},
        "nothing": {"sources": [77]},
    }
    made = {
        name: subscriber(name, ["tweets"], timeout_ms=AN_HOUR_MS, **knobs)
        for name, knobs in wants.items()
    }

    of_tweet(tweet, figures=[0, 0, 100, 0, 0, 0])
    of_tweet(other, figures=[0, 500, 99, 0, 0, 0])
    fan_out()

    liked, others = Event.objects.order_by("id").values_list("id", flat=True)
    got = {
        name: list(EventBatch.objects.filter(subscriber=one).values_list("events", flat=True))
        for name, one in made.items()
    }
    assert got == {"author": [[others]], "likes": [[liked]], "nothing": []}


def test_our_own_topics_are_recorded_only_with_subscribers():
    tweet = TweetFactory()
    of_tweet(tweet)
    assert not Event.objects.exists()

    shop = subscriber("one", ["tweets"])
    of_tweet(tweet)
    assert Event.objects.count() == 1

    acts.remove(shop, by_command())
    of_tweet(tweet)
    assert Event.objects.count() == 1


def test_a_new_subscriber_gets_later_events_and_a_leaving_one_earlier_events():
    shop = subscriber("one", timeout_ms=AN_HOUR_MS)
    news(1)
    late = subscriber("late", timeout_ms=AN_HOUR_MS)
    news(2)
    acts.leave_topic(shop, Topic.objects.get(name="news"), by_command())
    news(3)
    fan_out()

    assert line(shop) == [("current", 1, 2)]
    assert line(late) == [("current", 2, 3)]


def test_removing_a_subscriber_drops_and_counts_its_waiting_events():
    shop = subscriber(timeout_ms=AN_HOUR_MS)
    fanned_out(1, 2)
    news(3)

    assert acts.remove(shop, by_command()).count == 3

    assert not EventBatch.objects.exists()
    shop.state.refresh_from_db()
    assert (shop.state.added, shop.state.dropped) == (3, 3)


def test_the_deletion_of_an_untracked_tweet_passes_author_and_source_filters():
    by = {"author": {"authors": [7]}, "source": {"sources": [77]}}
    made = [subscriber(name, ["tweets"], timeout_ms=AN_HOUR_MS, **how) for name, how in by.items()]
    of_tweet(TweetFactory(), "delete")
    fan_out()
    assert [one.batches.count() for one in made] == [0, 0]

    tweet_changes.untrack_tweets([TweetFactory().pk])
    fan_out()

    assert [one.batches.get().events for one in made] == [[Event.objects.latest("id").id]] * 2
