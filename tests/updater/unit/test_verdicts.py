"""What becomes of each tweet of an answered batch: a table of cases, no database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import figures, id_born, post
from trackers.schedule.intervals import Plan, Tier
from trackers.updater.verdicts import ASK_AGAIN, CheckRules, Prior, Verdict, reach_verdicts
from trackers.xapi.results import Lookup

NOW = datetime(2026, 3, 1, tzinfo=UTC)
M, H, D = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RULES = CheckRules(Plan((Tier(H, M), Tier(30 * D, D))), confirm_gone_after=10 * M, gone_every=D)


def judge(*, posts=(), missing=None, broken=None, known=None):
    answer = Lookup({one.id: one for one in posts}, missing or {}, broken or {}, None)
    [verdict] = reach_verdicts([1], answer, {1: known} if known else {}, RULES, now=NOW)
    return verdict


@pytest.mark.parametrize(
    ("created_at", "known", "due_in", "hole_after"),
    [
        pytest.param(NOW, None, M, 2 * M, id="young"),
        pytest.param(NOW - H, None, D, 2 * D, id="an hour old"),
        pytest.param(NOW - 30 * D, None, None, 2 * D, id="past the last tier it rests"),
        pytest.param(None, Prior(NOW - H), D, 2 * D, id="its creation time is known already"),
        pytest.param(
            None, None, None, 2 * D, id="its creation time is neither known nor in its id"
        ),
        pytest.param(NOW + H, None, None, 2 * D, id="a creation time in the future"),
        pytest.param(NOW, Prior(NOW, NOW - D, gone=True), M, 2 * M, id="it comes back"),
    ],
)
def test_a_measured_tweet_is_planned_by_its_age(created_at, known, due_in, hole_after):
    verdict = judge(posts=[post(1, likes=3, created_at=created_at)], known=known)

    young = due_in == M
    assert verdict == Verdict(1, due_in, figures(3), hole_after, urgent=young)


def test_a_measured_tweet_without_its_time_is_planned_by_its_id():
    id = id_born(NOW - M)

    [verdict] = reach_verdicts([id], Lookup({id: post(id)}, {}, {}, None), {}, RULES, now=NOW)

    assert verdict == Verdict(id, M, figures(0), 2 * M, urgent=True)


def gone(due_in):
    return Verdict(1, due_in, missing="protected", gone=True)


def missing(due_in):
    return Verdict(1, due_in, missing="protected")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param(None, missing(10 * M), id="a claim to confirm"),
        pytest.param(Prior(NOW), missing(10 * M), id="known and shown until now"),
        pytest.param(Prior(NOW, NOW - 4 * M), missing(6 * M), id="looked up again too soon"),
        pytest.param(Prior(NOW, NOW - 10 * M), gone(D), id="confirmed"),
        pytest.param(Prior(NOW - 31 * D, NOW - 10 * M), gone(None), id="confirmed, and old"),
        pytest.param(Prior(None, NOW - 10 * M), gone(None), id="confirmed, and never seen"),
        pytest.param(Prior(NOW, NOW - M, gone=True), gone(D), id="gone stays gone"),
        pytest.param(Prior(NOW - 30 * D, NOW - D, gone=True), gone(None), id="gone, and now old"),
    ],
)
def test_a_missing_tweet_is_gone_only_after_a_second_look_up(known, expected):
    assert judge(missing={1: "protected"}, known=known) == expected


BORN = id_born(NOW - M)


@pytest.mark.parametrize("why", ["", "there is no count"], ids=["omitted", "broken"])
@pytest.mark.parametrize(
    ("id", "known", "due_in"),
    [
        pytest.param(1, None, ASK_AGAIN, id="for the first time: soon"),
        pytest.param(1, Prior(NOW - 2 * H), ASK_AGAIN, id="for the first time, and looked up once"),
        pytest.param(1, Prior(NOW - 2 * H, unreadable_since=NOW), D, id="again: by its age"),
        pytest.param(1, Prior(NOW - M, unreadable_since=NOW), M, id="again, and young"),
        pytest.param(BORN, Prior(unreadable_since=NOW), M, id="again: by its id's age"),
        pytest.param(1, Prior(NOW - 31 * D, unreadable_since=NOW), D, id="past the last tier"),
    ],
)
def test_an_unreadable_tweet_is_retried_soon_and_then_by_its_age(id, known, due_in, why):
    answer = Lookup({}, {}, {id: why} if why else {}, None)

    [verdict] = reach_verdicts([id], answer, {id: known} if known else {}, RULES, now=NOW)

    assert (verdict.due_in, verdict.broken, verdict.figures) == (due_in, why, None)


@pytest.mark.parametrize(
    ("lasted", "due_in"),
    [(30 * M, 30 * M), (6 * H, 6 * H), (3 * D, D)],
    ids=["half an hour", "six hours", "at most as rarely as a gone one"],
)
def test_a_young_tweet_that_stays_unreadable_is_looked_up_ever_more_rarely(lasted, due_in):
    known = Prior(NOW - M, unreadable_since=NOW - lasted)

    [verdict] = reach_verdicts([1], Lookup({}, {}, {}, None), {1: known}, RULES, now=NOW)

    assert verdict.due_in == due_in


@pytest.mark.parametrize(
    ("lasted", "left_out", "due_in"),
    [
        pytest.param(6 * H, 12, M, id="most of them"),
        pytest.param(6 * H, 9, 6 * H, id="too few to be a fault of X"),
        pytest.param(25 * H, 12, D, id="for a day"),
    ],
)
def test_where_most_of_a_batch_is_left_out_none_of_it_rests(lasted, left_out, due_in):
    ids = range(1, 16)
    known = {
        id: Prior(NOW - M, measured=True, unreadable_since=NOW - lasted if id <= left_out else None)
        for id in ids
    }
    answer = Lookup({id: post(id) for id in ids if id > left_out}, {}, {}, None)

    verdicts = [*reach_verdicts(ids, answer, known, RULES, now=NOW)]

    assert {verdict.due_in for verdict in verdicts[:left_out]} == {due_in}


def test_a_retry_is_never_later_than_the_next_check_by_age():
    rules = replace(RULES, plan=Plan((Tier(H, timedelta(seconds=5)),)))

    [verdict] = reach_verdicts([BORN], Lookup({}, {}, {}, None), {}, rules, now=NOW)

    assert verdict.due_in == timedelta(seconds=5)


def test_each_id_gets_a_verdict_in_the_order_asked():
    answer = Lookup({2: post(2)}, {3: "suspended"}, {}, None)

    found = [verdict.tweet_id for verdict in reach_verdicts([3, 1, 2], answer, {}, RULES, now=NOW)]

    assert found == [3, 1, 2]


def test_without_intervals_shown_tweets_rest_and_samples_end():
    rules = CheckRules(Plan(()), 10 * M, D)
    answer = Lookup({1: post(1, created_at=NOW)}, {}, {}, None)

    assert list(reach_verdicts([1], answer, {}, rules, now=NOW)) == [
        Verdict(1, None, figures(0), None)
    ]
