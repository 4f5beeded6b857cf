import signal
import socket
import time
from collections import Counter

import pytest

from fakex.tests.conftest import FIELDS, wait_until

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
START = 1_760_000_000_000
FALLS = 4


def readings(x, tweet_id: str, ages_ms: list[int]) -> list[dict]:
    """What the world says of a tweet at these real times after its start, at clock speed 1."""
    start = x.fake("GET", "world")["start_ms"]
    return [x.fake("GET", f"tweets/{tweet_id}?at_ms={start + age}") for age in ages_ms]


def test_the_same_seed_start_and_time_give_the_same_answers(start_x):
    options = ("--seed", "3", "--tweets", "500", "--start", str(START))
    first, two = start_x(*options), start_x(*options)
    other = start_x("--seed", "4", *options[2:])
    ids = first.ids(500)

    def read_all(x, tweet_id):
        return x.fake("GET", f"tweets/{tweet_id}?at_ms={START + HOUR}")

    assert ids == two.ids(500)
    assert [read_all(first, t) for t in ids[:50]] == [read_all(two, t) for t in ids[:50]]
    assert not set(ids) & set(other.ids(500))


def test_every_number_has_its_own_existing_id(start_x):
    x = start_x("--tweets", "3000", "--start", str(START))

    text = x.session.get(f"{x.url}/_fake/ids?format=text").text.split()

    assert len(text) == len(set(text)) == 3000
    assert text[100:200] == x.ids(100, offset=100)
    for tweet_id in text[::60]:
        assert x.fake("GET", f"tweets/{tweet_id}?at_ms={START}")["exists"]


def test_a_world_denser_than_its_milliseconds_still_has_distinct_ids(start_x):
    x = start_x("--tweets", "12000000", "--start", str(START))

    assert x.fake("GET", "world")["tweets_per_ms"] > 1
    ids = x.ids(20_000, offset=7_000_000)
    assert len(set(ids)) == 20_000
    for tweet_id in ids[:40]:
        assert x.fake("GET", f"tweets/{tweet_id}?at_ms={START}")["exists"]


def test_the_ages_at_the_start_are_spread_over_the_tiers(start_x):
    x = start_x("--tweets", "10000", "--start", str(START))
    edges = (18 * MINUTE, HOUR, DAY, 7 * DAY, 30 * DAY, 60 * DAY)

    ages = (START - ((int(t) >> 22) + 1288834974657) for t in x.ids(10_000))
    tiers = Counter(next(n for n, edge in enumerate(edges) if age <= edge) for age in ages)

    assert [tiers[n] for n in range(6)] == [2500, 2000, 2500, 2000, 800, 200]


def test_a_tweet_is_unknown_before_its_birth(start_x):
    x = start_x("--tweets", "100", "--start", str(START))
    [tweet_id] = x.ids(1)
    born_ms = (int(tweet_id) >> 22) + 1288834974657

    before = x.fake("GET", f"tweets/{tweet_id}?at_ms={born_ms - 1}")
    after = x.fake("GET", f"tweets/{tweet_id}?at_ms={born_ms}")

    assert (before["exists"], after["exists"]) == (False, True)


def test_old_ids_without_a_time_are_from_before_snowflake(x):
    data = x.tweets([str(n) for n in range(20, 60)], **{"tweet.fields": "created_at"}).json()
    late = x.tweets([str(29_700_859_247 + n) for n in range(9)], **{"tweet.fields": "created_at"})

    assert 25 <= len(data["data"]) < 40
    assert {tweet["created_at"][:7] for tweet in data["data"]} == {"2006-03"}
    assert late.json()["data"][0]["created_at"][:4] == "2010"


def test_counts_grow_except_for_tweets_that_lose_some(start_x):
    x = start_x("--tweets", "300", "--start", str(START))
    x.fake("PUT", "world", {"deleted": 0, "protected": 0, "suspended": 0, "falling": 0.2})
    ages = [0, MINUTE, 5 * MINUTE, HOUR, 2 * HOUR, 5 * HOUR, DAY, 3 * DAY, 30 * DAY]

    fallen = 0
    for tweet_id in x.ids(60):
        metrics_by_age = readings(x, tweet_id, ages)
        counts = [one["answer"] for one in metrics_by_age]
        for name in ("views", "likes", "retweets", "replies", "quotes", "bookmarks"):
            series = [count[name] for count in counts]
            if metrics_by_age[0]["traits"]["flags"] & FALLS:
                fallen += series != sorted(series)
            else:
                assert series == sorted(series), (tweet_id, name)
    assert fallen > 0


def test_half_the_young_tweets_change_from_one_minute_to_the_next(start_x):
    x = start_x("--tweets", "400", "--start", str(START))
    x.fake("PUT", "world", {"deleted": 0, "protected": 0, "suspended": 0})
    young = [t for t in x.ids(200) if START - ((int(t) >> 22) + 1288834974657) < 18 * MINUTE]

    pairs = [readings(x, tweet_id, [0, MINUTE]) for tweet_id in young]

    changed = sum(one["answer"] != two["answer"] for one, two in pairs)
    assert changed / len(pairs) > 0.5


def test_busy_tweets_change_at_every_reading(start_x):
    x = start_x("--tweets", "1000")
    x.fake("PUT", "world", {"engagement": "busy", "falling": 0.03})
    ids = x.live_ids(100)

    def read() -> dict:
        reply = x.tweets(ids, **{"tweet.fields": "public_metrics"}).json()
        return {tweet["id"]: tweet["public_metrics"] for tweet in reply["data"]}

    before, at = read(), x.entry()["at_ms"]
    wait_until(lambda: time.time() * 1000 > at + 1000)
    after = read()

    changed = sum(before[tweet_id] != after[tweet_id] for tweet_id in after)
    assert changed / len(after) >= 0.95


def test_deleted_tweets_vanish_at_their_age_and_stay_away(start_x):
    x = start_x("--tweets", "200", "--start", str(START))
    x.fake("PUT", "world", {"deleted": 1.0})

    for tweet_id in x.ids(20):
        told = readings(x, tweet_id, [0])[0]
        dies_ms = int(told["traits"]["turn_ms"] - told["age_ms"])
        later = readings(x, tweet_id, [max(dies_ms, 0) + 1, 90 * DAY])
        assert {one["state"] for one in later} == {"deleted"}
        assert {one["answer"] for one in later} == {"not_found"}
        if dies_ms > 1:
            assert readings(x, tweet_id, [dies_ms - 1])[0]["state"] != "deleted"


def test_a_fast_clock_ages_tweets_faster_and_changes_without_a_jump(start_x):
    x = start_x("--tweets", "100", "--clock-speed", "1000")
    first = x.fake("GET", "clock")
    wait_until(lambda: x.fake("GET", "clock")["now_ms"] > first["now_ms"] + 50)
    second = x.fake("GET", "clock")
    ran = second["world_ms"] - first["world_ms"]
    assert ran == pytest.approx(1000 * (second["now_ms"] - first["now_ms"]), abs=1)

    x.fake("PUT", "clock", {"clock_speed": 1})
    third = x.fake("GET", "clock")
    between = third["now_ms"] - second["now_ms"]

    assert 0 <= third["world_ms"] - second["world_ms"] <= 1000 * between + 1
    assert third["clock_speed"] == 1
    [tweet_id] = x.ids(1)
    told = x.fake("GET", f"tweets/{tweet_id}?at_ms={third['now_ms']}")
    assert told["age_ms"] >= ran


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_cleanly_at_once_with_a_client_connected(start_x, how):
    x = start_x("--tweets", "10")
    x.fake("GET", "clock")

    began = time.monotonic()
    x.process.send_signal(how)

    assert x.process.wait(timeout=5) == 0
    assert time.monotonic() - began < 2


def test_the_server_ends_at_once_with_a_reply_pending(start_x):
    x = start_x("--tweets", "10")
    x.fake("PUT", "faults", [{"kind": "slow", "params": {"ms": 600_000}}])
    address = ("127.0.0.1", int(x.url.rsplit(":", 1)[1]))
    request = b"GET /2/tweets?ids=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer b\r\n\r\n"
    with socket.create_connection(address) as waiting:
        waiting.sendall(request)
        wait_until(lambda: x.fake("GET", "faults")["rules"][0]["fired"] == 1)

        began = time.monotonic()
        x.process.terminate()

        assert x.process.wait(timeout=10) == 0
        assert time.monotonic() - began < 2


def test_the_log_has_the_served_answers(x):
    names = {
        "retweets": "retweet_count",
        "replies": "reply_count",
        "likes": "like_count",
        "quotes": "quote_count",
        "bookmarks": "bookmark_count",
        "views": "impression_count",
    }
    bodies = []
    for first in (0, 100, 200):
        ids = [*x.ids(90, first), str(2**62)]
        x.fake("PUT", f"tweets/{ids[first // 100]}", {"state": "protected"})
        bodies.append(x.tweets(ids, **{"tweet.fields": FIELDS}).json())
    x.fake("PUT", "clock", {"clock_speed": 50})
    x.fake("PUT", "world", {"engagement": "busy"})
    x.fake("DELETE", "tweets")

    log = x.fake("GET", "log")["entries"]
    x.fake("PUT", "clock", {"clock_speed": 1})
    # A token that an earlier test asked for without waiting may come only now.
    entries = [entry for entry in log if entry["endpoint"] == "GET /2/tweets"]

    assert len(entries) == 3
    for body, entry in zip(bodies, entries, strict=True):
        served = {t["id"]: t["public_metrics"] for t in body["data"]}
        kinds = {"Not Found Error": "not_found", "Authorization Error": "not_authorized"}
        served |= {error["value"]: kinds[error["title"]] for error in body["errors"]}
        logged = {
            tweet_id: {names[name]: count for name, count in answer.items()}
            if isinstance(answer, dict)
            else answer
            for tweet_id, answer in entry["answers"].items()
        }
        assert logged == served
        assert entry["ids"] == list(entry["answers"])
        assert entry["at_ms"] <= entry["done_ms"]


def test_the_log_is_read_from_an_offset(x):
    for number in range(5):
        x.tweets([str(number)])

    first = x.fake("GET", "log?limit=2")
    second = x.fake("GET", f"log?since={first['next']}")

    ids = [entry["ids"] for page in (first, second) for entry in page["entries"]]
    assert ids == [["0"], ["1"], ["2"], ["3"], ["4"]]
    assert x.fake("GET", f"log?since={second['next']}")["entries"] == []


def test_totals_count_without_a_log(x):
    x.fake("PUT", "log", {"detail": "counts"})
    ids = x.live_ids(10)
    x.fake("DELETE", "log")

    x.tweets(ids)
    x.tweets([str(n) for n in range(101)])

    assert x.fake("GET", "log")["entries"] == []
    totals = x.fake("GET", "totals")
    assert sum(sum(days.values()) for days in totals.pop("billed").values()) >= 10
    assert totals == {
        "requests": {"GET /2/tweets": {"200": 1, "400": 1}},
        "requests_total": 2,
        "ids_asked": 111,
        "tweets_answered": 10,
        "over_window": 0,
        "over_window_by": {},
        "over_100": 1,
        "max_ids_a_request": 101,
        "mean_ids_a_request": 55.5,
    }


def test_an_unknown_setting_is_refused(x):
    assert x.session.put(f"{x.url}/_fake/world", json={"colour": 1}).status_code == 400
