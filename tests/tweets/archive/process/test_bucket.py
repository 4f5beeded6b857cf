"""An archive in a bucket: what it is asked for, and what becomes of a page while it fails."""

import logging
from contextlib import suppress
from datetime import date
from io import StringIO

import pytest
from django.core.management import call_command

from tests.authority import Authority
from tests.factories import CredentialFactory
from tests.tweets.archive.conftest import KEY, SECRET
from tests.tweets.archive.outside import files_in, opened, put_file, remove_file
from tests.tweets.archive.relay import Relay
from tests.tweets.archive.samples import (
    MONTHS,
    archive,
    counted,
    fill,
    here,
    histories_of,
    on_both,
)
from tests.updater.process.test_refresh import refresh, tracked
from trackers.tweets.archive import read
from trackers.tweets.archive.bucket import S3Bucket
from trackers.tweets.archive.lease import ArchiveError
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.history import history
from trackers.tweets.models import PackedSamples, Tweet
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)
YEAR = [date(2024, month, 1) for month in range(1, 13)]
VIEWS_OF_ALL_SIZES = """
    UPDATE trackers_packedsamples
    SET views = ARRAY(SELECT (random() * 1e12)::bigint FROM unnest(taken_at))
"""
# More than one piece of an upload.
LARGE = bytes(range(256)) * (11 * 4 * 2**10)


def test_a_year_takes_two_requests_a_month_and_reads_one_row_group_of_each(bucket, relay):
    ids = fill(tweets=200, each=1_500, months=YEAR[:1])
    fill(tweets=4, months=YEAR[1:])
    with cursor() as db:
        db.execute(VIEWS_OF_ALL_SIZES)
    expected = history(ids[1])
    archive(bucket)
    relay.asked.clear()
    relay.wait_s = 0.02

    runs = history(ids[1])

    # In a second, or months would be missing.
    assert (runs, runs.lacking) == (expected, "")
    assert {method for method, _, _ in relay.asked} == {"GET"}
    of_large = [asked for asked in relay.asked if "2024-01" in asked[1]]
    # A small file is read at once.
    assert (len(of_large), len(relay.asked)) == (2, 2 + 11)
    large = ArchiveFile.objects.get(month=YEAR[0])
    assert len(large.first_ids) == 8
    ranges = [asked.removeprefix("bytes=").split("-") for *_, asked in of_large]
    assert sum(int(last) + 1 - int(first) for first, last in ranges) < large.bytes / 5


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("refuse", "The bucket cannot be reached."),
        ("hang", "takes too long"),
        (500, "The bucket answered 500."),
        (403, "The bucket answered 403: the keys do not permit it."),
        ("break off", "The bucket's answer broke off"),
        ("fall short", "The bucket's answer broke off"),
    ],
)
def test_while_it_fails_what_is_here_is_shown(bucket, relay, caplog, fault, says):
    ids = fill()
    fill(months=[date(2025, 3, 1)])
    expected = histories_of(ids)
    archive(bucket)
    relay.asked.clear()
    if fault == "refuse":
        relay.close()
    else:
        relay.fault = fault

    with caplog.at_level(logging.DEBUG):
        runs = history(ids[0])

    assert runs == expected[ids[0]][-4:]
    assert runs.lacking.startswith("Samples of 2024-11 to 2025-01 are missing")
    assert says in runs.lacking
    text = caplog.text + runs.lacking + repr(bucket)
    assert KEY not in text
    assert SECRET not in text

    # Away: nothing of it is asked for a while, and then it is.
    relay.fault, asked = None, len(relay.asked)
    assert (history(ids[0]), len(relay.asked)) == (runs, asked)
    if fault != "refuse":
        read.absence.until = 0.0
        assert histories_of(ids) == expected


def test_looking_up_asks_nothing_of_it(bucket, relay, fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    CredentialFactory(name="one")
    [id, *_] = tracked(fakex)
    fill(tweets=1)
    PackedSamples.objects.update(tweet_id=id)
    archive(bucket)
    relay.asked.clear()
    relay.fault = "hang"

    refresh()

    assert Tweet.objects.get(pk=id).views is not None
    assert relay.asked == []
    assert "missing" in history(id).lacking


def test_missing_file_is_named_and_the_others_are_read(bucket):
    ids = fill()
    archive(bucket)
    remove_file(bucket, "samples/month=2024-12/part-0001.parquet")
    runs = history(ids[0])
    assert len(runs) == 8
    assert runs.lacking.endswith("cannot be read. No such file or directory.")


@pytest.mark.parametrize("fault", [500, 403, "break off"])
def test_rows_stay_while_it_cannot_be_written(bucket, relay, fault):
    fill()
    relay.fault = fault
    # An answer that breaks off may have been that of a request that was done.
    with pytest.raises((OSError, ArchiveError), match="bucket"):
        archive(bucket)
    assert (here(), counted()) == (60, 0)

    relay.fault = None
    assert archive(bucket).samples == 60
    assert (here(), counted()) == (0, 60)


def test_one_failure_of_its_service_is_nothing_when_writing(bucket, relay):
    fill(months=MONTHS[:1])
    relay.first_answers.append(503)
    archive(bucket)
    assert (here(), relay.first_answers) == (0, [])


@on_both
def test_file_has_its_name_once_all_of_it_is_there(store):
    with store.writing("samples/x.parquet") as file:
        file.write(LARGE)
        assert "samples/x.parquet" not in files_in(store)
        assert not store.has("samples/x.parquet")
    assert files_in(store) == {"samples/x.parquet": LARGE}
    with suppress(KeyError), store.writing("samples/y.parquet") as file:
        file.write(LARGE)
        raise KeyError
    assert list(files_in(store)) == ["samples/x.parquet"]

    with store.writing("samples/x.parquet") as file:
        file.write(b"2")
    with store.open("samples/x.parquet") as file:
        assert file.read() == b"2"
    store.remove("samples/x.parquet")
    store.remove("samples/x.parquet")
    assert store.read("samples/x.parquet") is None


@on_both
def test_file_is_created_once(store):
    assert store.create("archive.json", b"1")
    assert not store.create("archive.json", b"2")
    assert store.read("archive.json") == b"1"


def test_bucket_that_is_not_there_is_said(bucket):
    s3, name, _ = opened(bucket)
    s3.delete_bucket(Bucket=name)
    fill()
    with pytest.raises(OSError, match="There is no such bucket"):
        archive(bucket)


def test_wrong_region_is_said(bucket, relay):
    fill()
    relay.fault = 301
    with pytest.raises(OSError, match="another region: set AWS_REGION"):
        archive(bucket)


def test_certificate_of_ones_own_is_trusted_by_setting(
    service, bucket, tmp_path, settings, monkeypatch
):
    authority = Authority(tmp_path)
    ids = fill()
    expected = histories_of(ids)
    with Relay(service, certificate=authority.certify("localhost")) as relay:
        monkeypatch.setenv("AWS_ENDPOINT_URL", relay.address)
        with pytest.raises(OSError, match="certificate is not trusted: set EGRESS_CA_FILE"):
            archive(bucket)

        settings.EGRESS_CA_FILE = str(authority.file)
        settings.ARCHIVE = f"{bucket.url}/again"
        again = S3Bucket(settings.ARCHIVE)
        assert archive(again).samples == 60
        assert histories_of(ids) == expected
        assert not again.keeps_versions("archive.json")


def test_check_says_that_old_versions_stay(bucket):
    s3, name, _ = opened(bucket)
    fill()
    archive(bucket)
    assert checked() == ["6 files read, 0 with a fault."]

    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    put_file(bucket, "archive.json", files_in(bucket)["archive.json"])
    note, _ = checked()
    assert note.startswith("The bucket keeps old versions: what was erased stays readable in them")


def checked():
    out = StringIO()
    call_command("archive", "check", stdout=out)
    return out.getvalue().splitlines()
