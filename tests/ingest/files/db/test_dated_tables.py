"""Counts of a table become history where a column says when they were measured."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.ingest.files.uploads import FIRST, upload, work
from trackers.ingest.files import importing
from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.preview import tweets_to_look_up
from trackers.ingest.found_tweets import Options, UnreadableError
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

SEEN = datetime(2022, 5, 1, 12, tzinfo=UTC)
TABLE = f"""tweet_id,Likes,retweet_count,Replies,impression_count,collected at
{FIRST},"1,234",5,0,99.0,2022-05-01T12:00:00Z
{FIRST + 1},7,,x,,1651406400
{FIRST + 2},8,1,1,1,last week
{FIRST + 3},,,,,2022-05-01T12:00:00Z
"""


def read(text, **chosen):
    return list(read_tweets(text.splitlines(keepends=True), options=Options(**chosen)))


def measured():
    rows = Tweet.objects.order_by("pk").values_list(
        "pk", "measured_until", "likes", "retweets", "replies", "views"
    )
    return {pk: row for pk, *row in rows}


def start(report, **chosen):
    importing.start(report, column=1, referenced=False, chosen=Options(**chosen))
    work()
    report.refresh_from_db()


@pytest.mark.parametrize("named", ["collected at", "collected_at", "Collected At", "6"])
def test_counts_are_measured_when_the_named_column_says(named):
    first, second, third, fourth = read(TABLE, measured_at=named)

    assert (first.retrieved_at, first.post.figures) == (SEEN, (5, 0, 1234, None, None, 99))
    assert (second.retrieved_at, second.post.figures) == (SEEN, (None, None, 7, None, None, None))
    assert (third.post, third.line) == (None, 4)
    assert third.odd == "its counts are left out, since “last week” is no time"
    assert (fourth.post, fourth.odd) == (None, "")


def test_without_a_column_of_the_time_no_count_is_taken():
    assert [(tweet.post, tweet.retrieved_at) for tweet in read(TABLE)] == [(None, None)] * 4


def test_a_column_that_is_not_there_is_refused_before_the_first_tweet():
    with pytest.raises(UnreadableError, match=r"There is no column when .* tweet_id, Likes, "):
        read(TABLE, measured_at="when")


def test_an_uploaded_table_is_measured_by_the_column_that_the_person_chose():
    report = upload(TABLE, name="table.csv")
    report.refresh_from_db()
    dated = Options(measured_at="6")
    assert tweets_to_look_up(report, column=1, referenced=False) == 4
    assert tweets_to_look_up(report, column=1, referenced=False, chosen=dated) == 2

    start(report, measured_at="6")

    assert measured() == {
        FIRST: [SEEN, 1234, 5, 0, 99],
        FIRST + 1: [SEEN, 7, None, None, None],
        FIRST + 2: [None, None, None, None, None],
        FIRST + 3: [None, None, None, None, None],
    }
    assert (report.tracked, report.warnings) == (4, 1)
    # Too old for any interval, by their ids: they rest; the others are due at once.
    assert {job.key for job in TweetUpdate.objects.all()} == {FIRST + 2, FIRST + 3}


def test_counts_from_before_x_no_longer_showed_a_tweet_do_not_bring_it_back():
    importing.start(upload(f"{FIRST}\n{FIRST + 1}\n"), column=None, referenced=False)
    work()
    missing_since = SEEN + timedelta(days=1)
    Tweet.objects.update(missing_since=missing_since, missing_reason="not_found")
    Tweet.objects.filter(pk=FIRST).update(gone_at=missing_since)
    report = upload(TABLE, name="table.csv")
    report.refresh_from_db()

    start(report, measured_at="6")

    rows = Tweet.objects.filter(missing_since=missing_since, missing_reason="not_found")
    assert {row.pk: (row.likes, row.gone_at) for row in rows} == {
        FIRST: (1234, missing_since),
        FIRST + 1: (7, None),
    }


def test_an_uploaded_document_is_measured_by_the_field_that_the_person_chose():
    counts = {"public_metrics": {"like_count": 3}, "seen": "2022-05-01T12:00Z"}
    line = json.dumps({"id": str(FIRST), "text": "a", **counts})
    report = upload(f"{line}\n", name="tweets.jsonl")
    report.refresh_from_db()

    start(report, measured_at="seen")

    assert measured()[FIRST][:2] == [SEEN, 3]


def test_objects_with_a_username_are_taken_once_a_person_says_so(admin_client):
    account = f'{{"id": "{FIRST}", "username": "nasa", "name": "NASA"}}'
    report = upload(f'{account}\n{{"id": "{FIRST + 1}", "text": "a"}}\n', name="mixed.jsonl")
    report.refresh_from_db()
    address = f"/sources/import/{report.pk}/"

    page = admin_client.get(address).content.decode()
    assert "which look like accounts, as tweets" in page
    assert "is only taken as a tweet if you say so" in page
    preview = admin_client.get(f"{address}?part=choice&anyway=on").content.decode()
    assert f"<code>{FIRST}</code>" in preview

    admin_client.post(address, {"act": "start", "anyway": "on"})
    work()
    assert {tweet.pk for tweet in Tweet.objects.all()} == {FIRST, FIRST + 1}


def test_the_page_offers_columns_and_a_field_that_date_counts(admin_client):
    table = upload(TABLE, name="table.csv")
    plain = upload(f"tweet_id,words\n{FIRST},a\n", name="plain.csv")
    document = upload(f'{{"id": "{FIRST}", "text": "a"}}\n', name="tweets.jsonl")

    of_table = admin_client.get(f"/sources/import/{table.pk}/?column=1&measured_at=6")
    of_document = admin_client.get(f"/sources/import/{document.pk}/")
    odd = admin_client.get(f"/sources/import/{table.pk}/?part=choice&column=1&measured_at=77")

    assert '<option value="6" selected>' in " ".join(of_table.content.decode().split())
    assert 'name="measured_at"' in of_document.content.decode()
    of_plain = admin_client.get(f"/sources/import/{plain.pk}/").content.decode()
    assert 'name="measured_at"' not in of_plain  # it has no counts
    assert odd.status_code == 200
    admin_client.post(
        f"/sources/import/{table.pk}/", {"act": "start", "column": "1", "measured_at": "6"}
    )
    work()
    assert measured()[FIRST][1] == 1234
