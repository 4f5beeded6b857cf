import re
from datetime import UTC, datetime

import pytest

from fakex.tests.posts import release_all


def test_only_requested_fields_are_shown(x):
    ids = x.live_ids(5)

    fields = "created_at,author_id,public_metrics,lang,edit_controls"
    data = x.tweets(ids, **{"tweet.fields": fields}).json()["data"]

    assert [tweet["id"] for tweet in data] == ids
    for tweet in data:
        assert set(tweet) == {"id", "text", "edit_history_tweet_ids", *fields.split(",")}


def test_created_at_agrees_with_the_snowflake_id(x):
    [tweet_id] = x.live_ids(1)

    [tweet] = x.tweets([tweet_id], **{"tweet.fields": "created_at"}).json()["data"]

    seconds = ((int(tweet_id) >> 22) + 1288834974657) // 1000
    assert datetime.fromisoformat(tweet["created_at"]) == datetime.fromtimestamp(seconds, UTC)


def test_the_vocabulary_of_the_request_decides_that_of_the_reply(x):
    ids = x.live_ids(1)

    [post] = x.tweets(ids, **{"post.fields": "public_metrics,edit_history_post_ids"}).json()["data"]

    assert post["edit_history_post_ids"] == ids
    assert "edit_history_tweet_ids" not in post
    assert "repost_count" in post["public_metrics"]


@pytest.mark.parametrize(
    ("vocabulary", "kind"), [("both", "reposted"), ("post.fields", "retweeted")]
)
def test_a_repost_is_called_as_by_x_or_as_by_its_document(x, vocabulary, kind):
    release_all(x, count=60, replies=0, quotes=0, retweets=0.5)
    x.fake("PUT", "world", {"vocabulary": vocabulary})
    ids = [post["id"] for post in x.visible()]

    asked = {"post.fields": "id", "expansions": "referenced_posts"}
    posts = x.tweets(ids, **asked).json()["data"]

    references = [one for post in posts for one in post.get("referenced_posts", ())]
    assert {reference["type"] for reference in references} == {kind}


def test_the_author_is_included_once_when_expanded(x):
    ids = x.live_ids(60)

    body = x.tweets(ids, expansions="author_id", **{"user.fields": "protected"}).json()

    users = [user["id"] for user in body["includes"]["users"]]
    assert len(users) == len(set(users))
    assert set(users) == {tweet["author_id"] for tweet in body["data"]}
    assert set(body["includes"]["users"][0]) == {"id", "name", "username", "protected"}


def test_an_id_requested_twice_is_returned_once(x):
    [tweet_id] = x.live_ids(1)

    assert len(x.tweets([tweet_id, tweet_id]).json()["data"]) == 1


def test_characters_beyond_the_basic_plane_are_escaped_and_others_are_not(x):
    raw = b"".join(x.tweets(x.ids(100, offset)).content for offset in range(0, 500, 100))

    assert re.search(rb"\\ud83[cde]\\u", raw)
    assert "ü".encode() in raw
    assert not re.search(rb"[\xf0-\xf4]", raw)


@pytest.mark.parametrize("state", ["protected", "suspended"])
def test_a_tweet_of_a_hidden_author_is_an_authorization_error(x, state):
    hidden, visible = x.live_ids(2)
    x.fake("PUT", f"tweets/{hidden}", {"state": state})

    body = x.tweets([hidden, visible]).json()

    assert [tweet["id"] for tweet in body["data"]] == [visible]
    [error] = body["errors"]
    assert (error["title"], error["resource_id"]) == ("Authorization Error", hidden)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param({"ids": ""}, "The `ids` query parameter can not be empty", id="empty"),
        pytest.param(
            {"ids": "1,"},
            "The `ids` query parameter value [] does not match ^[0-9]{1,19}$",
            id="nothing after a comma",
        ),
        pytest.param(
            {"ids": "1" * 20},
            f"The `ids` query parameter value [{'1' * 20}] does not match ^[0-9]{{1,19}}$",
            id="twenty digits",
        ),
    ],
)
def test_a_bad_request_is_explained(x, params, message):
    reply = x.get("/2/tweets", **params)

    assert reply.status_code == 400
    assert reply.json()["errors"][0]["message"] == message


def test_a_user_look_up_says_why_a_tweet_is_hidden(x):
    first, second, third = (author["id"] for author in x.fake("GET", "authors")["authors"][:3])
    x.fake("PUT", f"authors/{first}", {"state": "protected"})
    x.fake("PUT", f"authors/{second}", {"state": "suspended"})
    x.fake("PUT", f"authors/{third}", {"state": "live"})

    fields = {"user.fields": "protected"}
    body = x.get("/2/users", ids=f"{first},{second},{third},5", **fields).json()

    assert {user["id"]: user["protected"] for user in body["data"]} == {first: True, third: False}
    suspended, unknown = body["errors"]
    assert suspended["title"] == "Forbidden"
    assert suspended["detail"] == f"User has been suspended: [{second}]."
    assert unknown["title"] == "Not Found Error"
    assert unknown["resource_id"] == "5"


def test_users_are_found_by_name(x):
    author = next(a for a in x.fake("GET", "authors")["authors"] if a["state"] == "live")

    body = x.get("/2/users/by", usernames=author["username"].upper()).json()

    assert body["data"][0]["id"] == author["id"]


def test_a_reply_is_compressed_only_when_configured_and_requested(x):
    ids = x.ids(20)

    plain = x.tweets(ids)
    x.fake("PUT", "world", {"gzip": True})
    zipped = x.tweets(ids)

    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert {t["id"] for t in zipped.json()["data"]} == {t["id"] for t in plain.json()["data"]}
