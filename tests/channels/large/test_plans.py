"""A look at what waits reads the indexes, however many messages there have been, or wait.

`CHANNEL_MESSAGES=500000 pytest tests/channels/large/test_plans.py -s` tells the times with more.
"""

import os
import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from tests.channels.sending import channel
from tests.plans import watched
from trackers.channels.claim import claim_channels, give_up_old, settle
from trackers.channels.models import CHANNELS_MOST, Channel, ChannelMessage
from trackers.channels.shapes.shape import Reading
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db
MESSAGES = int(os.environ.get("CHANNEL_MESSAGES", "20000"))
# Nearly all were sent; what waits is one in a hundred, half of that for one channel.
FILL = """
    INSERT INTO trackers_channelmessage
        (channel_id, title, lines, more, is_test, state, made_at, sent_at, error)
    SELECT CASE WHEN n %% 200 = 0 THEN %(first)s ELSE %(first)s + n %% %(count)s END, 'Fast',
           '[{"what": "It gains.", "url": "/", "rule": "Fast", "is_over": false}]', 0, false,
           CASE WHEN n %% 100 = 0 THEN 'waiting' ELSE 'sent' END, now(),
           CASE WHEN n %% 100 = 0 THEN NULL ELSE now() END, ''
    FROM generate_series(1, %(messages)s) n
"""


@pytest.fixture
def many():
    first = channel("slack", "https://a.example", "c0")
    for n in range(1, CHANNELS_MOST):
        channel("slack", "https://a.example", f"c{n}")
    with cursor() as db:
        db.execute(FILL, {"first": first.pk, "count": CHANNELS_MOST, "messages": MESSAGES})
        db.execute("ANALYZE trackers_channelmessage, trackers_channel")


def timed(what, act):
    began = time.monotonic()
    outcome = act()
    print(f"{what}: {1000 * (time.monotonic() - began):.1f} ms")
    return outcome


def claim():
    return claim_channels(50, timedelta(minutes=1), public_url="https://watch.example")


def test_a_claim_reads_only_what_waits(many, monkeypatch):
    waits = ChannelMessage.objects.filter(state="waiting").count()

    with watched(monkeypatch) as watch:
        claim()

    read = [one for one in watch.reached if one.table == "trackers_channelmessage"]
    assert read
    assert not [one for one in read if one.how == "Seq Scan"]
    assert max(one.rows for one in read) <= waits


def test_idle_looks_and_settling_cost_little(many):
    for _ in range(2):
        claimed = timed("claim", claim)
        for one in claimed:
            timed(f"settle {one.name}", lambda one=one: settle(one, Reading()))
        Channel.objects.update(next_at=Now())
    timed("nothing waits", claim)
    timed("give up", give_up_old)

    assert not ChannelMessage.objects.filter(state="waiting").exists()
