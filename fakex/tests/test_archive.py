"""The archive: searches that reach back for years, and counts of what searches find."""

from datetime import UTC, datetime

import pytest

from fakex.tests.test_search import DAY_MS, PATH, at_once

ALL = "/2/tweets/search/all"
RECENT_COUNTS, ALL_COUNTS = "/2/tweets/counts/recent", "/2/tweets/counts/all"
MANY = {"app": 300, "token": None}


@pytest.fixture
def quick(x):
    """Searches without a window of a second."""
    x.fake("PUT", "limits", {"GET /2/tweets/search/all": {**MANY, "app_a_second": None}})
    yield
    x.fake("PUT", "limits", {"GET /2/tweets/search/all": {**MANY, "app_a_second": 1}})


@pytest.fixture
def author(x):
    """An account that posted once in an hour for sixty days."""
    at_once(x)
    author = x.authors(1)[0]
    x.release(authors=[author], rate=1 / 3600, count=24 * 60, starts_in_s=-60 * 86_400)
    return author


def shown(x, author, *, days):
    now_ms = x.fake("GET", "clock")["now_ms"]
    return {
        post["id"]
        for post in x.visible(author=author, from_ms=0)
        if post["state"] == "live" and post["born_ms"] > now_ms - days * DAY_MS
    }


def read_all(x, **params):
    ids, token = [], {}
    while True:
        reply = x.get(ALL, max_results="500", **params, **token)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        ids.extend(post["id"] for post in body.get("data", ()))
        if "next_token" not in body["meta"]:
            return ids
        token = {"next_token": body["meta"]["next_token"]}


def test_the_archive_goes_back_as_far_as_asked_and_thirty_days_by_itself(x, author, quick):
    month = read_all(x, query=f"from:{author}")
    everything = read_all(x, query=f"from:{author}", start_time="2006-03-21T00:00:00Z")

    assert set(month) == shown(x, author, days=30)
    assert set(everything) == shown(x, author, days=100_000)
    assert len(month) > 500
    assert len(set(month)) == len(month)


def test_the_archive_takes_an_id_of_any_age(x, author, quick):
    ids = sorted(map(int, read_all(x, query=f"from:{author}", start_time="2006-03-21T00:00:00Z")))
    since = ids[len(ids) // 3]

    newer = read_all(x, query=f"from:{author}", since_id=str(since))

    assert sorted(map(int, newer)) == [one for one in ids if one > since]
    assert x.get(PATH, query="cat", since_id=str(since)).status_code == 400


@pytest.mark.parametrize("path", [PATH, ALL])
def test_a_search_takes_ids_or_times_and_not_both(x, path, quick):
    now_ms = x.fake("GET", "clock")["now_ms"]
    hour_ago = datetime.fromtimestamp(now_ms / 1000 - 3600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    refused = x.get(path, query="cat", start_time=hour_ago, until_id=str(2**62))

    assert refused.status_code == 400
    assert "in conjunction with" in refused.json()["errors"][0]["message"]


def test_a_page_of_the_archive_has_five_hundred_posts_at_most(x, author, quick):
    assert len(x.get(ALL, query=f"from:{author}", max_results="500").json()["data"]) == 500
    assert x.get(ALL, query="x" * 1024).status_code == 200
    assert x.get(ALL, query="x" * 1025).status_code == 400


def test_one_search_of_the_archive_a_second_is_answered_for_an_app(x):
    x.fake("PUT", "clock", {"allow_fake_now": True})
    now_ms = x.fake("GET", "clock")["now_ms"]

    def ask(after_ms, token="any"):
        return x.get(ALL, query="cat", token=token, now_ms=now_ms + after_ms)

    replies = [ask(0), ask(999), ask(1000), ask(1001, token="another app")]

    assert [reply.status_code for reply in replies] == [200, 429, 200, 200]
    # The headers tell of the quarter of an hour, in which there is room.
    assert [reply.headers["x-rate-limit-remaining"] for reply in replies[:3]] == [
        "299",
        "299",
        "298",
    ]


def test_recent_counts_are_of_a_week_by_the_hour(x, author):
    body = x.get(RECENT_COUNTS, query=f"from:{author}").json()

    week = shown(x, author, days=7)
    assert abs(body["meta"]["total_tweet_count"] - len(week)) <= 1
    assert sum(row["tweet_count"] for row in body["data"]) == body["meta"]["total_tweet_count"]
    assert len(body["data"]) in (168, 169)
    times = [(row["start"], row["end"]) for row in body["data"]]
    assert [end for _, end in times[:-1]] == [start for start, _ in times[1:]]
    assert all(start.endswith(":00:00.000Z") for start, _ in times[1:])
    assert set(body["meta"]) == {"total_tweet_count"}


@pytest.mark.parametrize(("granularity", "most"), [("minute", 10_082), ("day", 8)])
def test_counts_come_by_the_minute_or_day(x, author, granularity, most):
    body = x.get(RECENT_COUNTS, query=f"from:{author}", granularity=granularity).json()

    assert most - 2 <= len(body["data"]) <= most


def test_counts_of_the_archive_come_thirty_days_at_a_time(x, author):
    ask = {"query": f"from:{author}", "granularity": "day", "start_time": "2006-03-21T00:00:00Z"}
    since = datetime.fromisoformat("2010-12-01T00:00:00Z")
    ask["start_time"] = since.isoformat().replace("+00:00", "Z")
    total, pages, token = 0, 0, {}
    while total < len(shown(x, author, days=60)) - 1:
        body = x.get(ALL_COUNTS, **ask, **token).json()
        assert len(body["data"]) in (30, 31)
        total, pages = total + body["meta"]["total_tweet_count"], pages + 1
        token = {"next_token": body["meta"]["next_token"]}

    assert pages in (2, 3)


@pytest.mark.parametrize(("path", "micro"), [(RECENT_COUNTS, 5_000), (ALL_COUNTS, 10_000)])
def test_each_count_costs_and_no_post_of_it(x, author, path, micro):
    for _ in range(2):
        x.get(path, query=f"from:{author}")

    billed = [
        (entry["billed_micro"], entry["billed_posts"]) for entry in x.fake("GET", "log")["entries"]
    ]
    assert billed == [(micro, 0)] * 2


def test_without_credits_a_count_is_refused(x):
    x.fake("PUT", "projects", {"credits_micro": 4_999})

    assert x.get(RECENT_COUNTS, query="cat").status_code == 402
