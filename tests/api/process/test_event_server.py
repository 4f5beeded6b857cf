"""The live feed from a real server: resumed without loss, and never all of its threads."""

import threading

import psycopg
import pytest
import requests
from psycopg.types.json import Jsonb

from tests.api.server import TOKEN, Reader, numbers, serving
from tests.chaos.ground import wait_until
from tests.databases import OURS, TEMPLATE, clone, drop, url_of

# So that there is a database to copy.
pytestmark = pytest.mark.django_db

PLACES = 2
END = {"": "this stream ends here; go on with Last-Event-ID"}
IDLE = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'
"""


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    """Its streams last a second."""
    name = f"{OURS}_live"
    with django_db_blocker.unblock():
        clone(name, of=TEMPLATE)
        url = url_of(name)
    log = tmp_path_factory.mktemp("live") / "log"
    terms = {"EVENT_STREAMS": str(PLACES), "EVENT_STREAM_SECONDS": "1"}
    try:
        with serving(url, log, **terms) as running:
            yield running
    finally:
        with django_db_blocker.unblock():
            drop(name)


def test_a_killed_stream_resumes_without_loss(server):
    reader = Reader(server, "?topics=alerts")
    assert "text/event-stream" in reader.lines.head
    assert "Cache-Control: no-store" in reader.lines.head
    assert "X-Accel-Buffering: no" in reader.lines.head

    server.publish(1, 2, 3)
    server.publish(4, 5)
    assert numbers(reader.events(2)) == [1, 2]
    reader.lines.kill()
    server.publish(6)
    reader.open()

    assert numbers(reader.events(4)) == [3, 4, 5, 6]
    server.publish(7)
    assert numbers(reader.events(1)) == [7]


def test_a_stream_ends_after_its_time_and_says_where_to_resume(server):
    blocks = a_place(server).all()
    server.publish(8)

    assert blocks[-1] == END
    [at] = [block["id"] for block in blocks[-2:] if "id" in block]
    assert numbers(Reader(server, "?topics=alerts", at).events(1)) == [8]


def test_while_streams_wait_no_transaction_is_open(server):
    held = [a_place(server) for _ in range(PLACES)]

    with psycopg.connect(server.database, autocommit=True) as db:
        seen = {db.execute(IDLE).fetchone()[0] for _ in range(200)}

    assert seen == {0}
    for one in held:
        one.all()


def test_a_client_that_reads_nothing_loses_its_place(server):
    [*_, at] = [block["id"] for block in a_place(server).all() if "id" in block]
    # Far more than the buffers of both ends hold.
    server.publish(*range(200), data=Jsonb({"text": "x" * 100_000}))
    stuck = a_place(server, Last_Event_ID=at)

    held = [a_place(server) for _ in range(PLACES)]

    for one in (stuck, *held):
        one.kill()


def a_place(server, **headers):
    """A stream that stays, once there is a place."""

    def opened():
        stream = server.stream(**headers)
        if stream.block()["retry"] == "500":
            return stream
        stream.kill()
        return None

    return wait_until(opened, within=60, what="there is a place")


def test_clients_without_a_place_poll_and_streams_end_when_the_server_stops(
    fresh_database, tmp_path
):
    terms = {"EVENT_STREAMS": str(PLACES), "EVENT_STREAM_SECONDS": "3600"}
    with serving(fresh_database, tmp_path / "log", threads=PLACES + 2, **terms) as server:
        held = [server.stream() for _ in range(PLACES)]
        [at, _] = [one.block()["id"] for one in held]
        # For `status`, which is another process.
        query = "SELECT open, places FROM trackers_streamplaces"
        all_taken = [(PLACES, PLACES)]
        wait_until(lambda: server.rows(query) == all_taken, within=60, what="it is told")
        server.publish(9, 10)

        polled = server.stream(Last_Event_ID=at)
        blocks = polled.all()

        assert " 200 OK" in polled.head
        assert blocks[0]["retry"] == "5000"
        named = [block["event"] for block in blocks if "event" in block]
        assert named == ["stream-busy", "alerts", "alerts"]
        # Pages have a thread left.
        users = f"http://127.0.0.1:{server.port}/api/v1/users"
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": "localhost"}
        assert requests.get(users, headers=headers, timeout=60).status_code == 200

        stopping = threading.Thread(target=server.stop)
        stopping.start()
        for one in held:
            assert one.all()[-1] == END
        stopping.join()
        assert server.process.returncode == 0
        assert server.rows(query) == [(0, PLACES)]
