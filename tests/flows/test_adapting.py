"""Rows that adapt, where an hour of the world passes in a second; read from the log alone.

A tweet that revives is found and followed, a dead one fades to *at least every*, and none is blind
for longer than that.
"""

import time
from itertools import pairwise

import pytest

from fakex.world.traits import Shares, derive
from tests.flows.conftest import wait_until
from tests.flows.lag import Lag
from tests.flows.test_fresh_by_age import checks
from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS

# So that pytest-django makes the database which fresh ones are copied from.
pytestmark = [pytest.mark.django_db, pytest.mark.alone, pytest.mark.more]

SPEED, SECONDS = 3600, 32
AT_MOST, AT_LEAST, JITTER = 1, 10, 0.05
# The buffer, whole seconds of due times, and a request.
BUFFER = 0.2
GRACE = BUFFER + 1 + 1
# So many steps of a look-up wait, in several processes, when the machine is busy.
STEPS = 10
DAY_MS = 86_400_000
EACH = 8


def hours_until_turns(x):
    """World hours until old tweets, of which some are looked at, revive; negative: since then."""
    world, clock = x.get("world"), x.get("clock")
    collected = {}
    for id in x.ids(100_000):
        born_ms = (id >> LOW_BITS) + TWEPOCH_MS
        age_ms = clock["world_ms"] - born_ms
        if not 3 * DAY_MS < age_ms < 30 * DAY_MS:
            continue
        estimate = derive(
            id,
            born_ms=born_ms,
            start_ms=world["start_ms"],
            seed=world["seed"],
            authors=world["settings"]["authors"],
            shares=Shares(deleted=0, falling=0, reviving=1),
        )
        # Half of the wave in some three hours or less.
        if estimate.views > 3000 and estimate.pace * 3 * 3_600_000 > 1:
            collected[id] = (estimate.turn_ms - age_ms) / 3_600_000
    return collected


def test_a_reviving_tweet_is_found_and_followed_and_a_dead_one_fades(product):
    x = product.x
    x.put("world", {"reviving": 1, "deleted": 0, "falling": 0, "protected": 0, "suspended": 0})
    product.give_credential()
    row = f"60d={AT_MOST}s..{AT_LEAST}s@5%"
    product.call("interval", "set", row, "--yes")
    product.sql("UPDATE trackers_interval SET jitter = %s", JITTER)
    product.sql(
        "UPDATE trackers_queue SET buffer_ttl = %s * interval '1 second'"
        " WHERE name = 'tweet:update'",
        BUFFER,
    )
    turns = hours_until_turns(x)
    reviving = [id for id, hours in turns.items() if 1 < hours < 8][:EACH]
    # Their wave is over for days, or comes much later.
    dead = [id for id, hours in turns.items() if abs(hours) > 72][:EACH]
    assert len(reviving) == len(dead) == EACH
    product.track([*reviving, *dead])
    cluster = product.start_cluster(workers=2)

    with Lag(product.connect) as lag:
        wait_until(lambda: product.recorded() >= 2 * 2 * EACH, what="all were looked at")
        began = x.put("clock", {"clock_speed": SPEED})["now_ms"] / 1000
        wait_until(lambda: time.time() > began + SECONDS, what="enough time passed")
        ended = time.time()
        assert product.stop(cluster) == 0

    times = checks([entry for entry in x.log() if entry["endpoint"] == "GET /2/tweets"])
    longest = AT_LEAST * (1 + JITTER) + GRACE
    blind, unseen = [], []
    for id in (*reviving, *dead):
        for before, after in pairwise([*times[id], ended]):
            if after - before > longest + STEPS * lag.between(before, after):
                blind.append((id, after - before))
    followed = 0
    for id in reviving:
        wave = began + turns[id] * 3600 / SPEED
        seen = [at for at in times[id] if at > wave]
        if not seen:
            unseen.append(id)
        # The first look may come when it has hardly begun.
        gaps = [after - before for before, after in pairwise(seen)][:4]
        followed += any(gap <= AT_LEAST / 2 + STEPS * lag.mean() for gap in gaps)
    faded = sum(times[id][-1] - times[id][-2] >= AT_LEAST * (1 - JITTER) - BUFFER for id in dead)
    print(f"\n{followed} of {EACH} were followed, {faded} of {EACH} faded; lag {lag.mean():.3f} s")
    assert blind == []
    assert unseen == []
    assert followed >= 0.7 * EACH
    assert faded >= 0.7 * EACH
