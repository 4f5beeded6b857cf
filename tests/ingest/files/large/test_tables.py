"""CSV with any names of columns: which one holds the tweets."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trackers.ingest.files.lines import read_tweets
from trackers.ingest.found_tweets import FoundTweet, Options, UnreadableError

A, B, C = 1212092628029698048, 1212092628029698049, 1212092628029698050
LINK = "https://x.com/someone/status/"


def read_table(text, **options):
    """Ids, numbers of the rejected lines, and what was said before."""
    messages = []
    all = list(
        read_tweets(
            io.StringIO(text), format="csv", options=Options(on_note=messages.append, **options)
        )
    )
    return (
        [one.id for one in all if isinstance(one, FoundTweet)],
        [one.line for one in all if not isinstance(one, FoundTweet)],
        messages,
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(f"Beitrag;Likes\n{A};5\n{B};7\n", "Beitrag", id="another language"),
        pytest.param(f"who,where\nx,{LINK}{A}\ny,{LINK}{B}\n", "where", id="links"),
        pytest.param(f"n,key,text\n1,{A},one\n2,{B},two\n", "key", id="beside numbers"),
        pytest.param(f"1,{A},one\n2,{B},two\n", "2", id="no header, beside numbers"),
        pytest.param(f"user_id,post\n{C},{A}\n{C},{B}\n", "post", id="beside ids of users"),
        pytest.param(
            f"id,in_reply_to_status_id,thing\n1.2E+18,{C},{A}\n1.2E+18,,{B}\n", "thing",
            id="where a spreadsheet has spoilt the ids",
        ),
        pytest.param(f"tweet_id,post\n{A},x\n{B},y\n", "tweet_id", id="a name that says it"),
        pytest.param(f"a,b\n,{A}\nx,{B}\n,\n", "b", id="gaps"),
    ],
)  # fmt: skip
def test_the_id_column_is_guessed_from_names_and_values_and_shown_first(text, name):
    ids, _, said = read_table(text)

    assert ids == [A, B]
    assert said == [f"column {name} holds the tweets"]


@pytest.mark.parametrize("column", ["What It Is", "what_it_is", "3"])
def test_a_person_chooses_the_column_by_name_or_number(column):
    text = f"tweet_id,user_id,What It Is\n{C},{C},{A}\n{C},{C},{B}\n"

    assert read_table(text, column=column)[:2] == ([A, B], [])


def test_a_column_by_number_needs_no_header():
    assert read_table(f"{C},{A}\n{C},{B}\n", column="2")[:2] == ([A, B], [])


@pytest.mark.parametrize("column", ["post", "4", "0", "²"])
def test_an_unknown_column_is_refused_with_the_existing_ones(column):
    with pytest.raises(UnreadableError, match="tweet_id, likes, text"):
        read_table("tweet_id,likes,text\n1,2,x\n", column=column)


def test_user_ids_are_not_taken_for_tweets():
    with pytest.raises(UnreadableError, match="The first line is: user_id,text"):
        read_table(f"user_id,text\n{A},one\n{B},two\n")


def test_a_title_before_the_header_is_the_only_rejected_line():
    assert read_table(f"Export of 2024\n\nwhen,post\nx,{A}\ny,{B}\n")[:2] == ([A, B], [1])


def test_texts_with_line_ends_and_quotes_are_one_row():
    text = f'post,text\n{A},"one\n\n""two"", {C}\nthree"\n{B},x\nbad,"a\nb"\n'

    assert read_table(text)[:2] == ([A, B], [7])


def test_an_unclosed_quote_costs_only_its_own_line():
    lines = "".join(f"{n},x\n" for n in range(A, A + 500))

    ids, rejected, _ = read_table(f'post,text\n{C},"open\n{lines}')

    assert (len(ids), rejected) == (500, [2])


def test_a_table_full_of_unclosed_quotes_takes_bounded_time_and_memory():
    lines = ("post,text\n" if n == 0 else f'{A},"{n}\n' for n in range(20_001))

    # Two lines of which each opens a quote are one field to whoever reads CSV.
    with pytest.raises(UnreadableError, match="which column"):
        list(read_tweets(lines, format="csv"))


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(
    st.lists(st.tuples(st.integers(10**17, 10**18), cells, cells), min_size=1, max_size=250),
    st.sampled_from(",;\t"),
)
@example([(A, "\u2028", "\n")], ",")
def test_tables_written_by_the_csv_module_are_read_back(values, delimiter):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["tweet_id", "one", "two"])
    writer.writerows(values)

    ids, rejected, _ = read_table(file.getvalue().replace("\r", " "), anyway=True)

    assert (ids, rejected) == ([id for id, _, _ in values], [])
