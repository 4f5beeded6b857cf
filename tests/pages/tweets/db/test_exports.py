"""Files of what a page shows: one dialect, every value as it was, and never more than a piece."""

import csv
import io
from datetime import UTC, datetime
from itertools import islice

import orjson
import pytest
from django.contrib.auth.models import User
from django.http import Http404, StreamingHttpResponse
from pyarrow import parquet

from tests.api.conftest import Program, end
from tests.file_names import undated_name
from trackers.dashboards.exports import as_file
from tweetwatch import tables
from tweetwatch.http import sending
from tweetwatch.tables import FORMS, ROWS_PER_GROUP, Column, Table

AT = datetime(2026, 3, 5, 12, 0, 0, 1500, tzinfo=UTC)
COLUMNS = [
    Column("tweet_id", "id"), Column("text", "text"), Column("likes", "whole"),
    Column("velocity", "number"), Column("paused", "yes_no"), Column("measured_until", "time"),
]  # fmt: skip
ROWS = [
    (1834567890123456789, "=SUM(A1)", -3, 1.5, False, AT),
    (2, 'two "lines",\nof 東京', 9_000_000_000, None, True, None),
    (3, None, None, -2.5, None, AT),
]
IN_JSON = [
    {"tweet_id": "1834567890123456789", "text": "=SUM(A1)", "likes": -3, "velocity": 1.5,
     "paused": False, "measured_until": "2026-03-05T12:00:00.001500Z"},
    {"tweet_id": "2", "text": 'two "lines",\nof 東京', "likes": 9_000_000_000, "velocity": None,
     "paused": True, "measured_until": None},
    {"tweet_id": "3", "text": None, "likes": None, "velocity": -2.5, "paused": None,
     "measured_until": "2026-03-05T12:00:00.001500Z"},
]  # fmt: skip


def sent(rf, form, rows=ROWS):
    response = as_file(rf.get("/"), Table("tweets", COLUMNS, rows), form)
    assert isinstance(response, StreamingHttpResponse)
    assert undated_name(response) == f"tweets.{form}"
    told = b"".join(response)
    end(response)
    return told


def test_csv_has_the_format_of_the_commands_and_is_safe_in_spreadsheets(rf):
    text = sent(rf, "csv").decode()

    assert text.splitlines()[0] == "tweet_id,text,likes,velocity,paused,measured_until"
    assert text.splitlines()[1] == (
        "1834567890123456789,'=SUM(A1),-3,1.5,false,2026-03-05T12:00:00.001500Z"
    )
    assert "\r" not in text
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[2] == ["2", 'two "lines",\nof 東京', "9000000000", "", "true", ""]


def test_jsonl_has_a_line_for_each_row(rf):
    assert [orjson.loads(line) for line in sent(rf, "jsonl").splitlines()] == IN_JSON


def test_parquet_keeps_the_types(rf):
    table = parquet.read_table(io.BytesIO(sent(rf, "parquet")))

    assert [str(one.type) for one in table.schema] == [
        "string", "string", "int64", "double", "bool", "timestamp[us, tz=UTC]",
    ]  # fmt: skip
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (str(id), *others) for id, *others in ROWS
    ]


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_export_has_no_rows(rf, form):
    text = sent(rf, form, rows=[])

    if form == "parquet":
        assert parquet.read_table(io.BytesIO(text)).num_rows == 0
    else:
        assert len(text.splitlines()) == (form == "csv")


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_read_as_they_are_sent(rf, form):
    read = 0

    def rows():
        nonlocal read
        while True:
            read += 1
            yield ROWS[0]

    response = as_file(rf.get("/"), Table("tweets", COLUMNS, rows()), form)
    blocks = list(islice(response, 4))
    end(response)

    assert all(len(block) < 2_000_000 for block in blocks)
    assert read <= 4 * ROWS_PER_GROUP


def test_an_unknown_format_is_404(rf):
    with pytest.raises(Http404):
        as_file(rf.get("/"), Table("tweets", COLUMNS, ROWS), "xlsx")


def test_parquet_without_pyarrow_says_what_to_install(rf, staff, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _name: None)
    request = staff.get("/answers/").wsgi_request

    response = as_file(request, Table("tweets", COLUMNS, ROWS), "parquet")

    assert response.status_code == 501
    assert "requirements-parquet.txt" in response.content.decode()


def test_concurrent_exports_are_limited_and_say_when_to_retry(staff):
    paths = ("/tweets/export.csv", "/operations/queues.jsonl", "/following/follows.csv")
    held = [staff.get(path) for path in paths[: sending.MAX_FILES_SENT]]
    for path in paths:
        answer = staff.get(path)
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert "wait until one of them is done" in answer.content.decode()
    # One is read to its end; of the other its reader has had enough.
    held[0].getvalue()
    for one in held:
        end(one)

    for path in paths * 2:
        answer = staff.get(path)
        assert (answer.status_code, bool(answer.getvalue())) == (200, path != paths[1])
        answer = staff.head(path)
        assert (answer.status_code, answer.getvalue()) == (200, b"")
        end(answer)
    assert sending.places._value == sending.MAX_FILES_SENT


def test_exports_of_pages_and_the_api_share_the_limit(staff):
    owner = Program(staff, User.objects.get(username="ada"))
    held = [staff.get("/tweets/export.csv"), owner.raw("exports/tweets")]

    assert staff.get("/tweets/export.csv").status_code == 503
    owner.get("exports/tweets")
    assert owner.status == 503
    for one in held:
        end(one)
    assert sending.places._value == sending.MAX_FILES_SENT
