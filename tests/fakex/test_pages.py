"""Timelines, mentions and lists, page by page."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from tests.fakex.conftest import wait_until

FAR = 10**15
TWEPOCH = 1288834974657
EXCLUDED = {"replies": "reply", "retweets": "retweet"}


def release_all(x, **flow):
    """Posts that have all appeared, newest id first."""
    x.release(rate=1e6, **flow)
    wait_until(lambda: len(x.visible()) == len(x.visible(until_ms=FAR)))
    return sorted((int(post["id"]) for post in x.visible()), reverse=True)


def read(x, path, **params):
    """All pages to the last: the ids of each."""
    pages, token = [], {}
    while True:
        reply = x.get(path, **params, **token)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        pages.append([int(post["id"]) for post in body.get("data", ())])
        if "next_token" not in body["meta"]:
            return pages
        token = {"pagination_token": body["meta"]["next_token"]}


def joined(pages):
    return [id for page in pages for id in page]


@pytest.fixture
def author(x):
    return x.authors(1)[0]


@pytest.fixture
def path(author):
    return f"/2/users/{author}/tweets"


def first_tweets(x, author):
    """Those of the world's start."""
    return joined(read(x, f"/2/users/{author}/tweets", max_results="100"))


def test_a_timeline_has_the_accounts_posts_newest_first(x, author, path):
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

    shown = set(joined(read(x, path, max_results="100", exclude=exclude))) & set(kinds)

    left_out = {EXCLUDED[name] for name in exclude.split(",")}
    assert {kinds[id] for id in kinds} == {"original", "reply", "retweet", "quote"}
    assert shown == {id for id in kinds if kinds[id] not in left_out}


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


def test_a_token_is_good_for_its_listing_only(x, author, path):
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


def test_mentions_are_posts_that_name_the_account(x):
    author, other = x.authors(2)
    release_all(x, authors=[author, other], count=400, mentions=0.5)
    path = f"/2/users/{author}/mentions"
    username = next(a["username"] for a in x.fake("GET", "authors")["authors"] if a["id"] == author)

    body = x.get(path, max_results="100").json()

    assert len(body["data"]) == 100
    for post in body["data"]:
        assert f"@{username}" in post["text"]
        assert not post["text"].startswith("RT ")
    named = {int(post["id"]) for post in x.visible(mentions=author)}
    assert set(joined(read(x, path, max_results="100"))) == named


def test_a_list_has_the_posts_of_its_members_and_no_since_id(x):
    authors = x.authors(3)
    x.fake("PUT", "lists/77", {"members": authors[:2]})
    release_all(x, authors=authors, count=90)

    body = x.get("/2/lists/77/tweets", **{"tweet.fields": "author_id"}).json()
    refused = x.get("/2/lists/77/tweets", since_id="1")

    assert body["meta"]["result_count"] == len(body["data"]) == 100
    assert {post["author_id"] for post in body["data"]} == set(authors[:2])
    assert set(body["meta"]) == {"result_count", "next_token"}
    wanted = {int(post["id"]) for post in x.visible(list=77)}
    assert wanted < set(joined(read(x, "/2/lists/77/tweets")))
    assert refused.status_code == 400
    message = refused.json()["errors"][0]["message"]
    assert message.startswith("The query parameter [since_id] is not one of [id,max_results,")


def test_an_unknown_list_or_account_is_an_error_with_no_page(x):
    lists, users = x.get("/2/lists/9/tweets"), x.get("/2/users/9/tweets")

    assert lists.status_code == users.status_code == 200
    [missing], [nobody] = lists.json()["errors"], users.json()["errors"]
    assert (missing["detail"], missing["resource_type"]) == (
        "Could not find list with id: [9].",
        "list",
    )
    assert (nobody["detail"], nobody["parameter"]) == ("Could not find user with id: [9].", "id")


@pytest.mark.parametrize(
    ("state", "title"), [("protected", "Authorization Error"), ("suspended", "Forbidden")]
)
def test_a_hidden_account_shows_no_posts_and_says_why(x, author, state, title):
    x.fake("PUT", f"authors/{author}", {"state": state})

    for of in ("tweets", "mentions"):
        [error] = x.get(f"/2/users/{author}/{of}").json()["errors"]
        assert (error["title"], error["resource_id"]) == (title, author)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param(
            {"max_results": "4"},
            "The `max_results` query parameter value [4] is not between 5 and 100",
            id="page too small",
        ),
        pytest.param(
            {"since_id": "1.2"},
            "The `since_id` query parameter value [1.2] does not match ^[0-9]{1,19}$",
            id="not an id",
        ),
        pytest.param(
            {"exclude": "quotes"},
            "The `exclude` query parameter value [quotes] is not one of [replies,retweets]",
            id="not excludable",
        ),
        pytest.param(
            {"start_time": "yesterday"},
            "The `start_time` query parameter value [yesterday] is not a valid RFC3339 timestamp",
            id="not a time",
        ),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(x, path, params, message):
    reply = x.get(path, **params)

    assert reply.status_code == 400
    assert [error["message"] for error in reply.json()["errors"]] == [message]


def test_a_page_is_billed_by_the_post_once_a_day(x, author, path):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "p", "project": "pages"})
    release_all(x, authors=[author], count=50)

    for _ in range(2):
        shown = x.get(path, token="p", max_results="20").json()["data"]
    x.tweets([post["id"] for post in shown], token="p")

    project = x.fake("GET", "projects/pages")
    assert (project["posts"], project["spent_micro"]) == (20, 20 * 5_000)
    assert [entry["billed_posts"] for entry in x.fake("GET", "log")["entries"][-3:]] == [20, 0, 0]


def test_ones_own_posts_are_cheaper(x, author, path):
    own = {"kind": "bearer", "bearer_token": "o", "project": "own", "user_id": author}
    x.fake("POST", "credentials", own)
    release_all(x, authors=[author], count=10)

    x.get(path, token="o", max_results="10")

    assert x.fake("GET", "projects/own")["spent_micro"] == 10 * 1_000


def test_a_page_nobody_can_pay_for_is_refused(x, path):
    x.fake("PUT", "projects", {"credits_micro": 0})

    assert x.get(path).status_code == 402


def test_each_listing_has_a_window_of_its_own(x, author, path):
    x.fake("PUT", "limits", {"GET /2/users/:id/tweets": {"token": 1, "app": None}})

    statuses = [x.get(path).status_code for _ in range(2)]

    assert statuses == [200, 429]
    assert x.get(f"/2/users/{author}/mentions").status_code == 200
    assert x.entry()["endpoint"] == "GET /2/users/:id/mentions"


def test_the_limits_of_listings_are_those_of_pay_per_use(start_x):
    limits = start_x().fake("GET", "limits")

    def both(endpoint):
        return limits[endpoint]["token"], limits[endpoint]["app"]

    assert both("GET /2/users/:id/tweets") == (900, 10_000)
    assert both("GET /2/users/:id/mentions") == (300, 450)
    assert both("GET /2/tweets/search/recent") == (300, 450)
    assert both("GET /2/lists/:id/tweets") == (900, 900)


def test_the_log_tells_what_was_asked_and_what_was_shown(x, author, path):
    posts = release_all(x, authors=[author], count=10)

    x.get(path, max_results="5", since_id="1")

    entry = x.entry()
    assert entry["shown"] == [str(id) for id in posts[:5]]
    assert entry["query"].startswith(f"{path}?max_results=5&since_id=1")
    assert entry["ids"] == []


def test_faults_befall_one_listing_and_single_posts_of_it(x, author, path):
    posts = release_all(x, authors=[author], count=10)
    at = {"endpoint": "GET /2/users/:id/tweets"}
    x.fake(
        "PUT",
        "faults",
        [
            {"kind": "503_json", "match": at, "times": 1},
            {"kind": "omit", "match": {**at, "ids": [str(posts[0])]}},
            {"kind": "broken", "match": {**at, "ids": [str(posts[1])]}},
        ],
    )
    fields = {"tweet.fields": "public_metrics"}

    assert x.get(f"/2/users/{author}/mentions").status_code == 200
    assert x.get(path).status_code == 503
    shown = x.get(path, **fields).json()["data"]

    assert [int(post["id"]) for post in shown] == posts[1:10]
    assert shown[0]["public_metrics"]["retweet_count"] == "many"
    assert x.entry()["fault"] == "omit+broken"


def test_a_renamed_account_is_found_by_its_new_name_alone(x, author):
    old = x.fake("GET", f"authors/{author}")["authors"][0]["username"]

    x.fake("PUT", f"authors/{author}", {"username": "brand_new"})

    named = x.get("/2/users/by/username/Brand_New").json()["data"]
    assert (named["id"], named["username"]) == (author, "brand_new")
    [error] = x.get(f"/2/users/by/username/{old}").json()["errors"]
    assert error["detail"] == f"Could not find user with username: [{old}]."
    assert x.get("/2/users", ids=author).json()["data"][0]["username"] == "brand_new"
    assert x.get("/2/users/by", usernames="brand_new").json()["data"][0]["id"] == author
    x.fake("DELETE", f"authors/{author}")
    assert x.get(f"/2/users/by/username/{old}").json()["data"]["id"] == author


def test_every_account_has_a_name_that_x_lets_names_be(x):
    names = [author["username"] for author in x.fake("GET", "authors")["authors"]]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]{1,15}", name) for name in names)


def test_nobody_takes_the_name_of_somebody_else(x):
    one, other = (x.fake("GET", f"authors/{id}")["authors"][0] for id in x.authors(2))

    url = f"{x.url}/_fake/authors/{one['id']}"
    replies = [x.session.put(url, json={"username": name}) for name in (other["username"], "a b")]

    assert [reply.status_code for reply in replies] == [400, 400]
