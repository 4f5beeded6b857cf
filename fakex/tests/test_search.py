"""Recent search: the language of queries, the week it reaches back and the seconds it lags."""

from datetime import UTC, datetime

import pytest

from fakex.tests.conftest import wait_until
from fakex.tests.posts import joined, read, release_all

PATH = "/2/tweets/search/recent"
DAY_MS = 86_400_000
NOW = int(datetime(2026, 8, 26, 8, 41, 37, 480_000, tzinfo=UTC).timestamp() * 1000)
FIELDS = {"tweet.fields": "author_id,lang,entities,referenced_tweets,in_reply_to_user_id"}


def at_once(x):
    x.fake("PUT", "world", {"search_newest_s": 0, "search_end_s": 0})


def find(x, query):
    pages, token = [], {}
    while True:
        reply = x.get(PATH, query=query, max_results="100", **FIELDS, **token)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        pages.extend(body.get("data", ()))
        if "next_token" not in body["meta"]:
            return pages
        token = {"next_token": body["meta"]["next_token"]}


def addresses(post):
    """Where it leads; X's own address stands in the text instead."""
    links = post.get("entities", {}).get("urls", ())
    assert all(link["url"] in post["text"] for link in links)
    return " ".join(link["expanded_url"] for link in links)


def tags(post):
    return {tag["tag"] for tag in post.get("entities", {}).get("hashtags", ())}


def refers(post):
    return {reference["type"] for reference in post.get("referenced_tweets", ())}


@pytest.fixture
def posts(x):
    """A thousand posts of two accounts, all of which have appeared."""
    at_once(x)
    authors = x.authors(2)
    release_all(x, authors=authors, count=1000, tags=["artemis", "moon"], mentions=0.3, links=0.3)
    return authors


def test_a_search_finds_tags_newest_first_page_by_page(x, posts):
    wanted = {int(post["id"]) for post in x.visible(query="#artemis")}

    results = [int(post["id"]) for post in find(x, "#ARTEMIS")]

    assert len(results) > 100
    assert results == sorted(results, reverse=True)
    assert set(results) == wanted
    assert joined(read(x, PATH, query="#artemis", max_results="100")) == results


CASES = [
    pytest.param(
        "#artemis -#moon", lambda p: "artemis" in tags(p) and "moon" not in tags(p), id="negation"
    ),
    pytest.param("#artemis OR #moon", lambda p: tags(p) & {"artemis", "moon"}, id="or"),
    pytest.param(
        "(#artemis OR #moon) lang:de",
        lambda p: tags(p) & {"artemis", "moon"} and p["lang"] == "de",
        id="brackets and language",
    ),
    pytest.param("committee", lambda p: "committee" in p["text"].lower(), id="word"),
    pytest.param('"night train"', lambda p: "The night train" in p["text"], id="phrase"),
    pytest.param("Straßenbahn", lambda p: "Straßenbahn" in p["text"], id="umlaut"),
    pytest.param("電車", lambda p: "電車" in p["text"], id="language without spaces"),
    pytest.param("committee postponed", lambda p: "postponed" in p["text"], id="two words"),
    pytest.param("url:example.org", lambda p: "example.org" in addresses(p), id="link"),
    pytest.param(
        "#moon is:reply", lambda p: refers(p) == {"replied_to"} and "moon" in tags(p), id="replies"
    ),
    pytest.param("#moon -is:reply", lambda p: refers(p) <= {"quoted"}, id="no replies"),
    pytest.param("#moon has:links", lambda p: "https://" in p["text"], id="with links"),
]


@pytest.mark.parametrize(("query", "fits"), CASES)
def test_a_query_finds_only_matches(x, posts, query, fits):
    results = find(x, query)

    everything = find(x, " OR ".join(f"from:{author}" for author in posts))
    originals = [post for post in everything if "retweeted" not in refers(post)]
    new = {post["id"] for post in x.visible()}
    assert results
    assert all(fits(post) for post in results if post["id"] in new)
    if "OR" in query or " " not in query:
        ids = {post["id"] for post in originals if post["id"] in new and fits(post)}
        assert {post["id"] for post in results if post["id"] in new} == ids


def test_posts_of_an_account_are_found_by_its_name_or_id_with_retweets(x, posts):
    author = posts[0]
    username = x.fake("GET", f"authors/{author}")["authors"][0]["username"]

    results = find(x, f"from:{username}")

    assert {post["author_id"] for post in results} == {author}
    assert results == find(x, f"from:{author}")
    assert any("retweeted" in refers(post) for post in results)
    without = find(x, f"from:{username} -is:retweet")
    assert without == [post for post in results if "retweeted" not in refers(post)]


def test_posts_to_an_account_and_those_that_mention_it_are_found(x, posts):
    author = posts[0]
    username = x.fake("GET", f"authors/{author}")["authors"][0]["username"]

    to, naming = find(x, f"to:{username}"), find(x, f"@{username} -is:retweet")

    assert {post["in_reply_to_user_id"] for post in to} == {author}
    assert {post["id"] for post in to} < {post["id"] for post in naming}
    assert all(f"@{username}" in post["text"] for post in naming)


def test_words_find_no_retweets(x, posts):
    assert not any("retweeted" in refers(post) for post in find(x, "#artemis"))


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("", id="empty"),
        pytest.param("   ", id="blank"),
        pytest.param("(#artemis", id="open bracket"),
        pytest.param("#artemis)", id="closed bracket"),
        pytest.param("OR #artemis", id="nothing before OR"),
        pytest.param('"half', id="open quotes"),
        pytest.param("weather:rain", id="unknown operator"),
        pytest.param("is:beautiful", id="unknown value"),
        pytest.param("-#artemis", id="only negated"),
        pytest.param("lang:en", id="only a language"),
        pytest.param("x" * 513, id="too long"),
    ],
)
def test_an_invalid_query_is_a_400(x, query):
    reply = x.get(PATH, query=query)

    assert reply.status_code == 400
    assert "query" in reply.json()["errors"][0]["parameters"]


def test_a_cursor_older_than_a_week_is_refused_with_the_text_of_x(x):
    x.fake("PUT", "clock", {"allow_fake_now": True})

    reply = x.get(PATH, query="#artemis", since_id="2087867603335160198", now_ms=NOW)

    assert reply.status_code == 400
    assert reply.json() == {
        "errors": [
            {
                "parameters": {"since_id": ["2087867603335160198"]},
                "message": "'since_id' must be a tweet id created after 2026-08-19T08:41Z. Please "
                "use a 'since_id' that is larger than 2089996193672200192",
            }
        ],
        "title": "Invalid Request",
        "detail": "One or more parameters to your request was invalid.",
        "type": "https://api.twitter.com/2/problems/invalid-request",
    }
    assert x.get(PATH, query="a", since_id="2089996193672200192", now_ms=NOW).status_code == 200


def test_an_end_must_be_ten_seconds_ago(x):
    x.fake("PUT", "clock", {"allow_fake_now": True})

    refused = x.get(PATH, query="a", end_time="2026-08-26T08:41:28Z", now_ms=NOW)
    taken = x.get(PATH, query="a", end_time="2026-08-26T08:41:27Z", now_ms=NOW)
    too_old = x.get(PATH, query="a", start_time="2026-08-19T08:41:00Z", now_ms=NOW)

    assert (refused.status_code, taken.status_code, too_old.status_code) == (400, 200, 400)
    assert (
        refused.json()["errors"][0]["message"]
        == "'end_time' must be a minimum of 10 seconds prior to the request time."
    )


@pytest.mark.parametrize("newest_s", [30, 3])
def test_a_search_without_an_end_ends_some_seconds_ago(x, newest_s):
    x.fake("PUT", "world", {"search_newest_s": newest_s})
    x.fake("PUT", "clock", {"allow_fake_now": True})
    author = x.authors(1)[0]
    x.release(authors=[author], count=1)
    wait_until(lambda: len(x.visible()) == 1)
    [post] = x.visible()
    edge = post["born_ms"] + newest_s * 1000

    before, after = (
        x.get(PATH, query=f"from:{author}", now_ms=edge + d).json()["meta"].get("newest_id")
        for d in (0, 1)
    )

    assert before != post["id"]
    assert after == post["id"]


def test_the_meta_of_a_search_has_the_form_of_x(x, posts):
    meta = x.get(PATH, query="#moon").json()["meta"]

    assert set(meta) == {"newest_id", "oldest_id", "result_count", "next_token"}
    assert meta["result_count"] == 10
    assert x.get(PATH, query="nevermentioned").json() == {"meta": {"result_count": 0}}


def test_a_search_reaches_back_a_week(x):
    at_once(x)
    author = x.authors(1)[0]
    x.release(authors=[author], rate=1 / 3600, count=24 * 10, starts_in_s=-10 * 86_400)

    results = {post["id"] for post in find(x, f"from:{author}")}

    now_ms = x.fake("GET", "clock")["now_ms"]
    left = [post for post in x.visible() if post["state"] == "live"]
    week = {post["id"] for post in left if post["born_ms"] > now_ms - 7 * DAY_MS}
    assert 150 < len(week) < len(left)
    assert {post["id"] for post in left} & results == week
