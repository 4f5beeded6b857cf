"""Subscribers, what is told to them, and who delivers it: this process, or one of its own."""

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_network

import uvloop
from django.conf import settings
from django.db.models.functions import Now

from tests.conftest import PROJECT
from tests.databases import url_of
from trackers.events.audit import audit
from trackers.events.books import read_books
from trackers.events.delivery.deliver import Deliverer, Settings
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.models import Attempt
from trackers.events.models import EventBatch, Subscriber
from trackers.events.subscribers.subscriptions import enroll
from trackers.outbox.publish import NewEvent, publish_events

# Longer than any test: what a lease's end brings about, a test brings about by `end_leases`.
TOTAL, LEASE = 60, 120
TOPIC = "orders"


def subscriber(name, receiver, *, uuid="", signing=(), topics=(TOPIC,), **fields):
    secrets = {"uuid": uuid, "signing": [*signing]}
    one = Subscriber(name=name, callback=receiver.url, secrets=secrets, timeout_ms=0, **fields)
    enroll(one, topics)
    return one


def publish(count=1, *, topic=TOPIC, first=1):
    publish_events(
        [
            NewEvent(topic, "create", url=f"https://shop.example/{n}", t=n)
            for n in range(first, first + count)
        ]
    )


def books(one):
    """Added, delivered, dropped and queued."""
    [found] = [each for each in read_books() if each.id == one.pk]
    assert all(each.is_sound for each in audit(one.pk)), audit(one.pk)
    return found.added, found.delivered, found.dropped, found.queued


def attempts(one):
    """What came of each, the oldest first."""
    found = Attempt.objects.filter(subscriber=one).order_by("id")
    return list(found.values_list("outcome", flat=True))


def end_leases():
    EventBatch.objects.filter(state="pending").update(leased_until=Now())


@contextmanager
def delivering(*, slots=100, total=TOTAL, lease=LEASE):
    """By this process, in a thread."""
    delivery_settings = Settings(
        egress=Egress((ip_network("127.0.0.0/8"),), plain_http=True),
        public_url="https://watch.example",
        connect=timedelta(seconds=total),
        total=timedelta(seconds=total),
        backoff_most=timedelta(seconds=1),
        lease=timedelta(seconds=lease),
        slots=slots,
    )
    running, ready = [], threading.Event()

    async def run():
        running.extend((Deliverer(delivery_settings), asyncio.get_running_loop()))
        ready.set()
        await running[0].run()

    thread = threading.Thread(target=lambda: uvloop.run(run()))
    thread.start()
    ready.wait()
    try:
        yield running[0]
    finally:
        running[1].call_soon_threadsafe(running[0].stop)
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def process(**environment):
    """`manage.py deliver`, killed at the end if it still runs."""
    running = subprocess.Popen(
        [sys.executable, "manage.py", "deliver", "--slots", "50"],
        cwd=PROJECT,
        env={
            **os.environ,
            "DATABASE_URL": url_of(settings.DATABASES["default"]["TEST"]["NAME"]),
            "BUS_CONNECT_TIMEOUT": str(TOTAL),
            "BUS_TOTAL_TIMEOUT": str(TOTAL),
            "BUS_SCRUB_AFTER": str(LEASE),
            "EGRESS_ALLOW": "127.0.0.0/8",
            "EGRESS_PLAIN_HTTP": "true",
            **environment,
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()
        running.stderr.close()
