"""A connection is used again for a minute, watched meanwhile, and never at X's cost."""

from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import urllib3.connectionpool

from tests.x import wait_until
from trackers.credentials.models import Credential
from trackers.xapi.client import look_up
from trackers.xapi.errors import Unavailable
from trackers.xapi.keys import Secrets
from trackers.xapi.stream_rules import add_rules
from trackers.xapi.wire import pools

ESTABLISHED, KEEPALIVE_TIMER = "01", "02"
PRIMARY_KEYS = count(1000)


@pytest.fixture
def bearer():
    """One of its own for each test, and with it a connection: what the last test left may have been
    closed meanwhile."""
    secrets = Secrets({"bearer_token": "a-token"})
    return Credential(pk=next(PRIMARY_KEYS), name="bearer", kind="bearer", secrets=secrets)


@pytest.fixture
def idling(fake):
    def idling(**given):
        fake.tell("PUT", "connections", **given)
        return lambda: fake.tell("GET", "connections")

    return idling


@pytest.fixture
def just_missed(monkeypatch):
    """As if the other side closed just after the connection was looked at."""
    look = "is_connection_dropped"
    monkeypatch.setattr(urllib3.connectionpool, look, lambda connection: False)


def test_a_connection_idle_for_too_long_is_not_used(fake, bearer, idling, monkeypatch):
    """A machine in between has forgotten it, and would answer for X."""
    monkeypatch.setattr(pools, "LONGEST_IDLE_SECONDS", 0.0)
    server = idling(idle_s=0, how="forget")

    for _ in range(3):
        look_up(bearer, [20], **fake.asking)

    assert (server()["opened"], server()["lost"]) == (3, 0)


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_a_connection_closed_by_x_is_not_used(fake, bearer, idling, how):
    server = idling(idle_s=0.05, how=how)
    look_up(bearer, [20], **fake.asking)
    wait_until(lambda: server()["closed"] == 1)

    look_up(bearer, [20], **fake.asking)

    assert server()["opened"] == 2


def test_a_request_that_could_not_be_written_is_resent_once(fake, bearer, idling, just_missed):
    server = idling(idle_s=0.05, how="rst")
    look_up(bearer, [20], **fake.asking)
    wait_until(lambda: server()["closed"] == 1)

    look_up(bearer, [20], **fake.asking)

    assert server()["opened"] == 2
    assert [status for _, status in fake.log()] == [200, 200]


def test_a_changing_request_is_not_resent(fake, bearer, idling, just_missed):
    server = idling(idle_s=0.05, how="rst")
    look_up(bearer, [20], **fake.asking)
    wait_until(lambda: server()["closed"] == 1)

    with pytest.raises(Unavailable, match="before the request was sent") as failed:
        add_rules(bearer, {"cats": "ours"}, **fake.asking)

    assert (failed.value.sent, server()["opened"]) == (False, 1)


def test_a_request_that_may_have_been_read_is_not_resent(fake, bearer, idling):
    """A reset after the request was written: X itself sends it when a machine of its dies."""
    server = idling(idle_s=0, how="forget")
    look_up(bearer, [20], **fake.asking)

    with pytest.raises(Unavailable, match="broke off") as failed:
        look_up(bearer, [20], **fake.asking)

    assert (failed.value.sent, failed.value.maybe_billed) == (True, True)
    assert (server()["opened"], server()["lost"]) == (1, 1)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the kernel's list of connections")
def test_tcp_keepalive_is_on(fake, bearer):
    look_up(bearer, [20], **fake.asking)

    port = urlsplit(fake.url).port
    timers = {state: timer for state, timer in ours_to(port) if state == ESTABLISHED}
    assert timers[ESTABLISHED] == KEEPALIVE_TIMER


def ours_to(port):
    """State and timer of this machine's connections to a port, by the kernel's own list."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    for fields in map(str.split, lines):
        if int(fields[2].rpartition(":")[2], 16) == port:
            yield fields[3], fields[5].partition(":")[0]
