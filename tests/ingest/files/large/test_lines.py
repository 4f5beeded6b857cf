"""What a file or a person gives: found, or rejected with its number and the reason."""

import io
import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackers.ingest.files.lines import READERS, FoundTweet, Rejected, id_of, read_tweets
from trackers.ingest.found_tweets import UnreadableError

ID = 1212092628029698048


def read_ids(text, **given):
    """Ids that were found, and numbers of the lines that were rejected."""
    all = list(read_tweets(io.StringIO(text, newline=""), **given))
    return (
        [one.id for one in all if isinstance(one, FoundTweet)],
        [one.line for one in all if isinstance(one, Rejected)],
    )


@pytest.mark.parametrize(
    "text",
    [
        str(ID),
        f"  {ID}\t",
        f'"{ID}"',
        f"https://twitter.com/someone/status/{ID}",
        f"https://x.com/someone/status/{ID}",
        f"http://www.twitter.com/someone/status/{ID}",
        f"https://mobile.twitter.com/some_one1/status/{ID}",
        f"x.com/someone/status/{ID}",
        f"https://x.com/i/status/{ID}",
        f"https://x.com/i/web/status/{ID}",
        f"https://twitter.com/someone/statuses/{ID}",
        f"https://x.com/someone/status/{ID}?s=20&t=AbC",
        f"https://x.com/someone/status/{ID}/photo/1",
        f"https://x.com/someone/status/{ID}/",
        f"https://x.com/someone/status/{ID}#m",
        f"HTTPS://X.COM/Someone/Status/{ID}",
    ],
)
def test_an_id_is_read_in_every_format(text):
    assert id_of(text) == ID
    assert read_ids(text + "\n") == ([ID], [])


@pytest.mark.parametrize(
    "text",
    [
        "0", "-5", "+5", "1.5", "1e18", "1,5", "id", "９９", "²", "12 34", "1\0", "1\x0b2",
        str(2**63), "9" * 19, "9" * 20, "1" * 5000, "nan",
        "https://example.com/someone/status/1",
        "https://x.com.example.com/someone/status/1",
        "https://evil.example/?https://x.com/someone/status/1",
        "https://x.com/someone",
        "https://x.com/someone/status/",
        "https://x.com/someone/status/abc",
        "https://x.com/someone/status/" + "9" * 20,
        f"https://x.com/someone/status/{ID}x",
    ],
)  # fmt: skip
def test_a_malformed_id_is_rejected(text):
    assert id_of(text) is None
    assert read_ids(f"1\n{text}\n2\n") == ([1, 2], [2])


def test_the_largest_id_is_accepted():
    assert id_of(str(2**63 - 1)) == 2**63 - 1


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "# only a remark\n"])
def test_an_empty_file_has_no_tweets(text):
    assert read_ids(text) == ([], [])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_numbers_count_every_line_of_the_file(mark, end):
    lines = ["1", "", "# a remark", "bad", "2", "", "worse", "3"]

    assert read_ids(mark + end.join(lines)) == ([1, 2, 3], [4, 7])


def test_a_rejected_line_is_shown_in_short_with_the_reason():
    [one] = [one for one in read_tweets(["1", "x" * 10_000]) if isinstance(one, Rejected)]

    assert one == Rejected(2, "x" * 80, "is neither the id nor the address of a tweet")


@pytest.mark.parametrize(
    "text",
    [
        "id,text\n1,one\n2,two\n",
        "text,Tweet ID\none,1\ntwo,2\n",
        'text;"tweet_id"\n"a;b";1\n;2\n',
        "text\tid_str\n\t1\ntwo\t2\n",
        "user,url\nsomeone,https://x.com/someone/status/1\nother,https://x.com/other/status/2\n",
        "tweet_id\n1\n2\n",
        '"id","text"\n"1","a ""quoted"" one, with a comma"\n"2",""\n',
        "\ufeffid,text\r\n1,one\r\n2,two\r\n",
        "text,id\n#tagged,1\n# also,2\n",
    ],
)
def test_a_csv_is_read_by_its_header_or_its_first_line(text):
    assert read_ids(text) == ([1, 2], [])


@pytest.mark.parametrize("text", [f"{ID},one\n{ID + 1},two\n", f"one,{ID}\ntwo,{ID + 1}\n"])
def test_a_csv_without_a_header_is_read_by_its_long_ids(text):
    assert read_ids(text) == ([ID, ID + 1], [])


@pytest.mark.parametrize(
    "text",
    [
        "name,age\nbob,12\neve,33\n",
        "bob,12\neve,33\n",
        "12,bob\n33,eve\n",
        "age\n12\n33\n",
        '"Age in years"\n12\n33\n',
    ],
)
def test_ages_are_not_taken_for_ids(text):
    first = text.partition("\n")[0]
    with pytest.raises(UnreadableError, match=f"which column holds the tweets.*: {first}$"):
        read_ids(text)


@pytest.mark.parametrize(
    "text",
    [
        "2.1E+18\n20\n",
        "2100000000000000000.0\n20\n",
        "name,tweet_id\nbob,2.1E+18\neve,20\n",
    ],
)
def test_an_id_rounded_by_a_spreadsheet_is_reported_as_such(text):
    all = list(read_tweets(text.splitlines(keepends=True)))

    assert [one.id for one in all if isinstance(one, FoundTweet)] == [20]
    [why] = [one.why for one in all if isinstance(one, Rejected)]
    assert "a spreadsheet has rounded" in why


def test_of_several_id_columns_the_most_plainly_named_is_chosen():
    # `id` is often the row's own number, and 1.2E+18 where a spreadsheet was.
    assert read_ids(f"id,id_str\n1.2E+18,{ID}\n") == ([ID], [])
    assert read_ids(f"id,tweet_id\n7,{ID}\n") == ([ID], [])


def test_bad_lines_of_a_csv_are_reported_by_number():
    text = 'id,text\n1,one\n,two\nx,three\n\n4,"open\n5,five\n'

    assert read_ids(text) == ([1, 5], [3, 4, 6])


def test_a_bad_first_line_keeps_the_other_lines():
    assert read_ids("exported, by hand\n1\n2\n") == ([1, 2], [1])
    assert read_ids("mine\n1\nbad\n2\n") == ([1, 2], [1, 3])
    assert read_ids(f"mine\n{ID}\n") == ([ID], [1])
    with pytest.raises(UnreadableError, match="The first line is: no,column"):
        read_ids("no,column\nof,ids\n", format="csv")


V2 = {
    "id": str(ID),
    "text": "words",
    "author_id": "7",
    "created_at": "2020-01-01T00:00:00.000Z",
    "public_metrics": {"retweet_count": 1, "reply_count": 2, "like_count": 3, "quote_count": 4},
}
V1 = {
    "id": ID,
    "id_str": str(ID),
    "created_at": "Wed Jan 01 00:00:00 +0000 2020",
    "full_text": "words",
    "retweet_count": 1,
    "favorite_count": 3,
    "user": {"id_str": "7", "screen_name": "someone"},
}
TWARC = {"data": [V2], "includes": {}, "__twarc": {"retrieved_at": "2026-01-02T03:04:05+00:00"}}


def only(value):
    [one] = read_tweets([json.dumps(value)])
    return one


@pytest.mark.parametrize("value", [V2, {"data": V2}, {"data": [V2]}, [V2], TWARC])
def test_a_v2_tweet_comes_with_its_metrics(value):
    first = only(value)

    assert first.id == ID
    assert tuple(first.post.figures) == (1, 2, 3, 4, None, None)
    assert first.post.created_at == datetime(2020, 1, 1, tzinfo=UTC)
    assert (first.post.text, first.post.author_id) == ("words", 7)


def test_a_v1_status_comes_with_its_two_metrics():
    one = only(V1)

    assert tuple(one.post.figures) == (1, None, 3, None, None, None)
    assert (one.post.username, one.post.created_at.year) == ("someone", 2020)


@pytest.mark.parametrize("value", [TWARC, {**V2, "__twarc": TWARC["__twarc"]}])
def test_the_retrieval_time_of_twarc_is_read(value):
    assert only(value).retrieved_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("marks", [None, 5, {}, {"retrieved_at": "soon"}, {"retrieved_at": 5}])
def test_malformed_twarc_marks_are_ignored(marks):
    assert only({**V2, "__twarc": marks}).retrieved_at is None


@pytest.mark.parametrize("value", [{"id": str(ID)}, {"id": ID, "text": "x"}, {"id_str": str(ID)}])
def test_an_object_without_metrics_gives_its_id(value):
    assert only(value) == FoundTweet(ID)


@pytest.mark.parametrize(
    "line",
    [
        "{", "nothing", "null", "true", "1.5", "{}", '{"id": null}', '{"id": true}', '{"id": -5}',
        '{"id": 1e18}', f'{{"id": {2**64}}}', f'{{"id": "{2**63}"}}', '{"id": [1]}', "[null]",
        '{"data": [5.5]}', "[" * 2000, '{"id": "1\0"}', "# no remark here",
    ],
)  # fmt: skip
def test_a_bad_line_of_jsonl_is_reported_by_number_and_keeps_the_other_lines(line):
    assert read_ids(f'{{"id": "1"}}\n{line}\n{{"id": "2"}}\n', format="jsonl") == ([1, 2], [2])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"a":' * 100_000, "is nested too deeply"),
        (f'{{"id": {"9" * 6000}}}', "has a number with too many digits"),
        (f'{{"id": {ID}.0}}', "is not a tweet: its id is a number that was rounded"),
        ("{", "is not JSON: Expecting property name"),
    ],
)
def test_bad_json_is_reported_in_terms_of_json(line, why):
    [one] = read_tweets([line], format="jsonl")

    assert one.why.startswith(why)


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "3", "public_metrics": 5}', '{"id": "3", "public_metrics": {"like_count": "many"}}',
        '{"id": "3", "public_metrics": {"like_count": -1}}', '{"id": "3", "favorite_count": 1e99}',
    ],
)  # fmt: skip
def test_bad_metrics_of_a_valid_id_do_not_reject_it(line):
    assert read_ids(f'{{"id": "1"}}\n{line}\n{{"id": "2"}}\n', format="jsonl") == ([1, 3, 2], [])


def test_a_broken_tweet_in_an_answer_costs_only_itself():
    value = {"data": [V2, {"id": "x"}, {"id": "5"}]}

    assert read_ids(json.dumps(value)) == ([ID, 5], [1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": "1"}\n', [1]),
        ("[1, 2]\n", [1, 2]),
        ("1\n", [1]),
        ("tweet_id\n1\n", [1]),
        (f"a,{ID}\n", [ID]),
        ("# remark\n\ufeff1\n", [1]),
    ],
)
def test_the_first_line_decides_the_format(text, expected):
    assert read_ids(text) == (expected, [])


anything = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(anything | st.integers(-10, 2**65).map(str)), st.sampled_from(["auto", *READERS]))
def test_arbitrary_lines_never_break_the_reader(lines, format):
    # A table without a column of ids is refused as a whole.
    all: list[object] = []
    with suppress(UnreadableError):
        all += read_tweets(lines, format=format)
    for one in all:
        assert isinstance(one, FoundTweet | Rejected)
        assert not isinstance(one, FoundTweet) or 0 < one.id < 2**63
