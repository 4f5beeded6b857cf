from datetime import date, timedelta

import pytest

from fakex.tests.conftest import wait_until

EVERYTHING = (
    "cap_reset_day,daily_client_app_usage,daily_project_usage,project_cap,project_id,project_usage"
)


@pytest.fixture
def usage(x):
    """Asks for the usage of a project whose apps `one` and `two` read 5 and 3 posts today."""
    for token in ("one", "two"):
        registered = {"kind": "bearer", "bearer_token": token, "app": token, "project": "ours"}
        x.fake("POST", "credentials", registered)
    ids = x.live_ids(8)
    x.tweets(ids[:5], token="one")
    x.tweets(ids, token="two")

    def ask(**params: str):
        return x.get("/2/usage/tweets", token="one", **params)

    return ask


def today(x) -> str:
    return x.fake("GET", "clock")["billing_day"] + "T00:00:00.000Z"


def test_usage_is_text_unless_configured_otherwise(x, usage):
    x.fake("PUT", "projects/ours", {"monthly_cap": 1_000})

    in_strings = usage().json()["data"]
    x.fake("PUT", "world", {"usage_numbers": "ints"})
    in_ints = usage().json()["data"]

    assert set(in_strings) == {"cap_reset_day", "project_cap", "project_id", "project_usage"}
    assert (in_strings["project_cap"], in_strings["project_usage"]) == ("1000", "8")
    assert (in_ints["project_cap"], in_ints["project_usage"]) == (1_000, 8)
    day = date.fromisoformat(today(x)[:10])
    assert (day + timedelta(in_strings["cap_reset_day"])).day == 1
    assert 1 <= in_strings["cap_reset_day"] <= 31
    assert in_strings["project_id"].isdigit()


def test_days_and_apps_are_returned_on_request(x, usage):
    data = usage(**{"usage.fields": EVERYTHING, "days": "90"}).json()["data"]

    assert data["daily_project_usage"]["usage"] == [{"date": today(x), "usage": "8"}]
    by_app = sorted(app["usage"][0]["usage"] for app in data["daily_client_app_usage"])
    assert by_app == ["3", "5"]
    assert {app["usage_result_count"] for app in data["daily_client_app_usage"]} == {1}


def test_the_requested_number_of_days_is_returned_newest_first(x, usage):
    x.fake("PUT", "clock", {"billing_offset_s": 86_400})
    x.tweets(x.live_ids(1), token="one")

    fields = {"usage.fields": "daily_project_usage"}
    one, two = (usage(days=days, **fields).json()["data"] for days in ("1", "2"))

    assert [day["usage"] for day in one["daily_project_usage"]["usage"]] == ["1"]
    assert [day["usage"] for day in two["daily_project_usage"]["usage"]] == ["1", "8"]
    assert two["daily_project_usage"]["usage"][0]["date"] == today(x)


def test_usage_lags_and_drifts_as_configured(x, usage):
    fields = {"usage.fields": "project_usage,daily_project_usage"}
    x.fake("PUT", "projects/ours", {"usage_lag_s": 600})

    lagging = usage(**fields).json()["data"]
    x.fake("PUT", "projects/ours", {"usage_drift": 40})
    drifting = usage(**fields).json()["data"]
    x.fake("PUT", "projects/ours", {"usage_lag_s": 0.05})
    wait_until(lambda: usage().json()["data"]["project_usage"] == "48")

    assert lagging["project_usage"] == "0"
    assert drifting["project_usage"] == "40"
    assert drifting["daily_project_usage"]["usage"] == [{"date": today(x), "usage": "40"}]


def test_usage_costs_nothing_and_has_a_window_of_fifty(x, usage):
    replies = [usage() for _ in range(51)]

    assert [reply.status_code for reply in replies] == [200] * 50 + [429]
    assert replies[0].headers["x-rate-limit-limit"] == "50"
    assert x.fake("GET", "projects/ours")["requests"] == 2


def test_credits_are_what_the_project_has_left(x, usage):
    x.fake("PUT", "projects/ours", {"credits_micro": 48_200_000})

    balance = x.get("/2/usage/credits", token="one").json()["data"]

    assert (balance["total_balance"], balance["prepaid_balance"]) == (48.2, 48.2)
    x.fake("PUT", "projects/ours", {"credits_micro": -1_500_000})
    balance = x.get("/2/usage/credits", token="one").json()["data"]
    # "total_balance is max(0, prepaid_balance + free_balance); prepaid_balance may be negative."
    assert (balance["total_balance"], balance["prepaid_balance"]) == (0, -1.5)


def test_a_project_without_credits_gets_an_empty_404(x, usage):
    reply = x.get("/2/usage/credits", token="one")

    assert (reply.status_code, reply.content) == (404, b"")
