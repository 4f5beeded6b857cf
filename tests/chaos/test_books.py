"""Each book is right for a run in which nothing was lost, and wrong for the least that was."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.books import keep_books
from tests.chaos.evidence import Rows
from tests.chaos.faults import kinds
from tests.chaos.ground import PLAN_DAYS
from tests.chaos.homes import SERVED
from tests.chaos.lossless import (
    HOMES,
    LEDGERS,
    MESSAGED,
    START,
    STREAMED,
    SUBSCRIBED,
    TOLD,
    YOUNG,
    evidence,
    heard,
    kill,
    refusal,
)
from tests.chaos.messaged import QUIET, SLOW, Came
from tests.chaos.must import Sample, of_histories
from tests.chaos.schedule import Fault
from tests.chaos.subscribed import LEAVES, NEWEST


def wrong(found):
    return [book.name for book in keep_books(found, seconds=60) if not book.right]


def test_a_run_without_a_loss_has_right_books():
    assert wrong(evidence()) == []


LATE = "… X did not answer within 2 s"
UNIT = tuple(24 + place / 10 for place in range(10))


def test_the_answers_of_a_unit_that_a_killed_worker_took_along_are_explained():
    found = evidence(at=(10, 20, *UNIT, 40, 55, 65, 75), measured=6)

    assert wrong(found) == []


@pytest.mark.parametrize(
    "ahead", [-3600, 0, 3600], ids=["an hour behind", "right", "an hour ahead"]
)
def test_a_slow_answer_that_its_host_gave_up_is_explained(ahead):
    lost = evidence(at=(10, 55, 65, 75), measured=3)
    given_up = START + 10 + lost.pace.request_timeout + ahead
    quick = replace(lost, logs={"host0": [(given_up, 1, LATE)]})

    assert wrong(quick), "it came at once"
    assert wrong(replace(quick, lags=[(START + 11, 0.2)])) == [], "on a busy machine"
    assert wrong(replace(quick, lags=[(START + 11, 0.01)]))
    assert wrong(replace(quick, lags=[(START + 30, 0.2)])), "busy later"
    slow = lost.exchanges.answers["host0"][0]
    slow.delivered_at = slow.asked_at + 1.7
    assert wrong(lost)
    assert wrong(quick) == []
    assert wrong(replace(lost, logs={"host1": [(given_up, 1, LATE)]})), "another host's"
    assert wrong(replace(lost, logs={"host0": [(given_up + 30, 1, LATE)]})), "a later one"


@pytest.mark.parametrize(
    "changes",
    [
        {"wrong_checkpoints": ["tweet 1"]}, {"wrong_rollups": ["rollup 1"]}, {"checkpoints": 0},
        {"rollups": 0},
    ],
)  # fmt: skip
def test_what_is_kept_is_as_a_recount_says(changes):
    whole = evidence()

    found = replace(whole, recounted=replace(whole.recounted, **changes))

    assert wrong(found) == ["checkpoints and rollups = a recount"]


def test_what_the_host_logged_after_an_answer_that_is_not_saved_is_shown():
    lost = evidence(at=(10, 55, 65, 75), measured=3)
    series = {id: [(START + at, 1) for at in (55, 65, 75)] for id in (1, 2)}
    lines = [(START + 5, 1, "before"), (START + 10.5, 1, "the cause"), (START + 30, 1, "later")]
    shown = replace(lost, logs={"host0": lines}, rows=replace(lost.rows, series=series))

    book = next(book for book in keep_books(shown, seconds=60) if not book.right)
    assert [line for line in book.differs if line.startswith("host0: ")] == ["host0: the cause"]


def test_an_answer_whose_task_was_ended_by_its_alarm_is_explained():
    lost = evidence(at=(10, 55, 65, 75), measured=3)
    began = START + 9
    task = began, began + lost.pace.task_timeout

    assert wrong(lost)
    assert wrong(replace(lost, alarms={"host0": [task]})) == []
    assert wrong(replace(lost, alarms={"host1": [task]})), "another host's"
    assert wrong(replace(lost, alarms={"host0": [(began + 30, began + 34)]})), "a later one"
    assert wrong(replace(lost, alarms={"host0": [(began - 9, began - 5)]})), "an earlier one"


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
            evidence(at=(23.9, *UNIT, 55, 65), measured=2), id="more than the fault may cost"
        ),
    ],
)
def test_an_answer_that_is_unaccounted_for_makes_its_book_wrong(found):
    assert "measurements = tweets answered" in wrong(found)


def test_a_tweet_that_came_of_age_while_the_hosts_stopped_may_rest():
    whole = evidence()
    born = datetime.fromtimestamp(whole.calm_until + 2 - PLAN_DAYS * 86400, UTC)
    rests = rows_of(tweets=[(1, YOUNG, False), (2, born, False)], queue=[(1, 0, False)])

    assert wrong(replace(whole, rows=rests)) == []
    assert wrong(replace(whole, rows=replace(rests, read_at=whole.calm_until + 1)))


def rows_of(tweets=None, queue=None):
    whole = evidence().rows
    return Rows(tweets or whole.tweets, queue or whole.queue, whole.measured, whole.read_at)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(rows_of(tweets=[(1, YOUNG, False)]), id="a tweet is gone"),
        pytest.param(rows_of(queue=[(1, 0, False)]), id="a young tweet has no next look"),
        pytest.param(rows_of(queue=[(1, 0, False), (2, 4, False)]), id="one is isolated"),
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


@pytest.mark.parametrize(("tries", "is_right"), [([], False), ([1, 30], False), ([1, 62], True)])
def test_keys_that_x_refuses_and_that_are_tried_too_often_or_never_make_their_book_wrong(
    tries, is_right
):
    whole = evidence()
    lines = [*whole.lines[:-1], *map(refusal, tries)]

    assert wrong(replace(whole, lines=lines)) == (
        [] if is_right else ["refused keys are tried rarely"]
    )


def test_a_host_that_never_looks_up_again_makes_its_book_wrong():
    found = evidence(happenings=(kill(25), kill(80)))

    assert wrong(found) == ["every fault was recovered from"]


def test_a_fault_that_did_not_happen_makes_its_book_wrong():
    missed = replace(kill(25), because="nobody to kill")

    assert wrong(evidence(happenings=(missed,))) == ["each fault happened 1 times or more"]


def test_a_cluster_that_does_not_end_makes_its_book_wrong():
    assert wrong(evidence(stops={"host0": 1})) == ["every cluster ends when told"]


RULE = next(kind for kind in kinds(clocks=True, seconds=60) if "rule" in kind.name)
RULE_GONE = replace(kill(25, "the stream"), fault=Fault(2, 25, RULE, (0,), 0.0))


@pytest.mark.parametrize(
    "changed",
    [
        {"gaps": []},
        {"gaps": [(12, 13, "rule")]},
        {"gaps": [(11, 13, "stream")]},
        {"rules": 0},
        {"exits": [1]},
        {"stopped": None},
    ],
)
def test_a_stream_that_loses_a_post_its_rule_or_its_process_makes_its_book_wrong(changed):
    happened = (kill(25), RULE_GONE)

    assert wrong(evidence(happenings=happened)) == []
    found = evidence(happenings=happened, streamed=replace(STREAMED, **changed))
    assert wrong(found) == ["every post of the stream is stored or in a gap"]


def walked_otherwise(number, **changes):
    walks = list(HOMES.walks)
    walks[number] = replace(walks[number], **changes)
    return {"walks": walks}


CACHE, LAST = list(SERVED).index("cache"), len(HOMES.walks) - 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(walked_otherwise(CACHE, down=[13, 11], up=[13, 11]), id="a tweet is lost"),
        pytest.param(
            walked_otherwise(CACHE, down=[14, 13, 12, 11], up=[14, 13, 12, 11]), id="a strange one"
        ),
        pytest.param(
            walked_otherwise(CACHE, down=[13, 12, 12, 11], up=[13, 12, 12, 11]), id="one is twice"
        ),
        pytest.param(
            walked_otherwise(CACHE, down=[12, 13, 11], up=[12, 13, 11]), id="in another order"
        ),
        pytest.param(walked_otherwise(CACHE, up=[13, 12]), id="lost on the way up alone"),
        pytest.param(
            walked_otherwise(CACHE, served=["cache", "read(fallback)"]), id="a page fell back"
        ),
        pytest.param(walked_otherwise(CACHE, laid_out=0), id="never laid out"),
        pytest.param(walked_otherwise(CACHE, laid_out=START + 1), id="laid out anew"),
        pytest.param(
            walked_otherwise(LAST, served=["read(rebuilding)"], laid_out=0),
            id="not laid out after a switch",
        ),
        pytest.param({"walks": HOMES.walks[:-1]}, id="one was not looked at"),
        pytest.param({"shown": HOMES.shown | {-7: frozenset({12, 13, 15})}}, id="lost by each"),
        pytest.param({"waiting": 1}, id="a delivery waits"),
    ],
)
def test_a_home_that_is_not_what_its_follower_follows_makes_its_book_wrong(changes):
    found = evidence(homes=replace(HOMES, **changes))

    assert wrong(found) == ["every home is the same by each strategy"]


def test_homes_of_which_nothing_can_be_told_make_their_book_wrong():
    empty = replace(HOMES, shown={}, walks=[replace(one, down=[], up=[]) for one in HOMES.walks])

    assert wrong(evidence(homes=empty)) == ["every home is the same by each strategy"]


EVENTS = "every event reached its subscribers"


def ledger(name, **changes):
    return {"ledgers": LEDGERS | {name: replace(LEDGERS[name], **changes)}}


def hearing(name, **changes):
    return {"heard": SUBSCRIBED.heard | {name: replace(heard(name), **changes)}}


def settled(name, *attempts):
    return {"settled": SUBSCRIBED.settled | {name: list(attempts)}}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(ledger("fails", added=5, queued=0), id="one more was added"),
        pytest.param(ledger(LEAVES, queued=0), id="one that waited is gone and was not dropped"),
        pytest.param(ledger(LEAVES, is_counted=False), id="its counters differ from its batches"),
        pytest.param(ledger(LEAVES, dropped=0, queued=2), id="nothing was dropped"),
        pytest.param(ledger("hangs", delivered=3, queued=1), id="one still waits when all is calm"),
        pytest.param(ledger("hangs", delivered=3, dropped=1), id="one was dropped"),
        pytest.param(
            ledger("healthy", added=3, delivered=3) | settled("healthy", ("a", 2), ("b", 1)),
            id="one was never added",
        ),
        pytest.param(settled("resets", ("a", 2)), id="delivered more than was sent"),
        pytest.param(settled("resets", ("a", 2), ("a", 2)), id="a batch was delivered twice"),
        pytest.param(settled("resets", ("a", 2), ("c", 2)), id="delivered to nobody"),
        pytest.param(settled("resets", ("a", 3), ("b", 1)), id="more events than were received"),
        pytest.param(hearing("healthy", events=frozenset(TOLD[1:])), id="an event never came"),
        pytest.param(
            hearing("drips", events=frozenset([*TOLD, "tweets 3 1"])), id="an event of nobody"
        ),
        pytest.param(
            hearing(NEWEST, events=frozenset([TOLD[0], *TOLD[2:]])), id="the newest never came"
        ),
        pytest.param(
            hearing("waits", faults=Counter({"another body for the same webhook-id": 1})),
            id="a batch changed between two attempts",
        ),
        pytest.param(hearing("fails", did=Counter(good=5)), id="who was to fail did not"),
        pytest.param({"must": frozenset([*TOLD, "tweets 2 250"])}, id="a change was never told"),
        pytest.param({"must": frozenset()}, id="no change is known"),
        pytest.param({"starved": 3}, id="others waited behind what one refuses"),
        pytest.param({"exits": (1,)}, id="a deliverer ended by itself"),
        pytest.param({"stops": (0, None)}, id="a deliverer did not end when told"),
    ],
)
def test_an_event_that_is_lost_or_counted_wrongly_makes_its_book_wrong(changes):
    found = evidence(subscribed=replace(SUBSCRIBED, **changes))

    assert wrong(found) == [EVENTS]


MESSAGES = "every alert reached its channels"


def told_again(**changes):
    """The last row of the channel that is slow is another."""
    told = [
        one._replace(**changes) if one[:3] == (SLOW, QUIET, 3) else one for one in MESSAGED.told
    ]
    return {"told": told}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"told": []}, id="nothing was told"),
        pytest.param(told_again(together=None), id="one is never sent"),
        pytest.param(told_again(together=3.0), id="one counts as sent and never came"),
        pytest.param(told_again(alerts=2), id="a message counts too few"),
        pytest.param(
            {"came": MESSAGED.came | {SLOW: [Came(frozenset({1}), 15), Came(frozenset({2}), 16)]}},
            id="a rule hides another",
        ),
        pytest.param({"did": MESSAGED.did | {SLOW: Counter(good=2)}}, id="who was to fail did not"),
        pytest.param({"faults": Counter({"asked again": 1})}, id="Retry-After was not held"),
    ],
)
def test_an_alert_that_is_lost_or_hidden_makes_its_book_wrong(changes):
    assert wrong(evidence(messaged=replace(MESSAGED, **changes))) == [MESSAGES]


def test_a_message_that_came_twice_is_right():
    twice = {name: [*came, *came] for name, came in MESSAGED.came.items()}

    assert wrong(evidence(messaged=replace(MESSAGED, came=twice))) == []


def sample(tweet, second, likes, retweets=0):
    at = datetime.fromtimestamp(START + second, tz=UTC)
    return Sample(tweet, at, [retweets, 0, likes, 0, 0, None])


def test_what_must_have_been_told_is_each_change_since_and_each_milestone_between():
    since = datetime.fromtimestamp(START + 15, tz=UTC)
    samples = [
        sample(1, 0, 5),
        sample(1, 10, 80),
        sample(1, 20, 150),
        # After a hole a sample begins anew, and nothing has changed.
        sample(1, 30, 150),
        sample(1, 40, 150, retweets=3),
        # Fewer likes than are asked for; its first figures are no change.
        sample(2, 20, 10),
        sample(2, 30, 20),
        sample(3, 20, 1000),
    ]

    results = of_histories(
        samples,
        since=since,
        at_least=100,
        milestones=[("likes", 15), ("likes", 100), ("likes", 1000), ("views", 5)],
    )

    ms = int(START * 1000)
    assert results == {
        f"tweets 1 {ms + 20_000}",
        f"tweets 1 {ms + 40_000}",
        "milestones 1 likes 100",
        "milestones 2 likes 15",
    }
