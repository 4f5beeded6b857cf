"""What X says it billed, read from the fake and compared with our own count."""

import time
from datetime import UTC, date, timedelta
from decimal import Decimal

import orjson
import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import CredentialFactory
from trackers import tasks
from trackers.money import ledger
from trackers.money.balances import read_balances
from trackers.money.models import Project, Spending
from trackers.xapi.errors import Garbage
from trackers.xapi.parse.usage import read_balance, read_usage
from tweetwatch.database import DatabaseClock

TIMEOUT = timedelta(seconds=5)


@pytest.fixture
def x(fakex):
    fakex.delete("projects")
    registered = {"kind": "bearer", "bearer_token": "token-of-one", "app": "one"}
    fakex.tell("POST", "credentials", {**registered, "project": "ours"})
    yield fakex
    fakex.delete("projects")


def compare(x):
    with override_settings(X_API_BASE_URL=x.url, REQUEST_TIMEOUT=TIMEOUT):
        tasks.compare_usage()
    return Project.objects.get()


def spend(x, count):
    """As many posts read, by us and for X."""
    [balance] = read_balances()
    clock = DatabaseClock(balance.now - balance.ahead, time.monotonic())
    payment = ledger.reserve_posts(
        balance, unpaid=[0] * count, paid=0, timeout=TIMEOUT, clock=clock
    )
    x.put("projects/ours", {"others_today": count})
    ledger.settle_payment(payment, posts=count, all_posts=count, x_now=None)


@pytest.mark.django_db(transaction=True)
def test_the_count_of_x_is_shown_beside_ours(x):
    CredentialFactory(name="one")
    x.put("projects/ours", {"monthly_cap": 9000})
    spend(x, 40)

    project = compare(x)

    assert (project.usage_of_month, project.ours_of_month, project.drift) == (40, 40, 0)
    assert (project.cap, project.usage_problem) == (9000, "")
    read_on = project.usage_read_at.astimezone(UTC).date()
    # The fake's cap is a month's: it is reset on the first of the next.
    assert project.cap_resets_on.day == 1
    assert timedelta(0) < project.cap_resets_on - read_on <= timedelta(31)
    assert Spending.objects.get().reported_posts == 40

    x.put("projects/ours", {"others_today": 55})
    assert compare(x).drift == 15, "somebody else reads with the same account"


@pytest.mark.django_db(transaction=True)
def test_the_reason_for_unknown_usage_is_shown(x):
    credential = CredentialFactory(name="one")
    x.put("faults", [{"kind": "503_json", "match": {"endpoint": "GET /2/usage/tweets"}}])
    assert compare(x).usage_problem == "503 Service Unavailable"

    x.delete("faults")
    credential.disable("tired", now=read_balances()[0].now)
    project = compare(x)
    assert "No credential is enabled (one: tired)" in project.usage_problem
    assert project.drift is None


@pytest.mark.django_db(transaction=True)
def test_the_credits_left_at_x_are_kept_where_it_gives_them(x):
    CredentialFactory(name="one")
    assert compare(x).credits_left is None

    x.put("projects/ours", {"credits_micro": 48_200_000})
    project = compare(x)

    assert project.credits_left == Decimal("48.2")
    assert project.usage_read_at <= project.credits_read_at


@pytest.mark.parametrize("kind", ["403", "503_json"])
@pytest.mark.django_db(transaction=True)
def test_a_plan_without_credits_is_held_against_no_credential(x, kind):
    credential = CredentialFactory(name="one")
    x.put("projects/ours", {"credits_micro": 1})
    x.put("faults", [{"kind": kind, "match": {"endpoint": "GET /2/usage/credits"}}])

    project = compare(x)

    assert (project.credits_left, project.usage_problem) == (None, "")
    credential.refresh_from_db()
    assert (credential.state, credential.reason) == ("ready", "")


@pytest.mark.parametrize(
    ("total", "left"),
    [(12.34, "12.34"), ("0.1", "0.1"), (50, "50"), (-1, None), ("a", None), (None, None),
     (True, None), (1e300, None), ("Infinity", None), ({}, None)],
)  # fmt: skip
def test_dollars_are_read_as_text_and_as_numbers(total, left):
    body = orjson.dumps({"data": {"total_balance": total, "prepaid_balance": -3}})

    credits = read_balance(body, (), window=None)

    assert credits.left == (left and Decimal(left))


def test_numbers_are_read_as_text_and_as_numbers():
    usage = [{"date": "2026-03-01T00:00:00.000Z", "usage": "12"}, {"date": "no date", "usage": 1}]
    body = {"data": {"project_cap": "100", "project_usage": 30, "cap_reset_day": 24,
                     "daily_project_usage": {"project_id": "1", "usage": usage}}}  # fmt: skip

    found = read_usage(orjson.dumps(body), (), window=None)

    assert {day.isoformat(): posts for day, posts in found.days.items()} == {"2026-03-01": 12}
    assert (found.cap, found.month, found.days_until_reset) == (100, 30, 24)


def test_a_day_may_be_a_list_by_app():
    """As X's guide shows it (x-api/usage/introduction, 2026-08-22)."""
    usage = [{"app_id": "12345678", "tweets_consumed": 15420},
             {"app_id": "9", "tweets_consumed": "3"}]  # fmt: skip
    days = [{"date": "2026-01-15", "usage": usage}, {"date": "2026-01-16", "usage": [{}]}]

    found = read_usage(
        orjson.dumps({"data": {"daily_project_usage": days, "project_cap": 1e7}}), (), window=None
    )

    assert ({**found.days}, found.cap) == ({date(2026, 1, 15): 15423}, 10_000_000)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=25),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["usage", "date", "project_cap", "cap_reset_day"]), inner)
    ),
    max_leaves=12,
)


FIELDS = ["daily_project_usage", "project_cap", "project_usage", "cap_reset_day"]


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_arbitrary_answers_raise_only_garbage(data):
    found = read_usage(
        orjson.dumps({"data": data}, option=orjson.OPT_NON_STR_KEYS), (), window=None
    )
    assert all(posts >= 0 for posts in found.days.values())


def test_an_answer_that_is_no_object_is_garbage():
    with pytest.raises(Garbage):
        read_usage(b"<html>", (), window=None)
