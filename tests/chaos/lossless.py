"""The evidence of a small run in which nothing was lost, to be changed where a test says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.chaos.evidence import Evidence, Rows
from tests.chaos.exchanges import Exchange, Exchanges
from tests.chaos.faults import kinds
from tests.chaos.ground import Pace
from tests.chaos.homes import SERVED, Homes, Walk
from tests.chaos.listening import Streamed
from tests.chaos.messaged import CHANNELS, LOUD, QUIET, Came, Messaged, Told
from tests.chaos.recounted import Recounted
from tests.chaos.schedule import Fault
from tests.chaos.strikes import Happening
from tests.chaos.subscribed import LEAVES, NAMES, NEWEST, WELL, Heard, Ledger, Subscribed

START = datetime(2026, 1, 10, tzinfo=UTC).timestamp()
PACE = Pace(tweets=2, every=10, lease=5.0)
KILL = next(
    kind for kind in kinds(clocks=True, seconds=60) if kind.name == "kill a worker in its batch"
)
YOUNG = datetime.fromtimestamp(START, tz=UTC) - timedelta(days=1)
CALM = 50.0
STREAMED = Streamed(
    posts=frozenset({11, 12, 13}),
    stored=frozenset({11, 13}),
    gaps=[(11, 13, "rule")],
    rules=1,
    exits=[],
    stopped=0,
)


# One keeps what was laid out before the faults; the other looks, by the strategy of the settings.
KEEPS, LOOKS = 1, 2


def walk(strategy, *, follower=KEEPS, down=(13, 12, 11), served=None, laid_out=START - 1):
    pages = [SERVED[strategy], served or SERVED[strategy]]
    return Walk(follower, strategy, list(down), list(down), pages, laid_out)


HOMES = Homes(
    follows={KEEPS: frozenset({5, -7}), LOOKS: frozenset({5})},
    shown={5: frozenset({11, 12}), 6: frozenset({14}), -7: frozenset({12, 13})},
    look=frozenset({LOOKS}),
    strategy="sized",
    begun_at=START,
    walks=[
        *map(walk, SERVED),
        walk("read", follower=LOOKS, down=(12, 11)),
        walk("sized", follower=LOOKS, down=(12, 11), laid_out=START + 30),
    ],
    waiting=0,
)


TOLD = ["tweets 1 100", "tweets 1 200", "tweets 2 150", "milestones 1 likes 1000"]
FIRST, SECOND = TOLD[:2], TOLD[2:]


def heard(name):
    """All of it in two batches; one is told the newest alone, one left before the second."""
    events = {NEWEST: TOLD[1:], LEAVES: FIRST}.get(name, TOLD)
    accepted = {"a": 2, "b": len(events) - 2} if len(events) > 2 else {"a": 2}
    failed = {"gone" if name == LEAVES else name: 0 if name in WELL else 3}
    return Heard(accepted, frozenset(events), Counter({"good": 2, **failed}), Counter())


LEDGERS = {name: Ledger(added=4, delivered=4, dropped=0, queued=0) for name in NAMES} | {
    NEWEST: Ledger(added=3, delivered=3, dropped=0, queued=0),
    LEAVES: Ledger(added=4, delivered=2, dropped=1, queued=1),
}
SUBSCRIBED = Subscribed(
    ledgers=LEDGERS,
    heard={name: heard(name) for name in NAMES},
    told=TOLD,
    must=frozenset(TOLD),
    settled={name: list(heard(name).accepted.items()) for name in NAMES},
    outcomes=Counter(delivered=15, failed=18),
)

# Two messages to each channel: one of the loud rule alone, then one of both.
MESSAGED = Messaged(
    told=[
        Told(name, rule, number, alerts, together)
        for name in CHANNELS
        for rule, number, alerts, together in (
            (LOUD, 1, 15, 1.0), (LOUD, 2, 15, 2.0), (QUIET, 3, 1, 2.0),
        )
    ],
    came={name: [Came(frozenset({1}), 15), Came(frozenset({2, 3}), 16)] for name in CHANNELS},
    did={name: Counter({"good": 2, name: 3}) for name in CHANNELS},
)  # fmt: skip


def line(at, *, ids=("1", "2"), metrics=None):
    """X's log of one look-up, `at` seconds after the start."""
    metrics = {"likes": 1} if metrics is None else metrics
    return {
        "at_ms": (START + at) * 1000,
        "ids": list(ids),
        "token": "c0",
        "status": 200,
        "answers": dict.fromkeys(ids, metrics),
    }


def refusal(at):
    """X's log of a look-up with the withdrawn keys."""
    return {**line(at), "token": "-", "status": 401, "answers": {}}


def exchanges(lines, *, host="host0", undelivered=()):
    book = Exchanges()
    for place, one in enumerate(lines):
        at = one["at_ms"] / 1000
        exchange = Exchange(host, ",".join(one["ids"]), at - 0.1, 200, at + 0.1)
        if place in undelivered:
            exchange.delivered_at, exchange.lost_at = None, at + 0.1
        book.note(exchange)
        book.answers[host].append(exchange)
    return book


def kill(at, host="host0"):
    fault = Fault(1, at, KILL, (0,), 0.0)
    return Happening(fault, host, START + at, START + at)


def evidence(*, at=(10, 20, 30, 40, 55, 65, 75), measured=None, undelivered=(), **changes):
    """Two tweets that one host looked up at these seconds; the faults ended at the fiftieth."""
    lines = [line(one) for one in at]
    count = len(at) if measured is None else measured
    happened = (kill(25),)
    made = Evidence(
        pace=PACE,
        workers=3,
        ids=frozenset({1, 2}),
        hosts=("host0",),
        rows=Rows(
            [(1, YOUNG, False), (2, YOUNG, False)],
            [(1, 0, False), (2, 0, False)],
            {1: len(at), 2: count},
            START + CALM + 30,
        ),
        exchanges=exchanges(lines, undelivered=undelivered),
        happenings=happened,
        planned=tuple(one.fault for one in happened),
        calm_from=START + CALM,
        calm_until=START + CALM + 25,
        stretch=1.0,
        overdue=0,
        stops={"host0": 0},
        unasked={"host0": []},
        told=[],
        alarms={},
        logs={},
        lags=[],
        lines=[*lines, refusal(1)],
        totals={
            "max_ids_a_request": 100,
            "mean_ids_a_request": 2.0,
            "over_100": 0,
            "over_window": 0,
            "over_window_by": {},
        },
        busy=(50.0, 30.0),
        streamed=STREAMED,
        homes=HOMES,
        subscribed=SUBSCRIBED,
        messaged=MESSAGED,
        recounted=Recounted(checkpoints=4, rollups=2),
    )
    return replace(made, **changes)
