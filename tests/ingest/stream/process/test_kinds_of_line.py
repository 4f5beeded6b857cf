"""All kinds of line that X was seen to send, or that its documents name, on one connection."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import id_born
from trackers.ingest.stream.models import Stream
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db(transaction=True)


def lines_for(rule):
    """Ten kinds of line, and the ids of the posts that are of `rule`."""
    made = iter(range(100))

    def post(rules, **fields):
        id = id_born(timezone.now() - timedelta(seconds=2)) + next(made)
        data = {"id": str(id), "text": "words", "author_id": "7", **fields}
        return id, {"data": data, "matching_rules": rules}

    counts = {"retweet_count": 1, "reply_count": 0, "like_count": 2, "quote_count": 0}
    created = (timezone.now() - timedelta(seconds=2)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    ours = [{"id": rule, "tag": "a"}]
    usual = post(ours, public_metrics=counts, created_at=created)
    numbers = post([{"id": int(rule), "tag": None}], public_metrics=counts)
    undated = post(ours, public_metrics=counts, created_at=None)
    with_errors = post(ours, public_metrics=counts)
    with_errors[1]["errors"] = [{"value": "7", "title": "Not Found Error", "parameter": "id"}]
    broken = post(ours, public_metrics=[])
    _, others = post([{"id": "5"}])
    _, without_rules = post([])
    whole = [usual, numbers, undated, with_errors, broken]
    lines = [
        *(json.dumps(message) for _, message in whole),
        json.dumps(others),
        json.dumps(without_rules),
        "",
        '{"data":{"id":"17',
        '["a list"]',
    ]
    return lines, [id for id, _ in whole]


def test_ten_kinds_of_line_are_each_taken_for_what_they_are(stream):
    source = stream.source("#moon")
    stream.synchronise()
    [rule] = [one["id"] for one in stream.ask("GET")["data"]]
    lines, ids = lines_for(rule)
    assert len(lines) == 10
    farewell = json.dumps({"code": 503, "message": "Service unavailable"})
    opened = stream.when_it_opened(
        lambda: stream.x.tell("POST", "stream/send", {"lines": [*lines, farewell]})
    )

    pause = stream.once()
    opened.join()

    assert pause.because == "Service unavailable"
    assert sorted(source.tweets.values_list("tweet_id", flat=True)) == sorted(ids)
    # Without rules, half a line, a list.
    assert Stream.objects.get().garbled == 3
    measured = Tweet.objects.filter(pk__in=ids, likes=2)
    # All but the one whose counts are broken, which is looked up.
    assert measured.count() == len(ids) - 1


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        ("OperationalDisconnect", ""),
        ("UpstreamOperationalDisconnect", ""),
        ("ForceDisconnect", ""),
        ("UpstreamUncleanDisconnect", ""),
        ("SlowReader", "Look at its load"),
        ("InternalError", ""),
        ("ClientApplicationStateDegraded", "Look at the app in"),
        ("InvalidRules", "Look at the app's rules"),
    ],
)
def test_each_disconnect_message_of_x_is_shown_with_its_next_step(stream, kind, step):
    """The eight of OpenAPI 2.166."""
    stream.source("#moon")
    stream.x.tell("POST", "stream/disconnect", {"type": kind, "next": 1})

    pause = stream.once()

    assert pause.because.startswith(f"{kind}: operational-disconnect: This stream has been")
    assert step in pause.because
    assert pause.because.count("Look at") == bool(step)


def test_one_connection_too_many_waits_as_a_limit_does(stream):
    stream.source("#moon")
    farewell = json.dumps({
        "title": "ConnectionException",
        "detail": "This stream is currently at the maximum allowed connection limit.",
        "connection_issue": "TooManyConnections",
        "type": "https://api.x.com/2/problems/streaming-connection",
    })  # fmt: skip
    opened = stream.when_it_opened(
        lambda: stream.x.tell("POST", "stream/send", {"lines": [farewell]})
    )

    pause = stream.once()
    opened.join()

    assert "maximum allowed connection limit" in pause.because
    assert pause.wait >= timedelta(minutes=1)
