"""JSON as twarc, streams and archives have it, whole answers and pretty-printed files."""

import gzip
import io
import json
from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.opening import CutOff, lines_of
from trackers.ingest.found_tweets import FoundTweet, Options, Rejected

ID = 1212092628029698048
METRICS = {"retweet_count": 1, "reply_count": 2, "like_count": 3, "quote_count": 4}


def v2(id, **more):
    return {"id": str(id), "text": "words", "author_id": "7", "public_metrics": METRICS, **more}


def v1(id, **more):
    return {
        "id": id, "id_str": str(id), "full_text": "words", "retweet_count": 1, "favorite_count": 3,
        "created_at": "Wed Jan 01 00:00:00 +0000 2020",
        "user": {"id_str": "7", "screen_name": "someone"}, **more,
    }  # fmt: skip


def all_in(*values, referenced=False):
    lines = [json.dumps(value) + "\n" for value in values]
    return list(read_tweets(lines, format="jsonl", options=Options(referenced=referenced)))


def ids(all):
    return [one.id if isinstance(one, FoundTweet) else one.line for one in all]


ANSWER = {
    "data": [
        v2(1, referenced_tweets=[{"type": "retweeted", "id": "11"}]),
        v2(
            2,
            referenced_tweets=[{"type": "quoted", "id": "12"}, {"type": "replied_to", "id": "13"}],
        ),
    ],
    "includes": {
        "tweets": [v2(11), v2(12, author_id="8")],
        "users": [{"id": "7", "username": "someone"}, {"id": "8", "username": "other"}],
    },
    "meta": {"result_count": 2},
    "__twarc": {"url": "x", "version": "2.14.0", "retrieved_at": "2026-01-02T03:04:05+00:00"},
}  # fmt: skip


def test_an_answer_in_the_format_of_twarc_gives_tweets_with_authors():
    first, two = all_in(ANSWER)

    assert (first.id, two.id) == (1, 2)
    assert (first.post.username, first.post.author_id) == ("someone", 7)
    assert first.retrieved_at == two.retrieved_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_referenced_tweets_are_followed_on_request():
    all = all_in(ANSWER, referenced=True)

    assert sorted(ids(all)) == [1, 2, 11, 12, 13]
    whole = {one.id: one for one in all if one.post}
    assert sorted(whole) == [1, 2, 11, 12]
    assert whole[12].post.username == "other"
    assert whole[12].retrieved_at.year == 2026


def test_a_flattened_tweet_brings_the_tweets_inside_it():
    flat = v2(
        1,
        author={"id": "7", "username": "someone"},
        referenced_tweets=[{"type": "quoted", **v2(11)}, {"type": "replied_to", "id": "12"}],
        __twarc=ANSWER["__twarc"],
    )

    assert ids(all_in(flat)) == [1]
    one, eleven, twelve = all_in(flat, referenced=True)
    assert one.post.username == "someone"
    assert (eleven.id, eleven.post.text, eleven.retrieved_at.year) == (11, "words", 2026)
    assert twelve == FoundTweet(12)


def test_nested_retweets_and_quotes_of_v1_are_followed():
    quoted = v1(3, in_reply_to_status_id_str="5", quoted_status_id_str="4", quoted_status=v1(4))
    retweet = v1(1, retweeted_status=v1(2, quoted_status=quoted, quoted_status_id_str="3"))

    assert ids(all_in(retweet)) == [1]
    assert sorted(ids(all_in(retweet, referenced=True))) == [1, 2, 3, 4, 5]


def test_a_long_tweet_of_a_v1_stream_has_its_whole_text():
    streamed = v1(1, text="wor…", extended_tweet={
        "full_text": "words and more", "entities": {"hashtags": [{"text": "moon"}]}
    })  # fmt: skip
    del streamed["full_text"]

    [read] = all_in(streamed)
    assert (read.post.text, read.post.entities.hashtags) == ("words and more", ("moon",))


def media_of(*kinds):
    return {"media": [{"id_str": str(id), "type": kind} for id, kind in enumerate(kinds, 71)]}


def test_media_and_the_original_of_a_retweet_are_read_from_v1():
    shown = v1(1, extended_entities=media_of("photo", "video", "animated_gif", "hologram", None))
    odd = v1(2, extended_entities={"media": [7, {"type": "photo"}]}, retweeted_status=7)

    first, second, retweet = all_in(shown, odd, v1(3, retweeted_status=v1(4)))

    assert first.post.media_keys == ("3_71", "7_72", "16_73")
    assert (second.post.media_keys, second.post.retweeted) == ((), None)
    assert retweet.post.retweeted == 4


def test_media_and_replies_are_read_from_an_archive():
    archived = v1(1, favorite_count="3", extended_entities=media_of("photo"))
    reply = v1(2, favorite_count="3", in_reply_to_status_id_str="5")

    archived["entities"] = {"hashtags": [{"text": "Moon"}], "media": media_of("photo")["media"]}

    first, second = all_in(archived, reply)

    assert (first.post.media_keys, first.post.replied_to) == (("3_71",), None)
    assert first.post.entities.hashtags == ("moon",)
    assert (second.post.media_keys, second.post.replied_to) == ((), 5)


def test_a_lone_surrogate_in_a_text_breaks_no_line():
    line = json.dumps(v2(1)).replace("words", r"cut \ud83e")

    [one] = read_tweets([line], format="jsonl")

    assert "\ufffd" in one.post.text


TWEET = {
    "edit_info": {"initial": {"editTweetIds": [str(ID)], "isEditEligible": False}},
    "retweeted": False, "source": "<a href=\"https://x.com\">X</a>",
    "entities": {"user_mentions": [{"name": "A", "id_str": "5"}, {"name": "B", "id_str": "6"}]},
    "display_text_range": ["0", "5"], "favorite_count": "12", "id_str": str(ID), "id": str(ID),
    "truncated": False, "retweet_count": "3", "created_at": "Wed Oct 10 20:19:24 +0000 2018",
    "favorited": False, "full_text": "words", "lang": "en",
}  # fmt: skip


def archive(count, *, indent=2, name="tweets"):
    tweets = [{"tweet": {**TWEET, "id": str(ID + n), "id_str": str(ID + n)}} for n in range(count)]
    return f"window.YTD.{name}.part0 = " + json.dumps(tweets, indent=indent)


def old_archive(count):
    """`tweet.js` of 2018: no wrapper, braces on one line."""
    tweets = ", ".join(
        json.dumps({**TWEET, "id": str(ID + n), "id_str": str(ID + n)}, indent=2)
        for n in range(count)
    )
    return f"window.YTD.tweet.part0 = [ {tweets} ]"


def lines(text):
    return list(read_tweets(io.StringIO(text)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(archive(3), id="as X writes it"),
        pytest.param(archive(3, indent=None), id="in one line"),
        pytest.param(archive(3, indent="\t"), id="with tabs"),
        pytest.param(old_archive(3), id="of 2018"),
        pytest.param(archive(1) + "\n" + archive(3).replace("part0", "part1"), id="two parts"),
        pytest.param(archive(3).replace("\n", "\r\n"), id="of Windows"),
        pytest.param("\ufeff" + archive(3), id="with a mark"),
        pytest.param(archive(3).partition(" = ")[2], id="without its head"),
        pytest.param(json.dumps([v2(ID + n) for n in range(3)], indent=4), id="an array of v2"),
        pytest.param(json.dumps({"data": [*map(v2, range(ID, ID + 3))]}, indent=1), id="an answer"),
    ],
)  # fmt: skip
def test_json_over_many_lines_is_recognised_by_its_beginning(text):
    all = lines(text)

    assert sorted({one.id for one in all}) == [ID, ID + 1, ID + 2]


def test_a_tweet_of_an_archive_is_described_and_its_metrics_have_no_time():
    [only] = lines(archive(1))

    assert (only.post.text, only.post.lang) == ("words", "en")
    assert only.post.created_at == datetime(2018, 10, 10, 20, 19, 24, tzinfo=UTC)
    assert set(only.post.figures) == {None}
    assert only.retrieved_at is None


@pytest.mark.parametrize(
    "written",
    # Written by the test: each process of a run collects all of these.
    [partial(archive, 2000), partial(archive, 2000, indent=None), partial(old_archive, 2000)],
    ids=["as X writes it", "in one line", "of 2018"],
)
def test_a_damaged_tweet_of_an_archive_is_reported_with_its_line_and_costs_only_itself(written):
    damaged = written().replace(f'"{ID + 700}"', f'"{ID + 700}', 1)

    all = lines(damaged)

    [rejected] = [one for one in all if isinstance(one, Rejected)]
    assert [one.id for one in all if isinstance(one, FoundTweet)] == [
        ID + n for n in range(2000) if n != 700
    ]
    begins = damaged[: damaged.index(str(ID + 700))].count("\n") + 1
    assert begins - 30 < rejected.line <= begins


def test_a_truncated_archive_yields_its_whole_tweets():
    text = archive(1000)

    all = lines(text[: len(text) * 2 // 3])

    assert [one.id for one in all[:-1]] == [ID + n for n in range(len(all) - 1)]
    assert 600 < len(all) < 700
    assert isinstance(all[-1], Rejected)


def test_an_archive_is_read_as_a_stream():
    taken = 0

    def slowly():
        nonlocal taken
        for line in archive(3000).splitlines(keepends=True):
            taken += 1
            yield line

    reader = read_tweets(slowly())

    assert next(reader).id == ID
    assert taken < 5000


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
)
keys = st.sampled_from(
    ["id", "id_str", "data", "includes", "tweets", "users", "__twarc", "author", "author_id",
     "public_metrics", "favorite_count", "extended_tweet", "retweeted_status", "quoted_status",
     "referenced_tweets", "in_reply_to_status_id_str", "tweet", "created_at", "retrieved_at"]
)  # fmt: skip
odd = st.recursive(
    values | st.sampled_from(["1", str(ID), ID]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(odd, max_size=4), st.sampled_from(["json", "jsonl"]), st.integers(0, 3))
def test_arbitrary_values_never_break_the_reader(given, format, indent):
    text = "\n".join(json.dumps(one, indent=indent or None) for one in given)

    for one in read_tweets(io.StringIO(text), format=format, options=Options(referenced=True)):
        assert isinstance(one, FoundTweet | Rejected)
        assert not isinstance(one, FoundTweet) or 0 < one.id < 2**63


@settings(max_examples=300, deadline=None)
@given(st.text('[]{}",:\\ \nwindow.YTD=019e-tru', max_size=80))
def test_arbitrary_text_never_hangs_the_document_reader(text):
    for one in read_tweets(io.StringIO(text), format="json"):
        assert isinstance(one, FoundTweet | Rejected)


def unpacked(data, **given):
    seen = [0]
    return list(lines_of(io.BytesIO(data), passed=seen.append)), seen[-1]


@pytest.mark.parametrize("text", ["1\n2\n", "", "1", "\n\n"])
def test_a_compressed_file_is_recognised_by_its_first_bytes(text):
    data = text.encode()

    assert unpacked(gzip.compress(data))[0] == unpacked(data)[0] == text.splitlines(keepends=True)


def test_a_multi_part_compressed_file_is_read_whole_and_counted_in_compressed_bytes():
    data = gzip.compress(b"1\n" * 1000) + gzip.compress(b"2\n")

    lines, taken = unpacked(data)

    assert (len(lines), taken) == (1001, len(data))


def test_a_truncated_compressed_file_yields_what_came_before_and_says_where_it_ends():
    text = "".join(f"{n}\n" for n in range(ID, ID + 20_000)).encode()
    data = gzip.compress(text)[:-1000]

    with pytest.raises(CutOff):
        unpacked(data)
    all = list(read_tweets(lines_of(io.BytesIO(data), passed=lambda _: None)))

    assert [one.id for one in all[:-1]] == list(range(ID, ID + len(all) - 1))
    assert len(all) > 10_000
    assert all[-1].line == len(all)
    assert "breaks off" in all[-1].why
