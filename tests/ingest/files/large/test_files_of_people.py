"""The files that people have: what is a tweet in them is tracked, and nothing else is."""

import json

import pytest

from tests.conftest import PROJECT
from tests.ingest.files.outcomes import FOLDER, outcome_of, table, zipped

SIX = [
    1212092628029698055, 1212092632211419274, 1212092636393140493, 1212092640574861712,
    1212092644756582931, 1212092648938304151,
]  # fmt: skip
OLD = [340551422615638017, 340538410127212545, 340526300961832961]


def numbers(first, count):
    """Ids as in the files of 2020: some four seconds apart, with other last digits."""
    return [first + n * 4_194_304_013 for n in range(count)]


EXPECTED = {
    "03-zeeschuimer.ndjson": SIX[:4],
    "03-zeeschuimer-home.ndjson": SIX[:4],
    "04-rtweet.csv": SIX,
    "04-apostrophe.csv": SIX,
    "04-formula.csv": SIX,
    "05-fakenewsnet.csv": SIX,
    "06-one-line.txt": SIX,
    "07-grailbird-2013_05.js": OLD,
    "07-old-archive.zip": OLD,
    "07-old-archive-no-csv.zip": OLD,
    "08-community-tweet.js": SIX[1:3],
    "08-like.js": [SIX[5], SIX[4]],
    "08-new-archive.zip": [SIX[1], SIX[2], SIX[0]],
    "09-users-v2.jsonl": [],
    "09-lists-v2.jsonl": [],
    "09-compliance.jsonl": SIX[:2],
    "10-search-v1.json": SIX[:3],
    "10-search-v1-pretty.json": SIX[:3],
    "10-premium.json": SIX[:3],
    "12-mongo-array.json": SIX[:4],
    "12-comma-lines.json": SIX[:4],
    "13-netlytic.csv": SIX,
    "13-number-and-url.csv": SIX,
    "16-notes.tsv": SIX[:4],
    "17-preamble.csv": SIX,
    "19-analytics.csv": SIX,
    "20-archive-stream.jsonl": SIX[:1],
    "21-snscrape.jsonl": SIX[:3],
    "22-stream-zeros.jsonl": [1212160000000000003, 1212160004194304003, 1212160008388608003],
    "22-v2-no-marks.jsonl": [1500000000000000007],
    "23-float-id-with-id_str.json": [1012345678901234688],
    "23-float-id_str-with-url.csv": numbers(1300000000000000007, 5),
    "24-concatenated.json": numbers(1300000020971520072, 5),
    "24-jq-pretty.json": numbers(1300000041943040137, 5),
    "25-powershell-utf16.jsonl": numbers(1300000062914560202, 3),
    "25-powershell-append.txt": numbers(1300000075497472241, 3),
    "26-tcat-url.csv": numbers(1300000088080384280, 3),
    "27-tweet_id-colon.csv": numbers(1300000100663296319, 3),
    "28-repr.jsonl": [],
    "30-v2-with-errors.jsonl": [1300000130023424410],
    "31-counts.jsonl": [],
    "32-excel-97.xls": SIX[:3],
    "32-excel-binary.xlsb": SIX[:3],
}
REFUSED = {
    "01-excel-15-digits.csv": "Column tweet_id: Most of its long ids end in zeros",
    "01-excel-15-digits.txt": "Most of its long ids end in zeros",
    "32-excel-97-numbers.xls": "Column tweet_id: Most of its long ids end in zeros",
    "32-excel-binary-numbers.xlsb": "Column tweet_id: Most of its long ids end in zeros",
    "15-sentiment140.csv": "We could not tell which column holds the tweets",
}
REJECTED = {
    "09-users-v2.jsonl": {1: "is not a tweet: it is an account"},
    "09-lists-v2.jsonl": {1: "is not a tweet: it is a list"},
    "28-repr.jsonl": dict.fromkeys(
        (1, 2), "is in Python's own notation: write it with json.dumps, which makes JSON of it"
    ),
    "30-v2-with-errors.jsonl": {2: "is not a tweet: it is X's answer about what it did not show"},
    "31-counts.jsonl": {1: "is not a tweet: it is a count of tweets"},
    "05-fakenewsnet.csv": {4: "has no id in column 4"},
}


def read(name, **options):
    return outcome_of((FOLDER / name).read_bytes(), **options)


def test_every_file_has_an_outcome():
    names = {path.name for path in FOLDER.iterdir()}

    assert names == EXPECTED.keys() | REFUSED.keys() | {"14-addresses.txt"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_gives_its_tweets_and_no_others(name):
    outcome = read(name)

    assert (outcome.ids, outcome.refused) == (EXPECTED[name], "")
    assert REJECTED.get(name, outcome.rejected) == outcome.rejected


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_probably_names_no_tweets_is_refused_with_the_reason(name):
    outcome = read(name)

    assert outcome.ids == []
    assert outcome.refused.startswith(REFUSED[name])


def test_rounded_ids_are_taken_on_request():
    assert len(read("01-excel-15-digits.csv", anyway=True).ids) == 6
    assert len(read("01-excel-15-digits.txt", anyway=True).ids) == 6


def test_the_notices_of_a_stream_are_rejected_as_such():
    rejected = read("20-archive-stream.jsonl").rejected

    assert [*rejected] == [1, 2, 3, 4, 5, 6]
    assert all("a notice of the stream" in why for why in rejected.values())


def test_addresses_of_all_kinds_are_read():
    outcome = read("14-addresses.txt")

    assert {*outcome.ids} == {*SIX}
    assert [*outcome.rejected] == [11, 12]


@pytest.mark.parametrize(
    "name",
    ["22-stream-zeros.jsonl", "22-v2-no-marks.jsonl", "10-search-v1.json", "21-snscrape.jsonl"],
)
def test_counts_without_a_time_are_not_dated(name):
    assert read(name).dated == 0


def test_a_person_names_the_field_that_dates_the_counts():
    value = {"id": str(SIX[0]), "favorite_count": 3, "seen": {"at": 1748000000000}}
    line = json.dumps(value).encode()

    assert outcome_of(line).dated == 0
    assert outcome_of(line, measured_at="seen.at").dated == 1


JS_ROUNDED = "1212092628029698000\n1212092632211419400\n1212092636393140500\n"
OTHERS = {
    "rounded by JavaScript": (JS_ROUNDED, "end in zeros"),
    "one rounded id": ("1294030472427830000\n", "end in zeros"),
    "numbers of rows": ("id,note\n1,a\n2,b\n3,c\n", "numbers of the rows"),
    "numbers of lines": ("1\n2\n3\n4\n5\n", "numbers of the rows"),
    "a table of accounts": (
        "id,username,followers_count\n2244994945,a,5\n1307010499608018944,b,6\n",
        "a table of accounts",
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_the_sample_is_doubted_as_a_whole(kind):
    text, why = OTHERS[kind]

    outcome = outcome_of(text.encode())

    assert outcome.ids == []
    assert why in outcome.refused
    assert outcome_of(text.encode(), anyway=True).ids


QUOTED = "https://x.com/other/status/1212092648938304151"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"id,quoted_url\n1,{QUOTED}\n", id="a quote"),
        pytest.param(f"id,in_reply_to\n1,{QUOTED}\n", id="an answer"),
        pytest.param(f'id,text\n1,"see {QUOTED}"\n', id="a text"),
        pytest.param(f'user,note\na,"look, {QUOTED}"\nb,"and {QUOTED} too"\n', id="only texts"),
    ],
)
def test_tweets_of_others_are_never_taken_from_a_table(text):
    assert 1212092648938304151 not in outcome_of(text.encode()).ids


def test_accounts_with_long_ids_give_way_to_the_address_of_the_tweet():
    text = f"id,url\n1307010499608018944,https://x.com/a/status/{SIX[0]}\n"

    assert outcome_of(text.encode()).ids == [SIX[0]]


def test_an_id_that_was_cut_off_is_rejected_and_the_others_are_taken():
    text = f"news,tweet_ids\na,{SIX[0]} {SIX[1]} 12120926\n"

    outcome = outcome_of(text.encode())

    assert outcome.ids == SIX[:2]
    assert "was probably cut off" in outcome.rejected[2]


@pytest.mark.parametrize("separator", [" ", "\t", ", ", "|", "; "])
@pytest.mark.parametrize("brackets", ["{}", "[{}]", "({})", "ids={}", "['{}']"])
def test_all_ids_of_a_line_are_taken(separator, brackets):
    separator = f"'{separator}'" if "'" in brackets else separator
    line = brackets.format(separator.join(map(str, SIX)))

    assert outcome_of(line.encode() + b"\n").ids == SIX


def test_a_table_with_the_mark_of_excel_and_a_long_cell_is_read():
    many = " ".join(map(str, numbers(SIX[0], 9000)))

    outcome = outcome_of(f"sep=;\nnews;tweet_ids\na;{many}\n".encode())

    assert len(outcome.ids) == 9000


WEB = {"data": {"home": {"entries": [{"content": {"tweet_results": {"result": {
    "__typename": "Tweet", "rest_id": str(SIX[0]),
    "core": {"user_results": {"result": {"rest_id": "1001"}}},
    "legacy": {"full_text": "x", "id_str": str(SIX[0])},
    "quoted_status_result": {"result": {"__typename": "Tweet", "rest_id": str(SIX[1])}},
}}}}]}}}  # fmt: skip
GNIP = {"id": f"tag:search.twitter.com,2005:{SIX[0]}", "objectType": "activity", "body": "x"}
MAP = {"id": {str(SIX[0]): {"id_str": str(SIX[0]), "text": "x"}, str(SIX[1]): None}}
MONGO = {"_id": {"$oid": "5f"}, "id": {"$numberLong": str(SIX[0])}, "text": "x"}


@pytest.mark.parametrize("value", [WEB, GNIP, MAP, MONGO], ids=["web", "gnip", "map", "mongo"])
@pytest.mark.parametrize("indent", [None, 2])
def test_objects_of_other_programs_are_read(value, indent):
    assert outcome_of(json.dumps(value, indent=indent).encode()).ids == [SIX[0]]


def test_a_document_that_is_cut_off_gives_the_tweets_before_that():
    page = {"meta": {"n": 1}, "statuses": [{"id_str": str(id), "text": "x"} for id in SIX]}

    outcome = outcome_of(json.dumps(page).encode()[:-30])

    assert outcome.ids == SIX[:5]
    assert [*outcome.rejected] == [1]


def test_one_line_of_many_megabytes_is_read_tweet_by_tweet():
    ids = numbers(SIX[0], 20_000)
    tweets = [{"id_str": str(id), "text": "words " * 150} for id in ids]
    page = {"meta": {"n": 1}, "statuses": tweets, "includes": {"tweets": [{"id": "7"}]}}

    outcome = outcome_of(json.dumps(page).encode())

    assert outcome.ids == ids
    assert outcome.rejected == {}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_its_letters(encoding):
    text = f"tweet_id,text\n{SIX[0]},Zürich\n{SIX[1]},\u4eba\n"

    assert outcome_of(text.encode(encoding)).ids == SIX[:2]


def test_an_archive_is_searched_whole_and_its_readme_is_passed_over():
    members = {f"notes/{n}.html": "<html>" for n in range(300)}

    outcome = outcome_of(zipped(**members, **{"README.txt": "Hello", "z/last.txt": f"{SIX[0]}\n"}))

    assert outcome.ids == [SIX[0]]
    assert "README" not in " ".join(outcome.notes)


def test_addresses_below_a_letter_are_found():
    text = f"Dear all, here they are:\n\nhttps://x.com/a/status/{SIX[0]}\nBest, me\n"

    assert outcome_of(text.encode()).ids == [SIX[0]]


def test_the_table_in_the_docs_is_true():
    assert (PROJECT / "docs/files.md").read_text().endswith("\n\n" + table())


@pytest.mark.parametrize(
    "text",
    [
        "2017-02-27\n2017-02-28\n",
        "2020-01-01 12:00:00\n2020-01-02 12:00:00\n",
        "12:30\n12:31\n",
        "5 apples\n6 pears\n",
        "10,5 %\nnothing\n",
    ],
)
def test_dates_times_and_amounts_are_no_tweets(text):
    outcome = outcome_of(text.encode())

    assert (outcome.ids, outcome.dated) == ([], 0)
    assert outcome.refused or "It looks like" in outcome.notes[-1]
