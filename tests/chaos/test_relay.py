"""A relay passes bytes as they are, and fails as it is told to."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

import pytest

from tests.chaos.exchanges import Exchanges, Watch
from tests.chaos.relay import Relays


@pytest.fixture
def echo():
    """The address of a server that says back what it is told."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve(connection):
        # The relay resets connections: that is what is tested.
        with connection, suppress(ConnectionResetError):
            while data := connection.recv(65536):
                connection.sendall(data)

    def accept():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=[connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()
    server.close()


@pytest.fixture
def relays():
    made = Relays()
    yield made
    made.close()


@pytest.fixture
def relay(relays, echo):
    return relays.make(echo)


def dial(relay):
    return socket.create_connection(("127.0.0.1", relay.port), timeout=5)


def test_a_megabyte_comes_back_as_it_was_sent(relay):
    sent = bytes(range(256)) * 4096
    with dial(relay) as there:
        threading.Thread(target=there.sendall, args=[sent]).start()
        back = b""
        while len(back) < len(sent):
            back += there.recv(65536)

    assert back == sent


def test_a_cut_resets_who_is_connected_and_refuses_who_comes_until_it_is_healed(relay):
    with dial(relay) as there:
        there.sendall(b"one")
        assert there.recv(10) == b"one"

        relay.cut()

        with pytest.raises(ConnectionResetError):
            there.recv(10)
    with pytest.raises(ConnectionRefusedError):
        dial(relay)
    relay.heal()
    with dial(relay) as there:
        there.sendall(b"two")
        assert there.recv(10) == b"two"


def test_a_relay_behind_a_firewall_resets_who_is_connected_and_drops_who_comes(relay):
    with dial(relay) as there:
        there.sendall(b"one")
        assert there.recv(10) == b"one"

        relay.drop()

        with pytest.raises(ConnectionResetError):
            there.recv(10)
    with pytest.raises(TimeoutError):
        socket.create_connection(("127.0.0.1", relay.port), timeout=0.2)
    relay.heal()
    with dial(relay) as there:
        there.sendall(b"two")
        assert there.recv(10) == b"two"


def test_a_stalled_relay_accepts_and_passes_nothing_until_it_is_healed(relay):
    with dial(relay) as before:
        relay.stall()
        with dial(relay) as there:
            for entry in (before, there):
                entry.sendall(b"hello")
                entry.settimeout(0.2)
                with pytest.raises(TimeoutError):
                    entry.recv(10)

            relay.heal()

            for entry in (before, there):
                entry.settimeout(5)
                assert entry.recv(10) == b"hello"


def test_a_slow_relay_keeps_the_order_also_when_it_is_healed_in_between(relay):
    with dial(relay) as there:
        relay.slow(delay=0.3)
        begun = time.monotonic()
        there.sendall(b"first ")
        time.sleep(0.1)
        relay.heal()
        there.sendall(b"second")
        back = b""
        while len(back) < 12:
            back += there.recv(64)

    assert back == b"first second"
    # The relay's loop counts in whole milliseconds.
    assert time.monotonic() - begun >= 0.3 - 0.002


def test_a_watch_reads_requests_and_whole_replies_however_they_are_cut_up():
    book = Exchanges()
    watch = Watch(book, "host0")
    request = b"GET /2/tweets?ids=1%2C2&x=y HTTP/1.1\r\nHost: x\r\n\r\n"
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"

    for _ in range(2):
        for place in range(0, len(request), 7):
            watch.up(request[place : place + 7])
        for place in range(0, len(reply), 9):
            watch.down(reply[place : place + 9])
    watch.up(request)
    watch.down(reply[:-1])
    watch.lost()

    first, second, third = book.by_ids["1,2"]
    assert [one.status for one in (first, second, third)] == [200, 200, 200]
    assert first.delivered_at is not None
    assert second.delivered_at is not None
    assert third.delivered_at is None
    assert third.lost_at is not None
    assert book.first_answer("host0", after=first.asked_at) == second.delivered_at
