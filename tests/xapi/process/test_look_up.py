"""The client on the wire, against the fake X over HTTP."""

import os
import threading
from datetime import UTC, datetime, timedelta

import pytest

from tests.x import OAUTH1
from trackers.credentials.models import Credential
from trackers.xapi.client import look_up, look_up_accounts
from trackers.xapi.errors import (
    BadRequest,
    Garbage,
    RateLimited,
    Refused,
    Unavailable,
    XError,
)
from trackers.xapi.keys import Secrets

FIGURES = {"retweets": 1, "replies": 2, "likes": 3, "quotes": 4, "bookmarks": 5, "views": 6}


def test_a_look_up_returns_tweets_as_x_shows_them(fake, bearer):
    (id,) = fake.visible_ids(1)
    fake.tell("PUT", "tweets", **{str(id): {"metrics": FIGURES}})

    answer = look_up(bearer, [id], **fake.asking)

    post = answer.posts[id]
    assert post.figures == (1, 2, 3, 4, 5, 6)
    assert post.text
    assert post.author_id
    assert post.edit_history == (id,)
    assert post.created_at.tzinfo is not None
    assert (answer.missing, answer.broken) == ({}, {})


def test_every_state_of_a_tweet_gets_its_verdict(fake, bearer):
    visible, gone, hidden, suspended, broken, silent = fake.visible_ids(6)
    fake.tell("PUT", "tweets", **{str(gone): {"state": "deleted"}})
    fake.tell("PUT", "tweets", **{str(hidden): {"state": "protected"}})
    fake.tell("PUT", "tweets", **{str(suspended): {"state": "suspended"}})
    fake.fault(
        {"kind": "broken", "match": {"ids": [broken]}},
        {"kind": "omit", "match": {"ids": [silent]}},
    )

    answer = look_up(bearer, [visible, gone, hidden, suspended, broken, silent], **fake.asking)

    assert set(answer.posts) == {visible}
    assert answer.missing == {
        gone: "not_found",
        hidden: "unauthorized",
        suspended: answer.missing[suspended],
    }
    assert answer.missing[suspended] in ("unauthorized", "suspended", "not_found")
    assert list(answer.broken) == [broken]
    assert silent not in answer.posts | answer.missing | answer.broken


def test_a_hundred_ids_are_one_request_with_its_window(fake, bearer):
    answer = look_up(bearer, fake.ids(100), **fake.asking)

    window = answer.window
    assert (window.endpoint, window.limit, window.remaining) == ("GET /2/tweets", 3500, 3499)
    assert abs(window.seen_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert timedelta(minutes=14) < window.resets_at - window.seen_at <= timedelta(minutes=15.1)
    assert fake.tell("GET", "totals")["max_ids_a_request"] >= 100


@pytest.mark.parametrize("count", [0, 101])
def test_more_than_a_hundred_ids_or_none_raise_value_error(fake, bearer, count):
    with pytest.raises(ValueError, match="1 to 100"):
        look_up(bearer, list(range(1, count + 1)), **fake.asking)


@pytest.mark.parametrize("api", ["v2", "v1.1"])
def test_oauth1_is_signed_for_the_address_of_x(fake, oauth1, api):
    oauth1.api = api
    fake.tell("PUT", "credentials", strict=True)
    ids = fake.visible_ids(3)

    assert set(look_up(oauth1, ids, **fake.asking).posts) == set(ids)


def test_a_wrong_signature_is_refused(fake, oauth1):
    wrong = Credential(
        name="wrong", kind="oauth1", secrets=Secrets(OAUTH1 | {"access_token_secret": "no"})
    )

    with pytest.raises(Refused) as refused:
        look_up(wrong, fake.ids(1), **fake.asking)

    assert (refused.value.status, refused.value.window) == (401, None)


def test_v1_returns_retweets_and_likes_and_treats_nulls_as_unavailable(fake, oauth1):
    oauth1.api = "v1.1"
    visible, gone, broken = fake.visible_ids(3)
    fake.tell("PUT", "tweets", **{str(visible): {"metrics": FIGURES}})
    fake.tell("PUT", "tweets", **{str(gone): {"state": "deleted"}})
    fake.fault({"kind": "broken", "match": {"ids": [broken]}})

    answer = look_up(oauth1, [visible, gone, broken], **fake.asking)

    post = answer.posts[visible]
    assert post.figures == (1, None, 3, None, None, None)
    assert (post.text, post.username) != ("", "")
    assert answer.missing == {gone: "unavailable"}
    assert list(answer.broken) == [broken]
    assert answer.window.endpoint == "GET /1.1/statuses/lookup"


def test_v1_accepts_a_bearer_token(fake, bearer):
    bearer.api = "v1.1"
    ids = fake.visible_ids(2)

    assert set(look_up(bearer, ids, **fake.asking).posts) == set(ids)


def test_both_apis_return_the_same_tweet(fake, bearer, oauth1):
    (id,) = fake.visible_ids(1)
    fake.tell("PUT", "tweets", **{str(id): {"metrics": FIGURES}})
    oauth1.api = "v1.1"

    new = look_up(bearer, [id], **fake.asking).posts[id]
    old = look_up(oauth1, [id], **fake.asking).posts[id]

    assert (new.created_at, new.author_id, new.text, new.lang) == (
        old.created_at,
        old.author_id,
        old.text,
        old.lang,
    )


def test_accounts_are_looked_up_by_id(fake, bearer):
    (id,) = fake.visible_ids(1)
    author = look_up(bearer, [id], **fake.asking).posts[id].author_id

    answer = look_up_accounts(bearer, [author, 999999999999], **fake.asking)

    assert answer.accounts[author].id == author
    assert answer.accounts[author].username
    assert answer.missing == {999999999999: "not_found"}
    assert answer.window.endpoint == "GET /2/users"


@pytest.mark.parametrize("api", ["v2", "v1.1"])
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("429", RateLimited),
        ("503_json", Unavailable),
        ("503_text", Unavailable),
        ("500", Unavailable),
        ("401", Refused),
        ("403", Refused),
        ("html", Garbage),
        ("garbage_list", Garbage),
        ("truncated", (Garbage, Unavailable)),
        ("reset", Unavailable),
    ],
)
def test_every_fault_of_a_reply_raises_its_error(fake, oauth1, api, fault, error):
    oauth1.api = api
    fake.fault({"kind": fault, "times": 1})
    ids = fake.visible_ids(1)

    with pytest.raises(error) as raised:
        look_up(oauth1, ids, **fake.asking)
    again = look_up(oauth1, ids, **fake.asking)

    assert isinstance(raised.value, XError)
    assert 0 < len(str(raised.value)) <= 250
    assert set(again.posts) == set(ids)


def test_an_exhausted_window_says_until_when(fake, bearer):
    fake.tell("PUT", "limits", **{"GET /2/tweets": {"token": 1, "app": 1}})
    look_up(bearer, fake.ids(1), **fake.asking)

    with pytest.raises(RateLimited) as limited:
        look_up(bearer, fake.ids(1), **fake.asking)

    assert limited.value.resets_at == limited.value.window.resets_at
    assert limited.value.window.remaining == 0
    assert limited.value.resets_at > datetime.now(UTC)


def test_a_bad_request_error_does_not_list_the_ids(fake, bearer):
    with pytest.raises(BadRequest) as bad:
        look_up(bearer, [10**20 + number for number in range(50)], **fake.asking)

    assert len(str(bad.value)) < 250


def test_a_reply_that_takes_too_long_is_unavailable(fake, bearer):
    fake.fault({"kind": "slow", "params": {"ms": 60_000, "delay_ms": 60_000, "seconds": 60}})
    asking = {**fake.asking, "timeout": timedelta(seconds=0.5)}

    with pytest.raises(Unavailable, match=r"within 0\.5 s"):
        look_up(bearer, fake.ids(1), **asking)


def sees_all(fake, credential, ids):
    return set(look_up(credential, ids, **fake.asking).posts) == set(ids)


def test_threads_have_connections_of_their_own(fake, bearer):
    bearer.pk = 1
    ids, answers = fake.visible_ids(5), []

    def ask():
        answers.extend(
            set(look_up(bearer, ids, **fake.asking).posts) == set(ids) for _ in range(30)
        )

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [True] * 120


def test_a_forked_process_does_not_read_replies_of_its_parent(fake, bearer):
    ids = fake.visible_ids(5)
    look_up(bearer, ids, **fake.asking)

    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            good = all(
                set(look_up(bearer, ids, **fake.asking).posts) == set(ids) for _ in range(30)
            )
            os._exit(0 if good else 1)
        children.append(child)
    parent = all(sees_all(fake, bearer, ids) for _ in range(30))

    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    assert parent
