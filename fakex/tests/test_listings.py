"""Accounts and lists: whose posts they show, under which name, at what price and limit."""

import re

import pytest

from fakex.tests.posts import joined, read, release_all


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


def test_a_list_has_the_posts_of_its_members(x):
    authors = x.authors(3)
    x.fake("PUT", "lists/77", {"members": authors[:2]})
    release_all(x, authors=authors, count=90)

    body = x.get("/2/lists/77/tweets", **{"tweet.fields": "author_id"}).json()

    assert body["meta"]["result_count"] == len(body["data"]) == 100
    assert {post["author_id"] for post in body["data"]} == set(authors[:2])
    assert set(body["meta"]) == {"result_count", "next_token"}
    wanted = {int(post["id"]) for post in x.visible(list=77)}
    assert wanted < set(joined(read(x, "/2/lists/77/tweets")))


def test_an_unknown_list_or_account_is_an_error_without_a_page(x):
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


def test_a_page_is_billed_by_the_post_once_a_day(x, author, path):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "p", "project": "pages"})
    release_all(x, authors=[author], count=50)

    for _ in range(2):
        shown = x.get(path, token="p", max_results="20").json()["data"]
    x.tweets([post["id"] for post in shown], token="p")

    project = x.fake("GET", "projects/pages")
    assert (project["posts"], project["spent_micro"]) == (20, 20 * 5_000)
    assert [entry["billed_posts"] for entry in x.fake("GET", "log")["entries"][-3:]] == [20, 0, 0]


def test_own_posts_are_cheaper(x, author, path):
    tokens = {"kind": "oauth2", "client_id": "c", "access_token": "o", "refresh_token": "r"}
    own = {"app": "own", "project": "own", "user_id": author}
    x.fake("POST", "credentials", tokens | own)
    release_all(x, authors=[author], count=10)

    x.get(path, token="o", max_results="10")

    assert x.fake("GET", "projects/own")["spent_micro"] == 10 * 1_000


def test_a_page_beyond_the_credits_is_refused(x, path):
    x.fake("PUT", "projects", {"credits_micro": 0})

    assert x.get(path).status_code == 402


def test_each_listing_has_its_own_window(x, author, path):
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


def test_the_log_has_requests_and_shown_posts(x, author, path):
    posts = release_all(x, authors=[author], count=10)

    x.get(path, max_results="5", since_id="1")

    entry = x.entry()
    assert entry["shown"] == [str(id) for id in posts[:5]]
    assert entry["query"].startswith(f"{path}?max_results=5&since_id=1")
    assert entry["ids"] == []


def test_faults_can_affect_one_listing_or_single_posts(x, author, path):
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


def test_every_account_has_a_valid_name(x):
    names = [author["username"] for author in x.fake("GET", "authors")["authors"]]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]{1,15}", name) for name in names)


def test_account_names_are_unique(x):
    one, other = (x.fake("GET", f"authors/{id}")["authors"][0] for id in x.authors(2))

    url = f"{x.url}/_fake/authors/{one['id']}"
    replies = [x.session.put(url, json={"username": name}) for name in (other["username"], "a b")]

    assert [reply.status_code for reply in replies] == [400, 400]
