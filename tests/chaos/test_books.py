"""Each book is right for a run in which nothing was lost, and wrong for the least that was."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.books import keep_books
from tests.chaos.evidence import Evidence, Rows
from tests.chaos.exchanges import Exchange, Exchanges
from tests.chaos.faults import kinds
from tests.chaos.ground import Pace
from tests.chaos.schedule import Fault
from tests.chaos.strikes import Happening

START = datetime(2026, 1, 10, tzinfo=UTC).timestamp()
PACE = Pace(tweets=2, every=10, lease=5.0)
KILL = next(kind for kind in kinds(clocks=True) if kind.name == "kill a worker in its batch")
YOUNG = datetime.fromtimestamp(START, tz=UTC) - timedelta(days=1)
CALM = 50.0


def line(at, *, ids=("1", "2"), said=None):
    """X's log of one look-up, `at` seconds after the start."""
    said = {"likes": 1} if said is None else said
    return {
        "at_ms": (START + at) * 1000,
        "ids": list(ids),
        "status": 200,
        "answers": dict.fromkeys(ids, said),
    }


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
        ),
        exchanges=exchanges(lines, undelivered=undelivered),
        happenings=happened,
        planned=tuple(one.fault for one in happened),
        calm_from=START + CALM,
        calm_until=START + CALM + 25,
        overdue=0,
        stops={"host0": 0},
        unasked={"host0": []},
        told=[],
        lines=lines,
        totals={
            "max_ids_a_request": 100,
            "mean_ids_a_request": 2.0,
            "over_100": 0,
            "over_window": 0,
            "over_window_by": {},
        },
        busy=(50.0, 30.0),
    )
    return replace(made, **changes)


def wrong(found):
    return [book.name for book in keep_books(found, seconds=60) if not book.right]


def test_a_run_without_a_loss_has_right_books():
    assert wrong(evidence()) == []


def test_an_answer_that_a_killed_worker_took_along_is_explained():
    found = evidence(at=(10, 20, 24.9, 40, 55, 65, 75), measured=6)

    assert wrong(found) == []


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(evidence(measured=8), id="a measurement twice"),
        pytest.param(evidence(at=(10, 55, 65, 75), measured=3), id="lost far from every fault"),
        pytest.param(
            evidence(at=(24.9, 55, 65), measured=2, happenings=(kill(25, "host1"),), hosts=()),
            id="lost on another host than the fault's",
        ),
        pytest.param(
            evidence(at=(10, 55, 65), measured=2, undelivered=(0,)), id="never came, for no reason"
        ),
        pytest.param(
            evidence(at=(23.0, 24.0, 24.9, 55, 65), measured=2), id="more than the fault may cost"
        ),
    ],
)
def test_an_answer_that_is_unaccounted_for_makes_its_book_wrong(found):
    assert "measurements = tweets answered" in wrong(found)


def rows_of(tweets=None, queue=None):
    whole = evidence().rows
    return Rows(tweets or whole.tweets, queue or whole.queue, whole.measured)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(rows_of(tweets=[(1, YOUNG, False)]), id="a tweet is gone"),
        pytest.param(rows_of(queue=[(1, 0, False)]), id="a young tweet has no next look"),
        pytest.param(rows_of(queue=[(1, 0, False), (2, 3, False)]), id="one is isolated"),
        pytest.param(rows_of(queue=[(1, 0, False), (2, 0, True)]), id="one is still claimed"),
        pytest.param(
            rows_of(queue=[(1, 0, False), (2, 0, False), (3, 0, False)]), id="a job of nobody"
        ),
    ],
)
def test_a_row_that_is_lost_or_too_many_makes_its_book_wrong(rows):
    assert "tracked = scheduled + resting" in wrong(evidence(rows=rows))


def test_a_tweet_past_the_plan_and_one_that_was_never_shown_may_rest():
    rows = rows_of(
        tweets=[(1, YOUNG - timedelta(days=40), False), (2, None, True)], queue=[(1, 0, False)]
    )

    assert "tracked = scheduled + resting" not in wrong(evidence(rows=rows))


def test_a_tweet_that_waits_longer_than_its_interval_and_two_leases_makes_its_book_wrong():
    assert wrong(evidence(at=(10, 20, 30, 40, 72))) == [
        "no tweet later than its interval + two leases"
    ]
    assert wrong(evidence(overdue=1)) == ["no tweet later than its interval + two leases"]


@pytest.mark.parametrize(
    ("totals", "name"),
    [
        ({"over_100": 1, "max_ids_a_request": 101}, "no request above 100 ids"),
        ({"over_window": 1, "over_window_by": {"token": 1}}, "no window exceeded"),
    ],
)
def test_what_the_fake_counts_against_us_makes_its_book_wrong(totals, name):
    whole = evidence()

    assert wrong(replace(whole, totals=whole.totals | totals)) == [name]


def test_a_host_that_never_looks_up_again_makes_its_book_wrong():
    found = evidence(happenings=(kill(25), kill(80)))

    assert wrong(found) == ["every fault was recovered from"]


def test_a_fault_that_did_not_happen_makes_its_book_wrong():
    missed = replace(kill(25), because="nobody to kill")

    assert wrong(evidence(happenings=(missed,))) == ["each fault happened 1 times or more"]


def test_a_cluster_that_does_not_end_makes_its_book_wrong():
    assert wrong(evidence(stops={"host0": 1})) == ["every cluster ends when told"]
