"""X counts a connection of ours that has died, and allows no other until it is ended."""

from datetime import timedelta

import pytest

from tests.x import wait_until
from trackers.credentials import selection
from trackers.credentials.models import Credential
from trackers.ingest.stream.models import Stream
from trackers.xapi.endpoints import STREAM

pytestmark = pytest.mark.django_db(transaction=True)
CONNECT = "GET /2/tweets/search/stream"
LIST, END = "GET /2/connections", "DELETE /2/connections"
A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def dead(stream):
    """Our connection has died, and X has not noticed."""
    stream.x.put("limits", {CONNECT: {"app": None}})
    stream.x.put("stream", {"linger_s": 600})
    stream.source("#moon")
    cut = stream.when_it_opened(lambda: stream.x.tell("POST", "stream/cut", {}))
    stream.once()
    cut.join()
    return stream


def may_connect():
    """The cool-down after the refusal is over."""
    turn = selection.select_credential(STREAM)
    if isinstance(turn, selection.Selection):
        selection.cancel(turn)
        return True
    return False


def statuses(stream, endpoint):
    return [entry["status"] for entry in stream.asked(endpoint)]


def test_a_dead_connection_of_ours_is_ended_and_another_opens(dead):
    pause = dead.once()

    assert "It was our own, which had died; X has ended it." in pause.because
    assert pause.wait < timedelta(seconds=1)
    assert (statuses(dead, CONNECT), statuses(dead, END)) == ([200, 429], [200])
    wait_until(may_connect)
    end = dead.when_it_opened(lambda: dead.x.tell("POST", "stream/disconnect", {}))
    assert dead.once().because.startswith("UpstreamOperationalDisconnect")
    end.join()


def test_a_connection_of_another_program_is_left_alone(dead):
    """It began at another time than ours did."""
    Stream.objects.update(opened_at=Stream.objects.get().opened_at - timedelta(seconds=30))

    pause = dead.once()

    assert "maximum allowed connection limit" in pause.because
    assert pause.wait >= A_MINUTE
    assert (statuses(dead, LIST), statuses(dead, END)) == ([200], [])


def test_x_is_asked_to_end_a_dead_connection_once(dead):
    dead.x.put("faults", [{"kind": "503_json", "match": {"endpoint": END}}])
    assert dead.once().wait >= A_MINUTE
    wait_until(may_connect)

    assert dead.once().wait >= A_MINUTE

    assert (len(statuses(dead, LIST)), len(statuses(dead, END))) == (1, 1)


def test_a_plan_without_the_list_of_connections_is_held_against_no_credential(dead):
    dead.x.put("faults", [{"kind": "403", "match": {"endpoint": LIST}}])

    assert dead.once().wait >= A_MINUTE

    assert statuses(dead, LIST) == [403]
    credential = Credential.objects.get()
    assert (credential.state, credential.reason) == ("ready", "")
