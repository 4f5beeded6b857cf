"""Timelines, mentions and lists, page by page."""

from datetime import UTC, datetime

import pytest

from fakex.tests.posts import FAR, joined, read, release_all

TWEPOCH = 1288834974657
EXCLUDED = {"replies": "reply", "retweets": "retweet"}


def first_tweets(x, author):
    """Those of the world's start."""
    return joined(read(x, f"/2/users/{author}/tweets", max_results="100"))


def test_a_timeline_has_the_posts_of_the_account_newest_first(x, author, path):
    older = first_tweets(x, author)
    posts = release_all(x, authors=[author], count=40)

    reply = x.get(path, max_results="30").json()

    assert [int(post["id"]) for post in reply["data"]] == posts[:30]
    meta = reply["meta"]
    assert (meta["result_count"], meta["newest_id"]) == (30, str(posts[0]))
    assert meta["oldest_id"] == str(posts[29])
    assert set(meta) == {"result_count", "newest_id", "oldest_id", "next_token"}
    assert older
    assert joined(read(x, path, max_results="30")) == posts + older


def test_a_page_has_ten_posts_unless_asked_otherwise(x, author, path):
    release_all(x, authors=[author], count=20)

    assert x.get(path).json()["meta"]["result_count"] == 10


def test_bounds_of_ids_are_exclusive_and_hold_on_every_page(x, author, path):
    posts = release_all(x, authors=[author], count=60)
    bounds = {"since_id": str(posts[50]), "until_id": str(posts[5])}

    assert read(x, path, max_results="20", **bounds) == [posts[6:26], posts[26:46], posts[46:50]]


def test_bounds_of_time_are_to_the_second(x, author, path):
    x.release(rate=1, count=100, authors=[author], starts_in_s=-100)
    posts = {int(p["id"]): p["born_ms"] for p in x.visible() if p["state"] == "live"}
    middle_s = sorted(posts.values())[len(posts) // 2] // 1000
    middle = datetime.fromtimestamp(middle_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    before = joined(read(x, path, start_time="2020-01-01T00:00:00Z", end_time=middle))
    after = joined(read(x, path, start_time=middle))

    assert {id for id in posts if posts[id] < middle_s * 1000} == set(before) & set(posts)
    assert {id for id in posts if posts[id] >= middle_s * 1000} == set(after) & set(posts)
    assert all(id >> 22 < middle_s * 1000 - TWEPOCH for id in before)
    assert all(id >> 22 >= middle_s * 1000 - TWEPOCH for id in after)


def test_an_empty_page_has_a_meta_and_no_data(x, author, path):
    newest = x.get(path, max_results="5").json()["meta"]["newest_id"]

    assert x.get(path, since_id=newest).json() == {"meta": {"result_count": 0}}


@pytest.mark.parametrize("exclude", ["replies", "retweets", "replies,retweets"])
def test_replies_and_retweets_can_be_left_out(x, author, path, exclude):
    release_all(x, authors=[author], count=300)
    kinds = {int(post["id"]): post["kind"] for post in x.visible()}

    visible = set(joined(read(x, path, max_results="100", exclude=exclude))) & set(kinds)

    left_out = {EXCLUDED[name] for name in exclude.split(",")}
    assert {kinds[id] for id in kinds} == {"original", "reply", "retweet", "quote"}
    assert visible == {id for id in kinds if kinds[id] not in left_out}


@pytest.mark.parametrize(
    ("of", "params", "depth"),
    [
        pytest.param("users/{author}/tweets", {}, 3200, id="timeline"),
        pytest.param("users/{author}/tweets", {"exclude": "replies"}, 800, id="without replies"),
        pytest.param("users/{author}/mentions", {}, 800, id="mentions"),
        pytest.param("lists/5/tweets", {}, 800, id="list"),
    ],
)
def test_a_listing_ends_at_its_depth(x, author, of, params, depth):
    x.fake("PUT", "lists/5", {"members": [author]})
    release_all(x, authors=[author], count=4000, mentions=1, retweets=0)
    path = f"/2/{of.format(author=author)}"

    pages = read(x, path, max_results="100", **params)

    assert len(joined(pages)) == depth
    assert [len(page) for page in pages] == [100] * (depth // 100)
    if "lists" not in of:
        oldest = str(joined(pages)[-1])
        assert x.get(path, until_id=oldest, **params).json() == {"meta": {"result_count": 0}}


def test_pages_stay_where_they_are_while_new_posts_appear(x, author, path):
    first = release_all(x, authors=[author], count=30)
    page = x.get(path, max_results="10").json()
    release_all(x, authors=[author], count=50)

    token = page["meta"]["next_token"]
    again = [x.get(path, max_results="10", pagination_token=token).json() for _ in range(2)]

    assert again[0] == again[1]
    assert [int(post["id"]) for post in again[0]["data"]] == first[10:20]
    newer = again[0]["meta"]["previous_token"]
    back = x.get(path, max_results="10", pagination_token=newer).json()
    assert [int(post["id"]) for post in back["data"]] == first[:10]


def test_a_page_token_is_valid_for_its_listing_only(x, author, path):
    other = x.authors(2)[1]
    release_all(x, authors=[author], count=30)
    token = x.get(path).json()["meta"]["next_token"]

    refused = [
        x.get(f"/2/users/{other}/tweets", pagination_token=token),
        x.get(f"/2/users/{author}/mentions", pagination_token=token),
        x.get(path, pagination_token=token[:-1] + ("0" if token[-1] != "0" else "g")),
        x.get(path, pagination_token="nonsense"),
    ]

    assert [reply.status_code for reply in refused] == [400] * 4
    assert token.isalnum()
    assert "parameters" in refused[0].json()["errors"][0]


def test_a_late_post_shows_up_between_those_already_read(x, author, path):
    x.release(authors=[author], rate=1e6, count=20)
    lag = {"late_share": 1, "late_ms": [400, 400], "very_late_share": 0}
    x.release(authors=[author], rate=1e6, count=1, lag=lag)
    x.release(authors=[author], rate=1e6, count=20)
    truth = x.visible(until_ms=FAR)
    late = next(p for p in truth if p["visible_at_ms"] - p["born_ms"] == 400)
    at_ms, id = late["visible_at_ms"], int(late["id"])
    newer = [p for p in truth if int(p["id"]) > id and p["visible_at_ms"] <= at_ms]
    x.fake("PUT", "clock", {"allow_fake_now": True})

    before, after = (
        x.get(path, max_results="50", now_ms=late["visible_at_ms"] + d).json()["data"]
        for d in (-1, 0)
    )

    assert len(before) == len(after) == 50
    assert late["id"] not in {post["id"] for post in before}
    assert [post["id"] for post in after].index(late["id"]) == len(newer) > 0


def test_deleted_posts_are_gone_from_the_timeline(x, author, path):
    posts = release_all(x, authors=[author], count=10)
    x.fake("PUT", f"tweets/{posts[3]}", {"state": "deleted"})

    assert posts[3] not in joined(read(x, path))
    assert posts[4] in joined(read(x, path))
