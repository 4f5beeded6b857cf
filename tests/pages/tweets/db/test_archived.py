"""Tweets whose old months are in the archive, on their pages, in their files and in the API."""

import json
from datetime import UTC, datetime
from threading import Event

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.api.conftest import Program
from tests.factories import TweetFactory
from tests.pages.sources import words
from tests.tweets.archive.conftest import (  # noqa: F401 - fixtures
    archive_is_there,
    bucket,
    service,
    store,
)
from tests.tweets.archive.outside import remove_file
from tests.tweets.archive.samples import FIRST, MONTHS, archive, fill, on_both
from trackers.tweets.archive import read
from trackers.tweets.archive import store as store_module
from trackers.tweets.archive.bucket import S3Bucket
from trackers.tweets.archive.models import ArchiveFile

pytestmark = [pytest.mark.django_db, on_both]
TWEET, OTHER = FIRST + 4194304, FIRST + 2 * 4194304
BORN, LAST = datetime(2024, 11, 1, tzinfo=UTC), datetime(2025, 3, 5, tzinfo=UTC)
COMPARED = f"ids={TWEET},{OTHER}&until=30d&metric=views"


@pytest.fixture
def measured():
    """Two tweets of long ago, with as many samples each in three months."""
    newest = {"taken_at": LAST, "measured_until": LAST, "measurements": 1, "views": 4 * 10**10}
    for id in (TWEET, OTHER):
        TweetFactory(id=id, created_at=BORN, **newest)
    fill(tweets=2)


@pytest.fixture
def archived(store, measured):  # noqa: F811
    archive(store)
    return store


def test_archived_months_are_shown_as_any(staff, archived):
    drawn = staff.get(f"/tweets/{TWEET}/series.json?range=all").json()
    file = staff.get(f"/tweets/{TWEET}/chart.jsonl?range=all").getvalue().splitlines()

    assert drawn["runs"] == len(file) == 13
    assert drawn["series"]["views"][-1] == json.loads(file[-1])["views"] == 4 * 10**10
    assert json.loads(file[-2])["views"] == 3 * 10**10
    assert "missing" not in staff.get(f"/tweets/{TWEET}/?range=all").content.decode()


def test_months_that_cannot_be_read_are_named(staff, archived):
    remove_file(archived, ArchiveFile.objects.get(month=MONTHS[1]).path)
    api = Program(Client(), User.objects.create_superuser("olga"))

    answer = api.get(f"tweets/{TWEET}/history")
    assert len(answer["samples"]) == 9
    assert answer["lacking"].startswith("Samples of 2024-12 are missing")
    page = staff.get(f"/tweets/{TWEET}/?range=all").content.decode()
    assert "Samples of 2024-11 to 2025-01 are missing: they are in the archive" in page
    # Nobody would see in a file what it lacks.
    refused = staff.get(f"/tweets/{TWEET}/chart.csv?range=all")
    assert refused.status_code == 503
    assert "are missing" in refused.content.decode()


@pytest.mark.parametrize("package", ["pyarrow", "obstore"])
def test_missing_package_is_named(staff, archived, monkeypatch, package):
    is_needed = package == "pyarrow" or isinstance(archived, S3Bucket)
    monkeypatch.setattr(store_module, "find_spec", lambda name: None if name == package else True)
    page = staff.get(f"/tweets/{TWEET}/?range=all").content.decode()
    says = f"The archive needs {package}, not installed here: pip install -r requirements-parquet"
    assert (says in page) == is_needed


def lines_compared(staff, api):
    table = staff.get(f"/compare/chart.jsonl?{COMPARED}").getvalue().splitlines()
    series = staff.get(f"/compare/series.json?{COMPARED}").json()["tweets"]
    return table, series, api.get(f"tweets/compare?ids={TWEET},{OTHER}&ages=1h,20d,80d")


def test_compared_lines_are_what_they_were(staff, measured, store):  # noqa: F811
    api = Program(Client(), User.objects.create_superuser("olga"))
    before = lines_compared(staff, api)

    archive(store)

    assert lines_compared(staff, api) == before
    table, [first, _], of_api = before
    views = {json.loads(line)["views"] for line in table}
    assert views == {None, 10**10, 2 * 10**10, 3 * 10**10}
    assert first["values"][-1] == 3 * 10**10
    assert of_api["tweets"][0]["at"][1]["views"] == 2 * 10**10
    assert of_api["lacking"] is None


def test_months_missing_in_compared_lines_are_said_once(staff, archived):
    remove_file(archived, ArchiveFile.objects.get(month=MONTHS[0]).path)
    api = Program(Client(), User.objects.create_superuser("olga"))

    page = staff.get(f"/compare/?{COMPARED}").content.decode()
    assert page.count("Samples of 2024-11 are missing: they are in the archive") == 1
    read.absence.until = 0.0
    answer = api.get(f"tweets/compare?ids={TWEET},{OTHER}&ages=20d")
    assert answer["lacking"].startswith("Samples of 2024-11 are missing")
    refused = staff.get(f"/compare/chart.csv?{COMPARED}")
    assert refused.status_code == 503
    assert "are missing" in refused.content.decode()


def test_comparison_does_not_wait_for_what_hangs(staff, archived, monkeypatch):
    asked, is_shown = [], Event()

    def hang(self, path, *args, **how):
        asked.append(path)
        is_shown.wait(60)
        raise OSError("too late")

    monkeypatch.setattr(type(archived), "read_ranges", hang)

    page = staff.get(f"/compare/?{COMPARED}").content.decode()

    is_shown.set()
    assert "It takes too long to read." in page
    # Both tweets at once.
    assert len(asked) == 1


def test_half_life_and_first_day_are_read_from_the_first_months(
    staff, archived, monkeypatch, settings
):
    asked = []
    read_one = read.table_of

    def noted(store, file, *, is_hasty):  # noqa: F811
        asked.append(file.month)
        return read_one(store, file, is_hasty=is_hasty)

    monkeypatch.setattr(read, "table_of", noted)
    page = words(staff.get(f"/tweets/{TWEET}/?range=day").content.decode())

    assert "13 d 12 h for half of its 40,000,000,000 views" in page
    assert set(asked) == set(MONTHS[:2])
    settings.ARCHIVE = ""
    page = words(staff.get(f"/tweets/{TWEET}/?range=day").content.decode())
    assert "Not known while the archive cannot be read" in page
