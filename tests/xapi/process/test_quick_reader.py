"""The quick reader says what the careful one says, or leaves the answer to it."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackers.xapi.client import look_up
from trackers.xapi.errors import XError
from trackers.xapi.parse import usual, v2
from trackers.xapi.results import Figures, Lookup, Post, Shown

NAMES = (
    *("retweet_count", "reply_count", "like_count"),
    *("quote_count", "bookmark_count", "impression_count"),
)
METRICS = dict(zip(NAMES, range(1, 7), strict=True))
IDS = (20, 21, 1577730467436138524, 2**63 - 1)


def post(id, **more):
    return {
        "id": str(id),
        "text": "drum \u00fc \U0001f941",
        "edit_history_tweet_ids": [str(id)],
        "public_metrics": METRICS,
    } | more


def in_posts(post):
    """The same in X's other vocabulary."""
    counts = {name.replace("retweet", "repost"): n for name, n in post["public_metrics"].items()}
    history = post["edit_history_tweet_ids"]
    return {"id": post["id"], "text": post["text"], "edit_history_post_ids": history} | {
        "public_metrics": counts
    }


def body_of(*posts, **more):
    return json.dumps({"data": posts, **more}).encode()


def outcome(read, body, ids):
    try:
        return read(body, ids, window=None)
    except XError as error:
        return type(error), str(error)


def usual_of(careful, ids):
    """What the careful reader says, put as the quick one would, where there is nothing else."""
    only_counts = {
        id: Post(id, None, None, found.text, "", found.edit_history, found.figures)
        for id, found in careful.posts.items()
    }
    assert careful == Lookup(only_counts, {}, {}, None)
    assert sorted(only_counts) == sorted(ids)
    assert all(found.edit_history in ((), (id,)) for id, found in only_counts.items())
    rows = [careful.posts[id].figures for id in ids]
    return Shown(ids, tuple(map(list, zip(*rows, strict=True))), None)


def agree(body, ids):
    """Whether it was the quick reader's own answer."""
    quick, careful = (outcome(read, body, ids) for read in (usual.read_lookup, v2.read_lookup))
    if not isinstance(quick, Shown):
        assert quick == careful
        return False
    assert quick == usual_of(careful, ids)
    return True


COUNTS = st.integers(0, 2**31 - 1)


@given(
    st.lists(st.sampled_from(IDS), min_size=1, unique=True),
    st.randoms(use_true_random=False),
    st.lists(st.tuples(*[COUNTS] * 5, st.integers(0, 2**63 - 1)), min_size=4, max_size=4),
    st.text(),
)
def test_documented_answers_take_the_quick_reader_in_any_order(ids, random, rows, text):
    figures = dict(zip(ids, rows, strict=False))
    posts = [
        post(id, text=text, public_metrics=dict(zip(NAMES, row, strict=True)))
        for id, row in figures.items()
    ]
    random.shuffle(posts)

    said = usual.read_lookup(body_of(*posts), ids, window=None)

    assert said == Shown(ids, tuple(map(list, zip(*figures.values(), strict=True))), None)


def test_the_other_vocabulary_takes_the_quick_reader_and_a_mixture_of_both_does_not():
    assert agree(body_of(in_posts(post(20)), in_posts(post(21))), [21, 20])
    assert not agree(body_of(in_posts(post(20)), post(21)), [20, 21])


@pytest.mark.parametrize("history", [None, ["20"]])
@pytest.mark.parametrize("more", [{}, {"note_tweet": {"text": "long"}}, {"a_new_field": [1]}])
def test_extra_fields_without_counts_take_the_quick_reader(history, more):
    assert agree(body_of(post(20, edit_history_tweet_ids=history, **more), meta={}), [20])


def without(name, **more):
    return {other: count for other, count in METRICS.items() if other != name} | more


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(body_of(post(20), errors=[]), id="errors"),
        pytest.param(body_of(), id="nothing shown"),
        pytest.param(body_of(post(21)), id="another one"),
        pytest.param(body_of(post(20), post(21)), id="one more"),
        pytest.param(body_of(post(20), post(20)), id="twice"),
        pytest.param(body_of(post(20, edit_history_tweet_ids=["19", "20"])), id="two versions"),
        pytest.param(body_of(post(20, edit_history_tweet_ids=["19"])), id="another's history"),
        pytest.param(body_of(post(20, edit_history_tweet_ids=[])), id="an empty history"),
        pytest.param(
            body_of(in_posts(post(20)) | {"public_metrics": without("like_count")}),
            id="five counts in the other vocabulary",
        ),
        pytest.param(body_of(post(20, withheld={"country_codes": ["DE"]})), id="withheld"),
        pytest.param(body_of(post(20, created_at="2026-08-19T08:41:37Z")), id="a creation time"),
        pytest.param(body_of(post(20, created_at="yesterday")), id="no creation time"),
        pytest.param(body_of(post(20, author_id="12")), id="an author"),
        pytest.param(body_of(post(20, lang="en")), id="a language"),
        pytest.param(body_of(post(20, conversation_id="19")), id="a conversation"),
        pytest.param(body_of(post(20, text=["a"])), id="no text"),
        pytest.param(body_of(post(20, public_metrics=None)), id="no counts"),
        pytest.param(body_of(post(20, public_metrics=without("like_count"))), id="five counts"),
    ],
)
def test_odd_answers_are_left_to_the_careful_reader(body):
    assert not agree(body, [20])


@pytest.mark.parametrize("count", [-1, True, None, 3.0, "3", 2**31, 2**63, 10**40])
def test_a_count_too_large_for_its_column_is_left_to_the_careful_reader(count):
    assert not agree(body_of(post(20, public_metrics=METRICS | {"like_count": count})), [20])


def test_only_views_may_be_more_than_an_integer_holds():
    body = body_of(post(20, public_metrics=METRICS | {"impression_count": 2**63 - 1}))

    assert agree(body, [20])


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.sampled_from(["20", "21"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip
METRICS_OF_ANY_KIND = st.fixed_dictionaries(
    dict.fromkeys(NAMES[1:], COUNTS),
    optional={"retweet_count": COUNTS | ANYTHING, "repost_count": COUNTS | ANYTHING},
)
POSTS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["20", "21"]),
        "public_metrics": METRICS_OF_ANY_KIND | ANYTHING,
    },
    optional={
        "text": st.text(max_size=3) | ANYTHING,
        "edit_history_tweet_ids": st.lists(st.sampled_from(["20", "21"]), max_size=2) | ANYTHING,
        "edit_history_post_ids": st.lists(st.sampled_from(["20", "21"]), max_size=2) | ANYTHING,
        "note_tweet": st.fixed_dictionaries({}, optional={"text": ANYTHING}) | ANYTHING,
        "withheld": ANYTHING,
        "author_id": ANYTHING,
        "created_at": ANYTHING,
        "lang": ANYTHING,
        "attachments": ANYTHING,
        "new": ANYTHING,
    },
)
ANSWERS = st.fixed_dictionaries(
    {"data": st.lists(POSTS | ANYTHING, max_size=3) | ANYTHING},
    optional={"errors": ANYTHING, "meta": ANYTHING, "type": ANYTHING},
)
ASKED = st.lists(st.sampled_from([20, 21]), min_size=1, max_size=3)


@settings(max_examples=200)
@given(ANSWERS, ASKED)
@example({"data": 1}, [20])
@example({"data": {"20": post(20)}}, [20])
def test_the_quick_reader_agrees_with_the_careful_one_or_declines(answer, ids):
    agree(json.dumps(answer).encode(), ids)


TOKENS = re.compile(rb'"[^"]*"|[0-9]+|[{}\[\]:,]')
PIECES = TOKENS.findall(body_of(post(20), post(21)))
SPOILERS = [
    *(b"", b"null", b"true", b"-1", b"01", b"1.0", b"1e2", b"2147483648", b"[]", b"{}", b"\xff"),
    *(b'"20"', b'"21"', b'"\\ud800"', b'"\\q"', b'"\xff"', b",", b'"like_count":7,'),
    *(b'"id":"21",', b'"text":1,', b'"errors":[],', b'"data":[],', b'"public_metrics":{},'),
    *(b'"new":"\\q",', b'"withheld":{},', b'"edit_history_tweet_ids":["19","20"],'),
    b'"retweet_count":null,',
]
SPOIL = st.tuples(
    st.integers(0, len(PIECES) - 1), st.sampled_from(SPOILERS), st.sampled_from([0, 1])
)


@settings(max_examples=300)
@given(st.lists(SPOIL, max_size=3), st.sampled_from([[20, 21], [21, 20], [20], [20, 20]]))
@example([(1, b'"like_count":7,', 0)], [20, 21])
def test_both_readers_treat_damaged_bytes_alike(spoilt, ids):
    """Names that come twice, texts that are none, numbers that JSON does not have."""
    pieces = list(PIECES)
    for at, spoiler, replaced in spoilt:
        pieces[at] = spoiler if replaced else spoiler + pieces[at]

    agree(b"".join(pieces), ids)


def test_answers_of_the_fake_take_the_quick_reader(fake, bearer):
    ids = fake.visible_ids(100)

    reply = look_up(bearer, ids, **fake.asking, describes=False, usual=True)

    assert isinstance(reply, Shown)
    assert (reply.ids, reply.window.endpoint) == (ids, "GET /2/tweets")
    assert [len(column) for column in reply.figures] == [100] * len(Figures._fields)


@pytest.mark.parametrize("how", [{"usual": True}, {"describes": False}])
def test_a_look_up_is_returned_where_the_quick_reader_is_not_requested(fake, bearer, how):
    assert isinstance(look_up(bearer, fake.visible_ids(1), **fake.asking, **how), Lookup)


def test_a_look_up_is_returned_for_v1(fake, oauth1):
    oauth1.api = "v1.1"

    said = look_up(oauth1, fake.visible_ids(1), **fake.asking, describes=False, usual=True)

    assert isinstance(said, Lookup)
