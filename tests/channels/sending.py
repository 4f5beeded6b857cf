"""Channels at fake services, and who sends to them: this process, or one of its own."""

import asyncio
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_network

import uvloop
from django.db.models.functions import Now
from django.utils import timezone

from trackers.channels.address import place_of
from trackers.channels.claim import enqueue
from trackers.channels.models import Channel
from trackers.channels.send import ChannelLoop, ChannelSettings
from trackers.channels.shapes import TYPED_SHAPES
from trackers.events.delivery.egress import Egress
from trackers.management.fake_services import Services, addresses, server
from trackers.xapi.keys import Secrets

# Those that are asked by ourselves.
OWN_SHAPES = {kind: shape for kind, shape in TYPED_SHAPES.items() if not shape.extra}
LOOPBACK = Egress((ip_network("127.0.0.0/8"),), plain_http=True)
PUBLIC_URL = "https://watch.example"


@contextmanager
def serving(services=None):
    """The fakes of all services, and the address at which they listen."""
    services = services or Services(are_paced=False)
    listening = server(services)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield services, f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def channel(kind, base, name="", **fields):
    parts = Secrets(addresses(base)[kind])
    return Channel.objects.create(
        name=name or kind, kind=kind, address=parts, place=place_of(kind, parts), **fields
    )


def line(what="@ada's tweet gains 5,000 likes an hour.", rule="Fast", **given):
    return {"what": what, "url": "/tweets/20/", "rule": rule, "is_over": False, **given}


def tell(*channels, lines=None, title="Fast", now=None, **said):
    lines = lines or [line()]
    return enqueue(channels, now=now or timezone.now(), title=title, lines=lines, **said)


def due():
    """As if each had waited for its next attempt."""
    Channel.objects.update(next_at=Now())


def until(condition, seconds=60):
    """Wait for it, and return what it was."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


@contextmanager
def sending(*, egress=LOOPBACK, total=20, lease=60):
    """By this process, in a thread."""
    settings = ChannelSettings(
        egress=egress,
        public_url=PUBLIC_URL,
        connect=timedelta(seconds=total),
        total=timedelta(seconds=total),
        lease=timedelta(seconds=lease),
    )
    running, ready = [], threading.Event()

    async def run():
        running.extend((ChannelLoop(settings), asyncio.get_running_loop()))
        ready.set()
        await running[0].run()

    thread = threading.Thread(target=lambda: uvloop.run(run()))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        running[1].call_soon_threadsafe(running[0].stop)
        thread.join(30)
        assert not thread.is_alive()
