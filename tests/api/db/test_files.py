"""Tweets side by side, and as files, by the API."""

import csv
import json
from io import BytesIO, StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from pyarrow import parquet

from tests.api.conftest import end
from tests.api.db.test_tweets import AT, MINUTE, measure, track
from tests.factories import TweetFactory
from tests.file_names import undated_name
from tests.tweets.archive.samples import fill
from trackers.schedule import tweet_changes
from trackers.tweets.models import TweetText
from tweetwatch import tables
from tweetwatch.http import sending
from tweetwatch.tables import FORMS


def test_tweets_are_compared_by_age(owner):
    TweetFactory(id=1, created_at=AT)
    TweetFactory(id=2, created_at=AT - 30 * MINUTE)
    measure(1, (5, 10), (14, 20), (40, 30))
    measure(2, (-20, 100), (90, 300))

    answer = owner.get("tweets/compare?ids=2,1&ages=15m,1h,7d")["tweets"]

    assert [one["tweet"]["id"] for one in answer] == ["2", "1"]
    assert [[at["likes"] for at in one["at"]] for one in answer] == [
        # Measured at ten minutes; at an hour that says nothing any more.
        [100, None, None],
        # Measured at 40 minutes, near enough to an hour.
        [20, 30, None],
    ]
    assert answer[1]["at"][0]["measured_at"] == "2026-11-02T12:14:00Z"
    assert [at["age"] for at in answer[0]["at"]] == ["15m", "1h", "7d"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("ids=1", 400), ("ids=1,1", 400), ("ids=1,x", 400), ("ids=1,2,3,4,5,6,7", 400), ("", 400),
        ("ids=1,9", 404), ("ids=1,2&ages=often", 400), ("ids=1,2&ages=-1h", 400),
        ("ids=1,2&ages=0s", 400),
    ],
)  # fmt: skip
def test_an_invalid_comparison_is_refused(owner, query, status):
    TweetFactory(id=1)
    TweetFactory(id=2)
    owner.get(f"tweets/compare?{query}")
    assert owner.status == status


def test_tweets_and_samples_are_sent_as_files(owner):
    track(1, 2)
    TweetFactory(id=3)
    measure(3, (0, 5), (1, 6))

    rows = list(csv.DictReader(StringIO(owner.get("exports/tweets?format=csv&ids=1,3"))))
    assert {row["tweet_id"] for row in rows} == {"1", "3"}
    assert undated_name(owner.headers) == "tweets.csv"
    lines = owner.ask("GET", "exports/samples?ids=3")
    assert [json.loads(line)["likes"] for line in lines.splitlines()] == [5, 6]
    assert len(owner.get("exports/tweets").splitlines()) == 3
    most = ",".join(map(str, range(1, 301)))
    owner.get(f"exports/samples?ids={most}")
    assert owner.status == 200
    for query in ("format=xml", "ids=x", f"ids={10**19 - 1}", f"ids={most},301"):
        owner.get(f"exports/tweets?{query}")
        assert owner.status == 400


def test_an_export_of_samples_has_archived_ones_or_is_refused(owner, tmp_path, settings):
    for id in fill():
        TweetFactory(id=id)
    lines = owner.ask("GET", "exports/samples").splitlines()
    settings.ARCHIVE = str(tmp_path)
    call_command("archive", "write", "--json", stdout=StringIO())

    assert sorted(owner.ask("GET", "exports/samples").splitlines()) == sorted(lines)

    (path,) = tmp_path.glob("samples/month=2024-12/*.parquet")
    path.unlink()
    refused = owner.get("exports/samples?format=csv")
    assert (owner.status, owner.headers["Content-Type"]) == (503, "application/problem+json")
    assert refused["error"].startswith("Samples of 2024-12 are missing: they are in the archive")
    # The place of a file is free again.
    for _ in range(sending.MAX_FILES_SENT):
        owner.get("exports/tweets")
        assert owner.status == 200


def test_the_api_exports_the_same_file_as_the_page(owner, monkeypatch):
    monkeypatch.setattr("trackers.listing.export.ROWS_PER_READ", 2)
    track(1, 2, 3, 4, 5)
    TweetText.objects.filter(tweet=4).update(text="=SUM(A1)")
    tweet_changes.pause_tweets([1, 3, 4])
    staff = Client()
    staff.force_login(owner.user)

    for form in FORMS:
        answer = owner.raw(f"tweets/export?state=paused&format={form}")
        page = staff.get(f"/tweets/export.{form}?state=paused").getvalue()
        assert answer.getvalue() == page
        assert answer["Content-Type"] == FORMS[form].content_type
        assert undated_name(answer) == f"tweets-state-paused.{form}"
    told = owner.get("tweets/export?state=paused&format=csv")
    rows = list(csv.DictReader(StringIO(told)))
    assert [row["tweet_id"] for row in rows] == ["4", "3", "1"]
    assert (rows[0]["text"], rows[0]["state"]) == ("'=SUM(A1)", "paused")
    assert parquet.read_table(BytesIO(page)).column("text")[0].as_py() == "=SUM(A1)"


def test_parquet_without_pyarrow_says_what_to_install(owner, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _name: None)

    assert "requirements-parquet.txt" in owner.get("tweets/export?format=parquet")["error"]
    assert owner.status == 501


def test_concurrent_exports_are_limited_and_each_end_frees_a_place(owner):
    track(1)
    paths = ("exports/tweets", "exports/samples", "tweets/export?state=fresh")
    held = [owner.raw(paths[place]) for place in range(sending.MAX_FILES_SENT)]
    for path in paths:
        assert owner.get(path)["error"].startswith("Other files are being sent")
        assert (owner.status, owner.headers["Retry-After"]) == (503, "5")
    # One is read to its end; of the other its reader has had enough.
    held[0].getvalue()
    for one in held:
        end(one)
        end(one)

    for path in paths * 2:
        for method in ("GET", "HEAD"):
            owner.ask(method, path)
            assert owner.status == 200
    owner.get("exports/tweets?ids=x")
    assert [sending.places.acquire(blocking=False) for _ in range(sending.MAX_FILES_SENT + 1)] == [
        *[True] * sending.MAX_FILES_SENT, False,
    ]  # fmt: skip
    sending.places.release(sending.MAX_FILES_SENT)


def test_exports_need_the_permission(program):
    program.user.user_permissions.clear()
    for path in ("exports/tweets", "exports/samples", "tweets/export"):
        program.get(path)
        assert program.status == 403
