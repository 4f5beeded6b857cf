"""What a batch looks like to those who get it."""

import json

import pytest

from trackers.events.delivery.formats import CLOUDEVENTS, ROUTEMASTER, EventRow, Shape, time_of
from trackers.events.delivery.post import signed

US = "https://watch.example"
CHANGE = EventRow(7, "tweets", "update", 1_700_000_000_123, 42, None, [*range(12)], None, None)
UNKNOWN = EventRow(8, "tweets", "create", 5, 43, None, [None] * 12, None, None)
CROSSING = EventRow(
    9, "milestones", "create", 6, 44, None, None, '{"metric": "likes", "at": 1000}', None
)
THEIRS = EventRow(10, "orders", "noop", 7, None, "https://shop.example/1", None, None, None)


def body(*events, format=ROUTEMASTER, with_data=False):
    return json.loads(Shape(format, with_data, US).body_of(events))


def test_thin_events_have_the_form_of_routemaster():
    assert body(CHANGE, CROSSING, THEIRS) == [
        {
            "topic": "tweets",
            "type": "update",
            "url": f"{US}/api/v1/tweets/42",
            "t": 1_700_000_000_123,
        },
        {
            "topic": "milestones",
            "type": "create",
            "url": f"{US}/api/v1/tweets/44",
            "t": 6,
            "data": {"metric": "likes", "at": 1000},
        },
        {"topic": "orders", "type": "noop", "url": "https://shop.example/1", "t": 7},
    ]
    assert Shape(ROUTEMASTER, False, US).content_type == "application/json"


# What the drain of Routemaster (3.7.2, on Ruby 3.1) and the listener of its Go client answered with
# 204 and 200 when `deliver` sent it to them: each event has these four, `t` is a whole number, and
# what else there is stands in `data`.
TAKEN = (
    b'[{"topic":"tweets","type":"update","url":"https://watch.example/api/v1/tweets/42",'
    b'"t":1700000000123,"data":{"retweets":6,"replies":7,"likes":8,"quotes":9,"bookmarks":10,'
    b'"views":11,"before":{"retweets":0,"replies":1,"likes":2,"quotes":3,"bookmarks":4,'
    b'"views":5}}},'
    b'{"topic":"milestones","type":"create","url":"https://watch.example/api/v1/tweets/44","t":6,'
    b'"data":{"metric": "likes", "at": 1000}},'
    b'{"topic":"orders","type":"noop","url":"https://shop.example/1","t":7}]'
)


def test_the_body_is_byte_for_byte_that_of_the_published_receivers():
    assert Shape(ROUTEMASTER, True, US).body_of([CHANGE, CROSSING, THEIRS]) == TAKEN


def test_metrics_are_included_on_request():
    changed, unknown, theirs = body(CHANGE, UNKNOWN, THEIRS, with_data=True)

    names = ["retweets", "replies", "likes", "quotes", "bookmarks", "views"]
    assert changed["data"] == {
        **dict(zip(names, range(6, 12), strict=True)),
        "before": dict(zip(names, range(6), strict=True)),
    }
    assert set(unknown["data"]["before"].values()) == {None}
    assert "data" not in theirs


def test_scores_of_the_last_age_come_with_the_metrics():
    scored = CHANGE._replace(scores=[None, None, 7.909, None, None, -2.0])

    [changed] = body(scored, with_data=True)
    [bare] = body(scored)

    assert changed["data"]["scores"] == {"likes": 7.91, "views": -2.0}
    assert "data" not in bare


def test_a_cloudevents_batch_conforms_to_the_standard():
    changed, theirs = body(CHANGE, THEIRS, format=CLOUDEVENTS)

    assert changed == {
        "specversion": "1.0",
        "id": "7",
        "source": US,
        "type": "tweets.update",
        "subject": "42",
        "time": "2023-11-14T22:13:20.123Z",
        "datacontenttype": "application/json",
        "data": {"url": f"{US}/api/v1/tweets/42", "t": 1_700_000_000_123},
    }
    assert "subject" not in theirs
    assert Shape(CLOUDEVENTS, False, US).content_type.startswith(
        "application/cloudevents-batch+json"
    )


@pytest.mark.parametrize("t", [2**62, -(2**62), 10**15])
def test_a_time_beyond_the_calendar_is_left_out(t):
    assert time_of(t) is None


@pytest.mark.parametrize(("url", "told"), [(None, f"{US}/"), ("/sources/3/", f"{US}/sources/3/")])
def test_every_event_has_a_url(url, told):
    [one] = body(EventRow(1, "sources", "update", 1, None, url, None, None, None))

    assert one["url"] == told


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="never sent"):
        Shape(ROUTEMASTER, False, US).body_of([])


def test_the_signature_equals_the_example_of_the_standard():
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        at=1614265330,
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
