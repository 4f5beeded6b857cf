"""What fails before a request is written has cost nothing, and says for how long it was tried."""

import re
import socket
import time
from datetime import timedelta

import pytest

from trackers.xapi.client import look_up
from trackers.xapi.errors import Unavailable
from trackers.xapi.stream import connect

SHORT = timedelta(seconds=0.3)


@pytest.fixture
def mute():
    """A server that accepts and never says a word."""
    listener = socket.create_server(("127.0.0.1", 0))
    yield listener.getsockname()[1]
    listener.close()


def no_such_name(*_args, **_options):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def failure_of(ask):
    with pytest.raises(Unavailable) as failed:
        ask()
    error = failed.value
    assert (error.sent, error.maybe_billed) == (False, False)
    return error.reason


def test_a_dropped_syn_counts_as_no_request_with_the_true_seconds(firewall, bearer):
    base_url, began = f"http://127.0.0.1:{firewall.port}", time.monotonic()

    reply = failure_of(lambda: look_up(bearer, [20], base_url=base_url, timeout=SHORT))

    took = time.monotonic() - began
    found = re.fullmatch(r"No connection to X within (\d+\.\d) s\.", reply)
    assert found, reply
    assert 0.3 <= float(found[1]) <= took + 0.05


def test_an_unsent_stream_request_counts_no_connection(firewall, bearer):
    base_url = f"http://127.0.0.1:{firewall.port}"

    failure_of(lambda: connect(bearer, base_url=base_url, timeout=SHORT, silence=SHORT))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:1", "No connection to X: Connection refused."),
        ("https://127.0.0.1:1", "No connection to X: Connection refused."),
        ("https://a..b", "No connection to X (LocationParseError)."),
    ],
)
def test_a_request_without_a_connection_was_not_sent(address, why, bearer):
    assert failure_of(lambda: look_up(bearer, [20], base_url=address, timeout=SHORT)) == why


def test_a_request_to_an_unknown_name_was_not_sent(monkeypatch, bearer):
    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)

    said = failure_of(lambda: look_up(bearer, [20], base_url="", timeout=SHORT))

    assert said == "No connection to X: Name or service not known."


def test_a_request_without_a_handshake_was_not_sent(mute, bearer):
    address = f"https://127.0.0.1:{mute}"

    said = failure_of(lambda: look_up(bearer, [20], base_url=address, timeout=SHORT))

    assert re.fullmatch(r"No secure connection to X within \d+\.\d s\.", said), said


def test_a_connection_opened_too_late_is_not_used(monkeypatch, mute, bearer):
    """A slow name server, and the time of the whole exchange is over."""
    known = socket.getaddrinfo

    def slow(*args, **options):
        time.sleep(0.35)
        return known(*args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    base_url = f"http://127.0.0.1:{mute}"

    said = failure_of(lambda: look_up(bearer, [20], base_url=base_url, timeout=SHORT))

    assert said.startswith("No connection to X within 0.")


def test_a_sent_unanswered_request_may_be_billed(mute, bearer):
    base_url = f"http://127.0.0.1:{mute}"

    with pytest.raises(Unavailable, match=r"X did not answer within 0\.3 s") as failed:
        look_up(bearer, [20], base_url=base_url, timeout=SHORT)

    assert (failed.value.sent, failed.value.maybe_billed) == (True, True)
