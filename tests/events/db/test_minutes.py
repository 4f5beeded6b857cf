"""The last hour by the minute: what was published, and what was delivered."""

from datetime import timedelta

from django.utils import timezone

from tests.events.conftest import deliver, fanned_out, news, subscriber, take
from trackers.events.fan_out import fan_out
from trackers.events.minutes import (
    MINUTES_SHOWN,
    Hour,
    hours_of_subscribers,
    hours_of_topics,
    prune_event_minutes,
)
from trackers.events.models import SubscriberMinute, TopicMinute
from trackers.outbox.models import Topic

A_MINUTE = timedelta(minutes=1)


def test_fan_out_counts_published_and_delivery_counts_arrived_events():
    shop = subscriber(max_events=2)
    news(1, 2, 3)
    news(4)
    while fan_out():
        pass
    fanned_out(5)
    deliver(take()[:1])
    deliver(take(), delivered=False)

    [published] = hours_of_topics().values()
    [delivered] = hours_of_subscribers().values()

    assert (published.events, delivered.events) == (5, 2)
    assert hours_of_subscribers(shop.pk) == hours_of_subscribers()
    assert hours_of_subscribers(shop.pk + 1) == {}
    # A row for the topic and one for the subscriber, or two when a minute began meanwhile.
    assert 2 <= TopicMinute.objects.count() + SubscriberMinute.objects.count() <= 4


def test_the_hour_has_sixty_minutes_including_the_running_one():
    subscriber()
    topic = Topic.objects.get(name="news").pk
    now = timezone.now().replace(second=0, microsecond=0)
    for ago, events in ((0, 7), (1, 10), (5, 15), (6, 1000), (59, 3), (75, 1)):
        TopicMinute.objects.create(topic_id=topic, minute=now - ago * A_MINUTE, events=events)

    hour = hours_of_topics()[topic]

    assert (len(hour.minutes), hour.events) in {(MINUTES_SHOWN, 1035), (MINUTES_SHOWN, 1032)}
    prune_event_minutes()
    assert TopicMinute.objects.count() == 5


def test_the_rate_is_the_mean_of_the_last_five_full_minutes():
    minutes = (*[0] * 53, 1000, 15, 0, 0, 0, 10, 7)

    assert Hour(minutes).per_minute == 5
    assert Hour().per_minute == 0
