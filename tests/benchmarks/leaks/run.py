"""The leak experiment, once: the product's cursor and the naive one before the same world.

posts appear ─> round by round both read ─> all have appeared ─> overlaps are over ─> the truth
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import timedelta

from django.db.models.functions import Now
from django.test import override_settings

from tests.benchmarks.leaks.naive import NaiveReader
from tests.benchmarks.leaks.ours import Ours
from tests.benchmarks.leaks.outcome import Outcome, outcome
from tests.benchmarks.leaks.world import (
    LIST,
    LISTINGS,
    RATE,
    TAG,
    SkewedTime,
    World,
    first_id,
    start_of,
)
from trackers import tasks
from trackers.ingest.sources.models import Source
from trackers.money.models import Spending

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
# The product believes an X that is up to an hour away from Python's clock, which is not turned.
MOST_POSTS = 30_000
# From one poll to the next, so that they meet posts at any moment of their lives.
LEAST_WAIT_S, MOST_WAIT_S = 15, 45
# So often that a list still shows the latest posts, and so deep that none is too old for the next.
OVERLAP_EVERY, OVERLAP_DEPTH = timedelta(seconds=200), timedelta(seconds=520)
MOST_MINUTES_AFTER = 20


@dataclass(frozen=True, slots=True)
class Found:
    """All listings, with X's clock so far ahead of ours.

    `billed`: tweet-days, by X's log; `booked`: by our own books; `shown`: posts of each day.
    """

    skew_s: float
    rounds: int
    seconds: float
    billed: int
    booked: int
    shown: int
    outcomes: tuple[Outcome, ...]


def experiment(url: str, *, posts: int, skew_s: float) -> Found:
    """Release so many posts and read them in both ways; X's clock is ahead of ours by `skew_s`.

    The database of the default connection must be as after migration, with a credential.
    """
    if posts > MOST_POSTS:
        raise ValueError(f"In one run at most {MOST_POSTS:,} posts: its time is turned by an hour.")
    k = {listing.kind: listing.k for listing in LISTINGS}
    fields = {
        "X_API_BASE_URL": url,
        "REQUEST_TIMEOUT": SECOND * 15,
        "LATE_TIMELINES": k["account"],
        "LATE_SEARCH": k["search"],
        "OVERLAP_EVERY": OVERLAP_EVERY,
        "OVERLAP_DEPTH": OVERLAP_DEPTH,
    }
    with override_settings(**fields):
        return read_both_ways(url, posts=posts, span=SECOND * (posts / RATE), skew=SECOND * skew_s)


def read_both_ways(url: str, *, posts: int, span: timedelta, skew: timedelta) -> Found:
    begun, chance, x = time.monotonic(), random.Random(5), World(url)
    x.prepare()
    clock = SkewedTime(x, start=start_of(span), skew=skew)
    tasks.make_partitions()
    x.requests_since()
    ours = Ours(x, clock)
    # Django's clock, which is not turned, says when they were made: overlaps count from there.
    Source.objects.update(created_at=Now())
    ours.poll()
    from_ms = x.release(posts)
    latest = first_id(from_ms) - 1
    of = (("account", x.people()[0][0]), ("search", f"#{TAG}"), ("list", str(LIST)))
    naive = [NaiveReader(url, kind, name, latest=latest) for kind, name in of]

    rounds = 0
    settled, over = clock.now() + span + MINUTE * 4, False
    while not over:
        over = all(
            at is not None and at > settled
            for at in Source.objects.values_list("overlapped_at", flat=True)
        )
        clock.pass_(SECOND * chance.uniform(LEAST_WAIT_S, MOST_WAIT_S))
        acts = [ours.poll, *(reader.poll for reader in naive)]
        # Neither is always the one that comes later.
        for act in acts if rounds % 2 else reversed(acts):
            act()
        rounds += 1
        if clock.now() > settled + MINUTE * MOST_MINUTES_AFTER:
            raise RuntimeError("The overlaps do not come to an end.")
    truth = x.truth(from_ms)
    return Found(
        skew_s=skew / SECOND,
        rounds=rounds,
        seconds=time.monotonic() - begun,
        billed=ours.billed,
        booked=booked(),
        shown=len(ours.billable),
        outcomes=tuple(outcome(ours, reader, truth[reader.kind]) for reader in naive),
    )


def booked() -> int:
    rows = list(Spending.objects.values_list("posts", "posts_reserved"))
    return sum(posts + reserved for posts, reserved in rows)
