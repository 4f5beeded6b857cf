"""Two thousand tweets of all ages stay fresh by their age; read from the fake's log alone."""

import time
from bisect import bisect_right
from itertools import pairwise

import pytest

from tests.flows.conftest import figures, wait_until
from tests.flows.lag import Lag

# So that pytest-django makes the database which fresh ones are copied from.
pytestmark = [pytest.mark.django_db, pytest.mark.alone]

# The intervals of the design, sixty times shorter: 18m=60s 60m=5m 1d=1h 7d=6h 30d=1d.
TIERS = [(18, 1), (60, 5), (1440, 60), (10080, 360), (43200, 1440)]
SHRUNK = [f"{younger_than}s={every}s" for younger_than, every in TIERS]
JITTER, BUFFER_TTL, GRACE = 0.05, 2.0, 1.0
# So many steps of a look-up wait, in several processes, when the machine is busy.
STEPS = 10
TWEPOCH = 1288834974657


def born_at(id):
    """As X tells it in created_at: whole seconds."""
    return ((id >> 22) + TWEPOCH) // 1000


def every(age):
    place = bisect_right([younger_than for younger_than, _ in TIERS], age)
    return TIERS[place][1] if place < len(TIERS) else None


def latest(interval):
    return interval * (1 + JITTER) + BUFFER_TTL + GRACE


def is_late(before, after, interval, lag):
    over = after - before - latest(interval)
    return over > 0 and over > STEPS * lag.between(before, after)


def of_all_ages(x, count):
    """Some of each tier, and some that are past the last."""
    now = time.time()
    by_tier = {}
    for id in sorted(x.ids(100_000), reverse=True):
        age = now - born_at(id)
        by_tier.setdefault(bisect_right([0, *(bound for bound, _ in TIERS)], age), []).append(id)
    share = count // len(by_tier) + 1
    chosen = [id for ids in by_tier.values() for id in ids[:share]]
    rest = [id for ids in by_tier.values() for id in ids[share:]]
    return (chosen + rest)[:count]


def checks(log):
    """When each tweet was answered with figures, in seconds of the clock on the wall."""
    times = {}
    for entry in log:
        for id in figures(entry):
            times.setdefault(id, []).append(entry["at_ms"] / 1000)
    return times


def times_not_shown(log):
    """When X answered that it shows a tweet no longer: the fake deletes some of the young ones."""
    times = {}
    for entry in log:
        if entry["status"] == 200:
            for id in {int(id) for id in entry["ids"]} - figures(entry).keys():
                times.setdefault(id, []).append(entry["at_ms"] / 1000)
    return times


def test_every_tweet_is_checked_at_its_interval_in_full_batches_and_nothing_is_lost(product):
    ids = of_all_ages(product.x, 2000)
    product.give_credential()
    product.call("interval", "set", *SHRUNK, "--yes")
    product.track(ids)

    with Lag(product.connect) as lag:
        cluster = product.start_cluster(workers=2)
        time.sleep(75)
        # On a busy machine this takes longer.
        wait_until(
            lambda: product.x.get("totals")["tweets_answered"] > 3 * len(ids),
            what="enough was looked up again",
        )
        ended = time.time()
        assert product.stop(cluster) == 0

    log = [entry for entry in product.x.log() if entry["endpoint"] == "GET /2/tweets"]
    times = checks(log)
    answered_or_gone = {int(id) for entry in log for id in entry["ids"]}
    assert answered_or_gone == set(ids), "a bare id is looked up once, whatever its age"
    asked = {int(id): entry["at_ms"] / 1000 for entry in log for id in entry["ids"]}
    not_shown = times_not_shown(log)
    early, late = [], []
    for id, seen in times.items():
        # Such a tweet is next asked for after CONFIRM_GONE_AFTER, ten minutes: never in this test.
        ends = not_shown.get(id, [None])
        if len(ends) > 1:
            early.append((id, "asked again before it counts as gone", ends))
        for before, after in pairwise([*seen, ends[0]]):
            # Planned by the age when the answer was read, which is a little later than it was
            # given: at a tier's bound the next interval is as right.
            age = before - born_at(id)
            shortest, longest = every(age), every(age + GRACE / 2)
            if after is None:
                if longest and is_late(asked[id], ended, longest, lag):
                    late.append((id, age, longest, "never again"))
            elif shortest is None or after - before < shortest * (1 - JITTER):
                early.append((id, age, shortest, after - before))
            elif longest and is_late(before, after, longest, lag):
                late.append((id, age, longest, after - before))
    assert (early, late) == ([], [])
    assert sum(len(seen) - 1 for seen in times.values()) > len(ids), "hardly anything was repeated"

    assert max(len(entry["ids"]) for entry in log) <= 100
    # How many shared the request of a tweet. The slower the machine, the more of these seconds come
    # after the first round, when a hundred are not always due.
    sizes = [len(entry["ids"]) for entry in log if entry["at_ms"] < log[0]["at_ms"] + 15_000]
    assert sum(size * size for size in sizes) / sum(sizes) >= 95
    assert product.answered() == product.recorded()


def test_a_single_tweet_is_checked_after_the_buffer_time(product):
    product.give_credential()
    cluster = product.start_cluster(workers=1)
    product.wait_for("worker")

    with Lag(product.connect) as lag:
        before = time.time()
        product.manage_json("track", str(product.x.ids(1)[0]))
        tracked = time.time()
        entry = wait_until(product.x.log, what="the lonely tweet was looked up")[0]

    asked, slower = entry["at_ms"] / 1000, STEPS * lag.between(before, time.time())
    assert before + BUFFER_TTL <= asked <= tracked + BUFFER_TTL + GRACE + slower
    assert len(entry["ids"]) == 1
    assert product.stop(cluster) == 0
