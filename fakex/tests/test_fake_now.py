"""Requests that bring their own instant: a month goes by as fast as it can be asked."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DAY_MS = 86_400_000
NOON = int(datetime(2030, 5, 1, 12, tzinfo=UTC).timestamp() * 1000)


def allow(x):
    x.fake("PUT", "clock", {"allow_fake_now": True})
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "m", "project": "month"})


def stay_live(x, count):
    """Ids of tweets that nobody deletes in the years to come."""
    ids = x.live_ids(count)
    x.fake("PUT", "tweets", {id: {"state": "live"} for id in ids})
    return ids


def test_a_chosen_instant_is_refused_until_allowed(x):
    before = x.tweets(["1"], now_ms=NOON)
    allow(x)
    after, unreadable = x.tweets(["1"], now_ms=NOON), x.tweets(["1"], now_ms="tomorrow")

    assert [r.status_code for r in (before, after, unreadable)] == [400, 200, 400]
    assert "X-Fake-Now" in before.json()["detail"]


def test_world_date_and_log_are_of_the_chosen_instant(x):
    allow(x)
    [tweet_id] = stay_live(x, 1)

    reply = x.tweets([tweet_id], now_ms=NOON, **{"tweet.fields": "public_metrics"})

    answer = x.fake("GET", f"tweets/{tweet_id}?at_ms={NOON}")["answer"]
    assert reply.json()["data"][0]["public_metrics"]["like_count"] == answer["likes"]
    assert parsedate_to_datetime(reply.headers["date"]).timestamp() * 1000 == NOON
    assert x.entry()["at_ms"] == NOON
    assert x.entry()["answers"][tweet_id] == answer


def test_windows_open_and_end_by_the_chosen_instants(x):
    allow(x)
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 1, "app": None, "window": 900}})

    replies = [x.tweets(["1"], token="m", now_ms=NOON + s * 1000) for s in (0, 899, 900)]

    assert [reply.status_code for reply in replies] == [200, 429, 200]
    resets = [int(reply.headers["x-rate-limit-reset"]) for reply in replies]
    assert resets == [NOON // 1000 + 900, NOON // 1000 + 900, NOON // 1000 + 1800]


def test_a_month_is_billed_by_its_days_and_ends_its_cap(x):
    allow(x)
    ids = stay_live(x, 10)
    x.fake("PUT", "projects/month", {"monthly_cap": 280})

    statuses = {}
    for day in range(32):
        for hour in (0, 6):
            now_ms = NOON + day * DAY_MS + hour * 3_600_000
            statuses[day, hour] = x.tweets(ids, token="m", now_ms=now_ms).status_code

    refused = {when for when, status in statuses.items() if status == 429}
    assert refused == {(day, hour) for day in (28, 29, 30) for hour in (0, 6)}
    project_state = x.fake("GET", "projects/month")
    assert {name: month["posts"] for name, month in project_state["months"].items()} == {
        "2030-05": 280,
        "2030-06": 10,
    }
    assert (project_state["distinct"], project_state["refused"]) == (10, 6)
    assert project_state["spent_micro"] == 290 * 5_000
    assert sum(x.fake("GET", "totals")["billed"]["month"].values()) == 290


def test_access_tokens_expire_by_the_chosen_instant(x):
    allow(x)
    x.fake(
        "POST",
        "credentials",
        {"kind": "oauth2", "client_id": "c", "access_token": "t", "refresh_token": "r"},
    )

    now_ms = x.fake("GET", "clock")["now_ms"]
    statuses = [x.tweets(["1"], token="t", now_ms=now_ms + s * 1000) for s in (7100, 7300)]

    assert [reply.status_code for reply in statuses] == [200, 401]
