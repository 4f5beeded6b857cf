"""All operators that X lists for searches (x-api/posts/search/integrate/operators, 2026-08-22)."""

import pytest

from fakex.tests.posts import release_all
from fakex.tests.test_search import PATH, at_once, find

STANDALONE = [
    "pepsi",
    "😃",
    '"exact phrase"',
    "#tag",
    "@name",
    "$twtr",
    "from:name",
    "to:name",
    "retweets_of:name",
    'url:"https://developer.twitter.com"',
    "context:10.799022225751871488",
    'entity:"Michael Jordan"',
    "conversation_id:1334987486343299072",
    "list:123",
    "in_reply_to_tweet_id:1539382664746020864",
    "retweets_of_tweet_id:1539382664746020864",
    "quotes_of_tweet_id:1539382664746020864",
    'place:"new york city"',
    "place_country:US",
    "point_radius:[2.355128 48.861118 16km]",
    "bounding_box:[-105.301758 39.964069 -105.178505 40.09455]",
    "min_likes:100",
    "min_replies:10",
    "min_reposts:50",
]
NARROWING = [
    "is:retweet",
    "is:reply",
    "is:quote",
    "is:verified",
    "-is:nullcast",
    "has:hashtags",
    "has:cashtags",
    "has:links",
    "has:mentions",
    "has:media",
    "has:images",
    "has:video_link",
    "has:geo",
    "lang:en",
]
REFUSED = [
    "min_faves:10",
    "min_retweets:10",
    "cat is:nullcast",
    "point_radius:[2.355128 48.861118]",
    "place_country:USA",
    "min_likes:many",
    "sample:10",
]


@pytest.mark.parametrize("operator", STANDALONE)
def test_a_standalone_operator_is_taken_alone_and_among_others(x, operator):
    for query in (operator, f"cat OR {operator}", f"cat -{operator}"):
        reply = x.get(PATH, query=query)

        assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("operator", NARROWING)
def test_another_is_taken_with_one_that_stands_alone(x, operator):
    assert x.get(PATH, query=f"cat {operator}").status_code == 200
    assert x.get(PATH, query=operator).status_code == 400


@pytest.mark.parametrize("query", REFUSED)
def test_an_operator_that_the_api_does_not_have_is_refused(x, query):
    [error] = x.get(PATH, query=query).json()["errors"]

    assert "Reference to invalid operator" in error["message"]


def test_entities_are_searched_in_the_last_week_alone(x):
    query = 'entity:"Michael Jordan"'

    assert x.get(PATH, query=query).status_code == 200
    assert x.get("/2/tweets/search/all", query=query).status_code == 400


@pytest.fixture
def posts(x):
    """What two accounts posted, with all kinds among them."""
    at_once(x)
    authors = x.authors(2)
    release_all(x, authors=authors, count=400, replies=0.3, retweets=0.2, quotes=0.2)
    return [
        post["id"]
        for post in x.visible()
        if post["author_id"] in authors and post["state"] == "live" and post["kind"] == "original"
    ]


def ids(x, query):
    return {post["id"] for post in find(x, query)}


@pytest.mark.parametrize(
    ("operator", "kind"),
    [
        ("in_reply_to_tweet_id", "replied_to"),
        ("retweets_of_tweet_id", "retweeted"),
        ("quotes_of_tweet_id", "quoted"),
    ],
)
def test_posts_about_a_post_are_found(x, posts, operator, kind):
    references = [
        (post["id"], reference["id"])
        for author in x.authors(2)
        for post in find(x, f"from:{author}")
        for reference in post.get("referenced_tweets", ())
        if reference["type"] == kind
    ]
    [(_, about), *_] = references

    assert ids(x, f"{operator}:{about}") == {post for post, of in references if of == about}


def test_shares_of_an_account_are_found(x, posts):
    author = x.authors(1)[0]
    shared = {post["id"] for post in find(x, f"from:{author}")}

    found = find(x, f"retweets_of:{author}")

    assert found
    about = {reference["id"] for post in found for reference in post["referenced_tweets"]}
    assert about <= shared


def test_posts_of_a_lists_members_are_found_as_the_list_changes(x, posts):
    one, other = x.authors(2)
    for members in ([one], [one, other]):
        x.fake("PUT", "lists/77", {"members": members})

        assert {post["author_id"] for post in find(x, "list:77")} == set(members)


def test_posts_are_found_by_what_they_have_earned_by_now(x, posts):
    [liked, *_] = [post["id"] for post in x.visible(query="from:" + x.authors(1)[0])]
    query = f"from:{x.authors(1)[0]} min_likes:1000000"

    before = ids(x, query)
    x.fake("PUT", f"tweets/{liked}", {"metrics": {"likes": 2_000_000}})
    after = ids(x, query)

    assert (before, after) == (set(), {liked})
    assert liked not in ids(x, f"from:{x.authors(1)[0]} -min_likes:1000000")


def test_posts_with_media_and_cashtags_are_found(x, posts):
    [first, second, *_] = posts
    author = {post["id"]: post["author_id"] for post in x.visible()}
    x.fake("PUT", f"contents/{first}", {"media_keys": ["3_1"], "text": "so much $TWTR today"})
    x.fake("PUT", f"contents/{second}", {"media_keys": ["7_1"]})
    both = f"(from:{author[first]} OR from:{author[second]})"

    assert ids(x, f"{both} has:media") == {first, second}
    assert ids(x, f"{both} has:images") == {first}
    assert ids(x, f"{both} has:video_link") == {second}
    assert ids(x, "$twtr") == ids(x, f"{both} has:cashtags") == {first}
