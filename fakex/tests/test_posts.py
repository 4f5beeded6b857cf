"""Posts that appear while the fake runs, and the truth about when each of them did."""

import statistics
import time

import pytest

from fakex.tests.conftest import wait_until

TWEPOCH = 1288834974657
FAR = 10**15


def born_ms(post_id: str) -> int:
    return (int(post_id) >> 22) + TWEPOCH


def test_posts_appear_one_after_the_other_at_their_rate(x):
    flow = x.release(rate=50, count=100)

    wait_until(lambda: len(x.visible()) >= 20)
    early = x.visible()
    planned = x.visible(until_ms=FAR)

    assert len(early) < 100
    assert len(planned) == 100
    assert planned[: len(early)] == early
    births = [post["born_ms"] for post in planned]
    assert births == sorted(births)
    assert births[-1] - births[0] == pytest.approx(99 * 20, abs=20)
    assert births[0] == flow["from_ms"]
    assert all(born_ms(post["id"]) == post["born_ms"] for post in planned)
    assert len({post["id"] for post in planned}) == 100


def test_the_order_of_ids_is_not_the_order_of_appearance(x):
    lag = {"usual_ms": 300, "late_share": 0.1, "very_late_share": 0.02}
    x.release(rate=500, count=5000, lag=lag)

    posts = x.visible(until_ms=FAR)

    lags = [post["visible_at_ms"] - post["born_ms"] for post in posts]
    ids = [int(post["id"]) for post in posts]
    assert ids != sorted(ids)
    assert 250 < statistics.median(lags) < 400
    assert 0.1 < sum(lag >= 1_000 for lag in lags) / 5000 < 0.15
    assert 0.01 < sum(lag >= 10_000 for lag in lags) / 5000 < 0.03
    assert 30_000 < max(lags) <= 60_000


def test_most_posts_appear_in_a_second_unless_another_lag_is_set(x):
    x.fake("POST", "posts", {"rate": 100_000, "count": 50_000})

    posts = x.visible(until_ms=FAR)

    lags = [post["visible_at_ms"] - post["born_ms"] for post in posts]
    assert 0.005 < sum(lag > 1_000 for lag in lags) / 50_000 < 0.02
    assert 10 <= sum(lag > 10_000 for lag in lags) <= 150


def test_a_post_can_be_looked_up_from_the_moment_of_its_appearance(x):
    x.fake("PUT", "clock", {"allow_fake_now": True})
    lag = {"late_share": 1, "late_ms": [5_000, 5_000], "very_late_share": 0}
    x.release(count=1, lag=lag)
    [post] = x.visible(until_ms=FAR)
    at_ms = post["visible_at_ms"]

    before, after = (x.tweets([post["id"]], now_ms=at_ms + d).json() for d in (-1, 0))

    assert at_ms == post["born_ms"] + 5_000
    assert before["errors"][0]["title"] == "Not Found Error"
    assert after["data"][0]["id"] == post["id"]
    assert x.fake("GET", f"tweets/{post['id']}")["visible_at_ms"] == at_ms


def test_a_post_shown_in_a_timeline_is_the_same_when_looked_up(x):
    [author] = x.authors(1)
    x.release(authors=[author], rate=1e6, count=300, tags=["artemis"])
    wait_until(lambda: len(x.visible()) == 300)
    fields = {
        "tweet.fields": "author_id,created_at,lang,entities,referenced_tweets,conversation_id"
    }

    listed = x.get(f"/2/users/{author}/tweets", max_results="100", **fields).json()["data"]

    ids = [post["id"] for post in listed]
    assert (
        sorted(x.tweets(ids, **fields).json()["data"], key=lambda p: ids.index(p["id"])) == listed
    )
    assert {post["author_id"] for post in listed} == {author}


def test_replies_retweets_and_quotes_name_the_post_they_are_about(x):
    x.release(rate=1e6, count=1000, replies=0.3, retweets=0.3, quotes=0.2)
    wait_until(lambda: len(x.visible()) == 1000)
    kinds = {post["id"]: post["kind"] for post in x.visible()}
    ids = list(kinds)[-100:]
    fields = "referenced_tweets,in_reply_to_user_id,entities,public_metrics"

    visible = {t["id"]: t for t in x.tweets(ids, **{"tweet.fields": fields}).json()["data"]}

    names = {"reply": "replied_to", "retweet": "retweeted", "quote": "quoted"}
    collected = {}
    for id, tweet in visible.items():
        collected.setdefault(kinds[id], []).append(tweet)
        if kinds[id] == "original":
            assert "referenced_tweets" not in tweet
            continue
        [reference] = tweet["referenced_tweets"]
        assert reference["type"] == names[kinds[id]]
        assert reference["id"] in kinds
        assert ("in_reply_to_user_id" in tweet) == (kinds[id] == "reply")
    assert set(collected) == {"original", *names}
    for tweet in collected["retweet"]:
        assert tweet["text"].startswith("RT @")
        assert {n for name, n in tweet["public_metrics"].items() if name != "retweet_count"} == {0}
    for tweet in collected["reply"]:
        [mention, *_] = tweet["entities"]["mentions"]
        assert tweet["text"].startswith("@" + mention["username"])
        assert mention["id"] == tweet["in_reply_to_user_id"]


def test_a_flow_can_be_ended_and_its_posts_stay(x):
    flow = x.release(rate=200, count=10_000)
    wait_until(lambda: len(x.visible()) > 5)

    ended = x.fake("DELETE", f"posts/{flow['number']}")

    assert 5 < ended["count"] == ended["born"] < 10_000
    assert len(x.visible(until_ms=FAR)) == ended["count"]


def test_a_forgotten_flow_takes_its_posts_with_it(x):
    x.release(rate=1e6, count=10)
    wait_until(lambda: len(x.visible()) == 10)
    id = x.visible()[0]["id"]
    assert "data" in x.tweets([id]).json()

    x.fake("DELETE", "posts")

    assert x.visible() == []
    assert "data" not in x.tweets([id]).json()


def test_posts_can_have_been_born_long_ago_and_appear_only_now(x):
    # Whether a day-old post was deleted is decided by its id, and so by the time of the test.
    x.fake("PUT", "world", {"deleted": 0, "protected": 0, "suspended": 0})
    flow = x.release(rate=0.01, count=100, starts_in_s=-86_400)

    posts = x.visible()

    assert len(posts) == 100
    assert {post["visible_at_ms"] for post in posts} == {flow["set_ms"]}
    assert posts[0]["born_ms"] == flow["from_ms"] == flow["set_ms"] - 86_400_000
    [tweet] = x.tweets([posts[0]["id"]], **{"tweet.fields": "public_metrics"}).json()["data"]
    assert tweet["public_metrics"]["impression_count"] >= 0


def test_rates_can_be_given_for_each_author(x):
    flow = x.release(authors=x.authors(4), rate_each=2.5, count=10)

    assert (flow["rate"], flow["authors"]) == (10, 4)


def test_twenty_thousand_posts_pass_in_two_minutes_and_each_at_its_time(x):
    flow = x.fake("POST", "posts", {"rate": 170, "count": 20_000})

    posts = x.visible(until_ms=FAR)

    assert flow["until_ms"] - flow["from_ms"] < 120_000
    assert len({post["id"] for post in posts}) == len(posts) == 20_000
    assert [p["visible_at_ms"] for p in posts] == sorted(p["visible_at_ms"] for p in posts)
    began = time.monotonic()
    x.visible(until_ms=FAR)
    assert time.monotonic() - began < 2


def test_the_same_seed_and_start_give_the_same_posts(start_x):
    options = ("--seed", "3", "--tweets", "500")
    first, two = start_x(*options), start_x(*options)

    def shape(x):
        x.fake("POST", "posts", {"rate": 100, "count": 500})
        posts = x.visible(until_ms=FAR)
        return [(p["author_id"], p["kind"], p["visible_at_ms"] - p["born_ms"]) for p in posts]

    assert shape(first) == shape(two)


@pytest.mark.parametrize(
    ("flow", "complaint"),
    [
        pytest.param({"rate": 0}, "rate is", id="no rate"),
        pytest.param({"count": 1_000_001}, "count is", id="too many"),
        pytest.param({"authors": []}, "authors are", id="no authors"),
        pytest.param({"authors": ["1"]}, "unknown", id="unknown author"),
        pytest.param({"retweets": 2}, "0 to 1", id="share above one"),
        pytest.param({"lag": {"usual": 5}}, "unknown", id="unknown lag"),
        pytest.param({"lag": {"late_ms": [9, 1]}}, "least", id="lag turned round"),
        pytest.param({"speed": 5}, "unknown", id="unknown setting"),
    ],
)
def test_an_invalid_flow_is_refused(x, flow, complaint):
    reply = x.session.post(f"{x.url}/_fake/posts", json=flow)

    assert reply.status_code == 400
    assert complaint in reply.json()["error"]
