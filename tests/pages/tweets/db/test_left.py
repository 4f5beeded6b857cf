"""What is left: a page, a file and the API say it by year and reason, from counts that are kept."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import Schedule

from tests.api.conftest import Program
from tests.factories import id_born
from tests.ingest.files.uploads import imported
from tests.tweets.db.test_presence import looked_up, measured, tracked
from trackers import tasks
from trackers.tweets import lookups
from trackers.tweets.models import Tweet
from trackers.tweets.tags.acts import end_tags
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets, untag_tweets
from trackers.updater.verdicts import Verdict

pytestmark = pytest.mark.django_db

OLD = 20
OF_2019 = id_born(datetime(2019, 12, 31, 23, 59, 59, tzinfo=UTC))
OF_2020 = id_born(datetime(2020, 1, 1, tzinfo=UTC))
MINUTE = timedelta(minutes=1)


@pytest.fixture
def program():
    return Program(Client(), User.objects.create_superuser("olga"))


@pytest.fixture
def answered():
    tracked(OLD, OF_2019, OF_2020, OF_2020 + 1, OF_2020 + 2)
    looked_up(
        measured(OLD),
        Verdict(OF_2019, MINUTE, missing="not_found", gone=True),
        measured(OF_2020),
        Verdict(OF_2020 + 1, MINUTE, missing="suspended"),
    )


def links(page):
    return [link.replace("&amp;", "&") for link in re.findall(r'href="(/tweets/\?[^"]+)"', page)]


def ids_behind(client, link):
    page = client.get(link).content.decode()
    return {int(id) for id in re.findall(r'href="/tweets/(\d+)/"', page)}


def test_the_page_says_what_x_shows_and_each_figure_leads_to_its_tweets(answered, admin_client):
    page = admin_client.get("/tweets/left/").content.decode()

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Of 4 tweets that were looked up, X shows 2: 50.0%." in text
    assert "Not looked up yet: 1." in text
    assert "Posted in Tweets Shown by X " in text
    assert "All 5 2 50.0% 1 25.0% 1 25.0% 1" in text
    assert "2020 3 1 50.0% 1 50.0% 1" in text
    assert "2019 1 1 100.0%" in text
    assert "until 2010 1 1 100.0%" in text
    behind = {link: ids_behind(admin_client, link) for link in links(page)}
    assert behind["/tweets/?presence=shown"] == {OLD, OF_2020}
    assert behind["/tweets/?presence=not_found"] == {OF_2019}
    assert behind["/tweets/?presence=suspended&since=2020-01-01&until=2020-12-31"] == {OF_2020 + 1}
    assert behind["/tweets/?presence=unasked&since=2020-01-01&until=2020-12-31"] == {OF_2020 + 2}
    assert behind["/tweets/?presence=shown&until=2010-12-31"] == {OLD}
    assert all(behind.values())


def test_the_file_and_the_api_have_the_same_figures(answered, admin_client, program):
    file = b"".join(admin_client.get("/tweets/left/presences.csv").streaming_content).decode()

    rows = list(csv.reader(io.StringIO(file)))
    assert rows == [
        ["year", "presence", "tweets", "share"],
        ["until 2010", "shown", "1", "1.0"],
        ["2019", "not_found", "1", "1.0"],
        ["2020", "shown", "1", "0.5"],
        ["2020", "suspended", "1", "0.5"],
        ["2020", "unasked", "1", ""],
    ]
    by_api = [(str(each["year"]), each["presence"]) for each in program.get("tweets/left")["left"]]
    assert sorted(by_api) == sorted(
        (year.removeprefix("until "), name) for year, name, *_ in rows[1:]
    )
    assert [each["id"] for each in program.get("tweets?presence=suspended")["tweets"]] == [
        str(OF_2020 + 1)
    ]


def test_the_page_reads_no_tweet(answered, admin_client):
    admin_client.get("/tweets/left/")

    with CaptureQueriesContext(connection) as read:
        admin_client.get("/tweets/left/")

    assert not [query for query in read if re.search(r"trackers_tweet\b", query["sql"])]


def test_an_import_has_a_page_and_a_file_of_its_own(answered, admin_client, program):
    report = imported(f"{OF_2019}\n{OF_2020}\n{OF_2020 + 9}\n")

    page = admin_client.get(f"/tweets/left/?source={report.pk}").content.decode()
    file = admin_client.get(f"/tweets/left/presences.csv?source={report.pk}")

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Of 2 tweets that were looked up, X shows 1: 50.0%." in text
    shown = f"/tweets/?presence=shown&since=2020-01-01&until=2020-12-31&source={report.pk}"
    assert ids_behind(admin_client, shown) == {OF_2020}
    assert shown in links(page)
    assert b"2020,unasked,1," in b"".join(file.streaming_content)
    assert f"/tweets/left/presences.csv?source={report.pk}" in page
    left = program.get(f"tweets/left?source={report.pk}")["left"]
    assert {"year": 2019, "presence": "not_found", "tweets": 1} in left
    assert (
        f'/tweets/left/?source={report.pk}"'
        in admin_client.get(f"/sources/import/{report.pk}/").content.decode()
    )


def test_a_large_import_is_not_counted_by_the_page(answered, admin_client, monkeypatch):
    report = imported(f"{OF_2019}\n{OF_2020}\n")
    monkeypatch.setattr(lookups, "COUNTED_AT_ONCE", 1)

    page = admin_client.get(f"/tweets/left/?source={report.pk}").content.decode()

    assert "A worker counts the tweets of a large import or tag within minutes" in page


@pytest.fixture
def tag():
    tag = get_or_create_tag("Moon & Mars")
    tag_tweets(tag.pk, [OF_2019, OF_2020, OF_2020 + 2])
    return tag


def test_a_tag_has_a_page_and_a_file_of_its_own(answered, tag, admin_client, program):
    page = admin_client.get("/tweets/left/?tag=moon %26 mars").content.decode()
    file = admin_client.get("/tweets/left/presences.csv?tag=moon %26 mars")

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Of the tweets with the tag Moon &amp; Mars" in text
    assert "Of 2 tweets that were looked up, X shows 1: 50.0%." in text
    shown = "/tweets/?presence=shown&since=2020-01-01&until=2020-12-31&tag=Moon+%26+Mars"
    assert ids_behind(admin_client, shown) == {OF_2020}
    assert shown in links(page)
    assert f"what-is-left-tag-{tag.pk}" in file["Content-Disposition"]
    assert b"2020,unasked,1," in b"".join(file.streaming_content)
    assert "/tweets/left/presences.csv?tag=Moon+%26+Mars" in page
    answer = program.get("tweets/left?tag=moon %26 mars")
    assert answer["counted_at"] is None
    assert {"year": 2019, "presence": "not_found", "tweets": 1} in answer["left"]
    listed = admin_client.get("/tweets/?tag=moon %26 mars").content.decode()
    assert 'href="/tweets/left/?tag=Moon%20%26%20Mars"' in listed


def test_a_large_tag_is_counted_by_a_task_and_its_page_says_when(
    answered, tag, admin_client, program, monkeypatch
):
    monkeypatch.setattr(lookups, "COUNTED_AT_ONCE", 2)
    monkeypatch.setattr(lookups, "_A_PIECE", 2)
    address = "/tweets/left/?tag=moon %26 mars"
    assert "of a large import or tag within minutes" in admin_client.get(address).content.decode()
    assert program.get("tweets/left?tag=moon %26 mars") == {"counted_at": None, "left": []}

    tasks.count_lookups_of_tags()

    text = re.sub(r"<[^>]+>", " ", admin_client.get(address).content.decode())
    assert re.search(r"looked up, X shows 1: 50\.0%\..*Counted\s+(just now|\d+ s ago)", text, re.S)
    answer = program.get("tweets/left?tag=moon %26 mars")
    assert answer["counted_at"]
    assert sum(each["tweets"] for each in answer["left"]) == 3
    assert Schedule.objects.get(func="trackers.tasks.count_lookups_of_tags").minutes == 5
    # Tweets come and go.
    tag_tweets(tag.pk, [OF_2020 + 1])
    untag_tweets(tag.pk, [OF_2019])
    Tag.objects.update(lookups_due_at=timezone.now() - MINUTE)
    tasks.count_lookups_of_tags()
    assert {each["presence"] for each in program.get("tweets/left?tag=moon %26 mars")["left"]} == {
        "shown", "suspended", "unasked",
    }  # fmt: skip


def test_a_tag_without_tweets_says_so_and_one_that_is_gone_is_not_found(
    answered, tag, admin_client, program
):
    untag_tweets(tag.pk, [OF_2019, OF_2020, OF_2020 + 2])
    page = admin_client.get("/tweets/left/?tag=moon %26 mars").content.decode()
    assert "No tweet has this tag." in page

    end_tags([tag])

    assert admin_client.get("/tweets/left/?tag=moon %26 mars").status_code == 404
    assert admin_client.get("/tweets/left/?tag=sun&source=1").status_code == 404
    assert program.get("tweets/left?tag=sun")["error"] == "There is no tag sun."
    assert "only one of source and tag" in program.get("tweets/left?tag=sun&source=1")["error"]


def test_an_unknown_import_is_not_found_and_an_empty_page_says_so(admin_client):
    assert admin_client.get("/tweets/left/?source=99999").status_code == 404
    assert admin_client.get("/tweets/left/?source=x").status_code == 404
    page = admin_client.get("/tweets/left/").content.decode()
    assert "Once tweets are tracked, this page says how many of them X still shows" in page


def test_missing_tweets_are_listed_in_order_whether_gone_or_not(answered, admin_client):
    now = timezone.now()
    ids = [OF_2020 + n for n in range(100, 160)]
    tracked(*ids)
    Tweet.objects.filter(pk__in=ids).update(missing_since=now, missing_reason="suspended")
    Tweet.objects.filter(pk__in=ids[::2]).update(gone_at=now)

    page = admin_client.get("/tweets/?presence=suspended").content.decode()

    listed = [int(id) for id in re.findall(r'id="tweet-(\d+)"', page)] or sorted(
        {int(id) for id in re.findall(r'href="/tweets/(\d+)/"', page)}, reverse=True
    )
    assert listed == sorted(ids, reverse=True)[: len(listed)]
    assert len(listed) >= 20
