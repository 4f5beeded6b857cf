"""X hangs up with words as soon as the stream is open, again and again."""

import pytest

pytestmark = pytest.mark.django_db

CONNECT = "GET /2/tweets/search/stream"


def seconds(pauses):
    return [pause.wait.total_seconds() for pause in pauses]


def test_connections_that_only_get_a_disconnect_message_back_off(stream):
    stream.source("#moon")
    stream.x.tell("POST", "stream/disconnect", {"type": "ForceDisconnect", "next": 5})

    pauses = [stream.once() for _ in range(5)]

    for wait, least in zip(seconds(pauses), (5, 10, 20, 40, 80), strict=True):
        assert least <= wait <= 1.25 * least
    assert {pause.because.partition(":")[0] for pause in pauses} == {"ForceDisconnect"}
    assert len(stream.asked(CONNECT)) == 5


def test_a_disconnect_message_after_posts_starts_the_network_backoff(stream):
    stream.source("#moon")
    stream.x.tell("POST", "stream/disconnect", {"next": 3})
    for _ in range(3):
        stream.once()

    stream.release("moon")
    thread = stream.when_it_heard(1, lambda: stream.x.tell("POST", "stream/disconnect", {}))
    pause = stream.once()
    thread.join()

    assert 0.25 <= pause.wait.total_seconds() <= 1.25 * 0.25
