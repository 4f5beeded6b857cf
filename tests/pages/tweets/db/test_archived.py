"""A tweet whose old months are in the archive, on its page, in its files and in the API."""

import json
from datetime import date

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.api.conftest import Program
from tests.factories import TweetFactory
from tests.tweets.archive.conftest import (  # noqa: F401 - fixtures
    archive_is_there,
    bucket,
    service,
    store,
)
from tests.tweets.archive.outside import remove_file
from tests.tweets.archive.samples import FIRST, archive, fill, on_both
from trackers.tweets.archive import store as store_module
from trackers.tweets.archive.bucket import S3Bucket
from trackers.tweets.archive.models import ArchiveFile

pytestmark = [pytest.mark.django_db, on_both]
TWEET = FIRST + 4194304


@pytest.fixture
def archived(store):  # noqa: F811
    TweetFactory(id=TWEET)
    fill(tweets=2)
    archive(store)
    return store


def test_archived_months_are_shown_as_any(staff, archived):
    drawn = staff.get(f"/tweets/{TWEET}/series.json?range=all").json()
    file = staff.get(f"/tweets/{TWEET}/chart.jsonl?range=all").getvalue().splitlines()

    assert drawn["runs"] == len(file) == 12
    assert drawn["series"]["views"][-1] == json.loads(file[-1])["views"] == 3 * 10**10
    assert "missing" not in staff.get(f"/tweets/{TWEET}/?range=all").content.decode()


def test_months_that_cannot_be_read_are_named(staff, archived):
    remove_file(archived, ArchiveFile.objects.get(month=date(2024, 12, 1)).path)
    api = Program(Client(), User.objects.create_superuser("olga"))

    answer = api.get(f"tweets/{TWEET}/history")
    assert len(answer["samples"]) == 8
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
