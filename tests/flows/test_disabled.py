"""A credential that a person disables is not used any more: by nobody, as X's own log shows."""

import pytest

from tests.flows.conftest import wait_until
from tests.flows.streaming import Streaming

# Django makes its test database, of which ours are copies, for those marked alone.
pytestmark = pytest.mark.django_db


@pytest.fixture
def stream(product):
    streaming = Streaming(product)
    yield streaming
    streaming.end()


def paths(product):
    """Of the requests that X was asked with, those of each kind."""
    return {entry["endpoint"] for entry in product.x.log()}


def test_a_disabled_credential_ends_the_stream_polls_and_look_ups(stream):
    product = stream.product
    product.give_credential()
    stream.source("#moon")
    poll = stream.source("#sun")
    product.sql("UPDATE trackers_source SET kind = 'search', every = '5 s' WHERE id = %s", poll)
    product.sql(
        "WITH put AS (INSERT INTO trackers_sourcepoll (key, due_at, stamp)"
        " VALUES (%s, now(), 1) RETURNING *)"
        " INSERT INTO trackers_pollbucket (due_at, stamp, keys)"
        " SELECT due_at, 1, ARRAY[key] FROM put",
        poll,
    )
    product.sql("UPDATE trackers_interval SET every = '2 s', jitter = 0")
    product.start_cluster(workers=1)
    stream.start()
    wait_until(stream.is_open, what="the stream is open")
    stream.release(count=100_000, rate=20)
    wanted = {"GET /2/tweets", "GET /2/tweets/search/recent", "GET /2/tweets/search/stream"}
    wait_until(lambda: paths(product) >= wanted, what="X is asked in every way")
    wait_until(lambda: stream.row()["lines"] > 20, what="posts come by the stream")

    product.call("credential", "disable", "main")
    wait_until(lambda: not stream.x.get("stream")["open"], within=30, what="X sees it hang up")
    wait_until(lambda: stream.row()["state"] == "waiting", what="the page says so")
    asked, sent = len(product.x.log()), len(stream.sent())
    # Both queues look again after 15 seconds; meanwhile hundreds of posts appear.
    appeared = len(stream.visible())
    held = "SELECT count(*) FROM trackers_queue WHERE held_reason LIKE '%%is enabled%%'"
    wait_until(lambda: product.value(held) >= 1, what="the look-ups are held")
    wait_until(lambda: len(stream.visible()) > appeared + 300, what="more posts appear")

    assert len(stream.sent()) == sent
    late = [one["endpoint"] for one in product.x.log()[asked:]]
    assert late == []
