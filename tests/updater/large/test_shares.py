"""Which project asks for which tweets, and who waits for the next day."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import id_born
from trackers.money.balances import Balance
from trackers.updater.before import Group, Prior
from trackers.updater.rationing import compute_ration
from trackers.updater.reserve import wait_for_money
from trackers.updater.shares import share_out

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
TODAY = NOW.date()
RESERVED = ((timedelta(hours=1), 0), (timedelta(days=7), 10), (timedelta(days=30), 50))


def balance(project, left=None, **given):
    return Balance(project, f"project {project}", NOW, left, **given)


def groups(prior):
    return [Group(facts, [id]) for id, facts in prior.items()]


def shared(prior, *balances):
    results = share_out(groups(prior), balances, now=NOW)
    shares = {
        share.balance.project: (sorted(share.paid), sorted(one.tweet_id for one in share.unpaid))
        for share in results.shares
    }
    return shares, sorted(results.waiting)


def aged(**age):
    return Prior(created_at=NOW - timedelta(**age))


def test_without_a_budget_every_tweet_is_looked_up():
    assert shared({1: Prior(), 2: aged(days=20)}, balance(1)) == ({1: ([], [1, 2])}, [])


def test_tweets_paid_today_are_looked_up_after_the_money_is_spent():
    prior = {1: Prior(paid_on=TODAY, paid_by=1), 2: Prior(paid_on=TODAY - timedelta(1), paid_by=1)}

    assert shared(prior, balance(1, 0)) == ({1: ([1], [])}, [2])


def test_a_tweet_stays_with_its_project_while_that_has_money():
    prior = {1: Prior(paid_by=1), 2: Prior(paid_by=2), 3: Prior()}

    assert shared(prior, balance(1, 5), balance(2, 500)) == ({2: ([], [2, 3]), 1: ([], [1])}, [])
    assert shared(prior, balance(1, 0), balance(2, 500)) == ({2: ([], [1, 2, 3])}, [])


def test_a_tweet_of_a_project_without_requests_goes_to_another_project():
    prior = {1: Prior(paid_on=TODAY, paid_by=1)}

    assert shared(prior, balance(1, usable=False), balance(2)) == ({2: ([], [1])}, [])
    assert shared(prior, balance(1, trusted=False), balance(2)) == ({2: ([], [1])}, [])
    assert shared(prior, balance(1, trusted=False)) == ({1: ([1], [])}, [])


def test_for_lack_of_requests_a_tweet_goes_only_to_a_project_without_a_budget():
    prior = {1: Prior(paid_on=TODAY, paid_by=1)}

    assert shared(prior, balance(1, requests=0), balance(2, requests=7)) == ({2: ([], [1])}, [])
    assert shared(prior, balance(1, requests=0), balance(2, 500)) == ({1: ([1], [])}, [])
    assert shared(prior, balance(1, requests=0), balance(2, requests=0)) == ({1: ([1], [])}, [])


def test_new_tweets_go_to_the_project_with_most_requests():
    assert shared({1: Prior()}, balance(1, requests=3), balance(2, requests=7)) == (
        {2: ([], [1])},
        [],
    )


def test_the_oldest_tweets_wait_first():
    new, old = (id_born(NOW - timedelta(days=days)) for days in (0, 20))
    prior = {1: aged(minutes=5), 2: aged(days=3), 3: aged(days=20), 4: aged(days=90)}
    prior |= {new: Prior(), old: Prior()}

    assert shared(prior, balance(1, 50, reserved_for_younger=RESERVED)) == (
        {1: ([], [1, 2, new])},
        [3, 4, old],
    )
    assert shared(prior, balance(1, 10, reserved_for_younger=RESERVED)) == (
        {1: ([], [1, new])},
        [2, 3, 4, old],
    )


def test_without_any_project_no_tweet_waits_for_money():
    assert shared({1: Prior()}, balance(1, usable=False)) == ({}, [])


@given(
    st.lists(st.sampled_from([None, 1, 2, 3]), max_size=40),
    st.lists(st.none() | st.integers(0, 20), min_size=1, max_size=3),
)
def test_every_tweet_has_one_outcome_and_no_balance_is_overdrawn(homes, left):
    prior = {id: Prior(paid_by=home) for id, home in enumerate(homes)}
    balances = [balance(number, amount) for number, amount in enumerate(left, 1)]

    results = share_out(groups(prior), balances, now=NOW)

    placed = [id for share in results.shares for id in share.ids] + list(results.waiting)
    assert sorted(placed) == sorted(prior)
    for share in results.shares:
        assert share.balance.left is None or len(share.unpaid) <= share.balance.left
    if results.waiting:
        total = sum(amount for amount in left if amount is not None)
        assert None not in left
        assert sum(len(share.unpaid) for share in results.shares) == total


@pytest.mark.parametrize(
    ("left", "reserved", "waiting"),
    [(109, (), 0), (108, (0, 32, 66), 0), (90, (0, 32, 66), 11), (0, (0, 32, 66), 101)],
)
def test_each_tier_reserves_what_younger_tweets_will_need(left, reserved, waiting):
    """Sixteen new ones are expected, give or take four: each older tier leaves four more."""
    found = compute_ration(left, [12, 30, 43], 16)

    assert (found.reserved_for_younger, found.needs, found.waiting) == (reserved, 101, waiting)


@pytest.mark.parametrize(
    ("at", "due", "comes"),
    [
        (9, 0, timedelta(hours=22)),
        (9, 8, timedelta(hours=22, minutes=20)),
        (21, 20, timedelta(hours=22, minutes=50)),
        (22.5, 22, timedelta(hours=24)),
        (23.5, 23, timedelta(hours=24, minutes=5)),
        (23.5, 1, timedelta(hours=24)),
        (9, -30, timedelta(hours=22)),
    ],
)
def test_tweets_without_money_return_in_the_evening_and_then_first_in_the_morning(at, due, comes):
    """In the order in which they were due; hours of the day, and X's midnight two seconds late."""
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    now = midnight + timedelta(hours=at)
    found = wait_for_money(midnight + timedelta(hours=due), Balance(1, "p", now, 0))

    assert now + found == midnight + comes + timedelta(seconds=2)
