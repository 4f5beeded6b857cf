"""After an import: what X says of its tweets, until all of them are looked up."""

import csv
import io
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django_q.models import Schedule

from tests.factories import id_born
from tests.ingest.files.uploads import FIRST, imported
from trackers import tasks
from trackers.ingest.files.lookups import COUNT, lookups_of, update_lookups
from trackers.ingest.files.models import Import
from trackers.tweets import lookups
from trackers.tweets.lookups import Lookups
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db

IDS = [FIRST + 7 + n * 4_194_313 for n in range(7)]


@pytest.fixture
def report():
    return imported("".join(f"{id}\n" for id in IDS))


def answered():
    """As look-ups leave them."""
    now = timezone.now()
    tweets = Tweet.objects
    tweets.filter(pk__in=IDS[:2]).update(paid_on=now.date(), measurements=1, measured_until=now)
    tweets.filter(pk=IDS[2]).update(missing_since=now, missing_reason="not_found", gone_at=now)
    tweets.filter(pk=IDS[3]).update(missing_since=now, missing_reason="suspended")
    tweets.filter(pk=IDS[4]).update(missing_since=now, missing_reason="unavailable")
    tweets.filter(pk=IDS[5]).update(paused=True)


def counts_of(counted):
    """By name, whatever the year."""
    return sum((Counter(names) for names in counted.years.values()), Counter())


def test_tweets_are_counted_by_the_answers_of_x(report):
    assert counts_of(lookups_of(report)) == {"waiting": 7}

    answered()

    counted = lookups_of(report)
    assert counts_of(counted) == {
        "shown": 2, "not_found": 1, "suspended": 1, "unavailable": 1, "paused": 1, "waiting": 1,
    }  # fmt: skip
    assert (counted.tweets, counted.hidden, counted.unexplained) == (7, 1, 1)
    assert not counted.is_over
    # All in one year; what was not asked for is one thing there.
    [(year, names)] = counted.presences.items()
    assert year == born_at(FIRST).year
    assert names["unasked"] == 2


def test_an_import_is_counted_by_the_year_of_its_tweets():
    old = imported(f"20\n{id_born(datetime(2019, 3, 1, tzinfo=UTC))}\n{FIRST + 1}\n")

    counted = lookups_of(old)

    assert list(counted.presences) == [2010, 2019, born_at(FIRST).year]
    assert all(names == {"unasked": 1} for names in counted.presences.values())


def test_a_count_that_time_cut_off_goes_on_where_it_stopped(report, monkeypatch):
    monkeypatch.setattr(lookups, "_A_PIECE", 2)
    counting = lookups.Counting(Lookups())
    counting.count_piece(COUNT, report.pk, most=2)
    Import.objects.update(lookups_counting=asdict(counting))

    over = Deadline.after(-1)
    assert update_lookups(now=timezone.now(), deadline=over) == 0
    report.refresh_from_db()
    assert (report.lookups, Lookups(**report.lookups_counting["total"]).tweets) == (None, 2)

    tasks.count_lookups_of_imports()

    report.refresh_from_db()
    assert (lookups_of(report).tweets, report.lookups_counting) == (7, None)


def test_a_piece_whose_tweets_are_untracked_does_not_end_the_count(report, monkeypatch):
    monkeypatch.setattr(lookups, "_A_PIECE", 2)
    Tweet.objects.filter(pk__in=sorted(IDS)[:2]).delete()

    tasks.count_lookups_of_imports()

    report.refresh_from_db()
    assert Lookups(**report.lookups).tweets == 5


def test_a_large_import_is_counted_by_a_task_in_pieces(report, monkeypatch):
    monkeypatch.setattr(lookups, "COUNTED_AT_ONCE", 3)
    monkeypatch.setattr(lookups, "_A_PIECE", 2)
    assert lookups_of(report) is None

    tasks.count_lookups_of_imports()

    report.refresh_from_db()
    assert counts_of(lookups_of(report)) == {"waiting": 7}
    assert Schedule.objects.get(func="trackers.tasks.count_lookups_of_imports").minutes == 5
    # It rests after a count, and looks again then.
    answered()
    Import.objects.update(lookups_due_at=timezone.now() + timedelta(minutes=5))
    tasks.count_lookups_of_imports()
    report.refresh_from_db()
    assert lookups_of(report).of("waiting") == 7
    Import.objects.update(lookups_due_at=timezone.now() - timedelta(minutes=5))
    tasks.count_lookups_of_imports()
    report.refresh_from_db()
    assert lookups_of(report).of("waiting") == 1


def test_the_report_says_what_x_shows_and_the_file_says_why_others_are_missing(
    report, admin_client
):
    answered()

    page = " ".join(admin_client.get(f"/sources/import/{report.pk}/").content.decode().split())
    file = b"".join(admin_client.get(f"/tweets/export.csv?source={report.pk}").streaming_content)

    assert "Of 7: 2 shown by X" in page
    assert "1 not found</a>, 1 of protected or suspended accounts" in page
    reasons = {
        row["tweet_id"]: row["missing_because"]
        for row in csv.DictReader(io.StringIO(file.decode()))
    }
    assert [reasons[str(id)] for id in IDS[1:5]] == ["", "not_found", "suspended", "unavailable"]
