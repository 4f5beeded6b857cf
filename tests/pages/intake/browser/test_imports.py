"""A file by the browser: uploaded, shown, chosen, started, and its report."""

import csv
import gzip
import io
import json
import re
import zipfile
from dataclasses import asdict
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from tests.file_names import undated_name
from tests.ingest.files.uploads import FIRST, imported, upload, v2_tweet, work
from tests.pages.chromium import Demo, screen
from tests.pages.conftest import flat
from trackers.ingest.files import importing
from trackers.ingest.files.models import Import, ImportJob, ImportPart
from trackers.ingest.sources.models import Source
from trackers.jobs.observed.models import Worker
from trackers.tweets.lookups import Lookups
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

A, B = FIRST, FIRST + 1
FORM = "/sources/import/"


def upload_form(data, name="mine.txt"):
    return {"file": SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)}


def page_of(client, address, **values):
    reply = client.get(address, values)
    assert reply.status_code == 200
    # As a person reads it.
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", flat(reply)))


def uploaded(staff, data, name="mine.txt"):
    reply = staff.post(FORM, upload_form(data, name))
    assert reply.status_code == 302, reply.content.decode()
    return reply.url


def test_a_table_is_shown_before_anything_is_imported_and_then_started(staff):
    address = uploaded(staff, f"when,tweet_id\nx,{A}\ny,{B}\n", "mine.csv")

    page = page_of(staff, address)
    assert "file mine.csv" in page
    assert "This looks like a table (CSV)" in page
    assert "Tweets are taken from column tweet_id. The first ones:" in page
    assert page.index(str(A)) < page.index(str(B))
    assert "by ada" in page
    assert work() == 0

    assert staff.post(address, {"act": "start", "column": "2"}).status_code == 302
    work()

    page = page_of(staff, address)
    assert "Done in" in page
    assert "Read2Tracked2Already tracked0Rejected0" in page
    assert set(Tweet.objects.values_list("id", flat=True)) == {A, B}


def test_choosing_another_column_previews_and_imports_its_tweets(staff):
    address = uploaded(staff, f"tweet_id,answer_to\n{A},{B}\n")

    seen = staff.get(address, {"part": "choice", "column": "2"}).content.decode()
    assert f"<code>{B}</code>" in seen
    assert f"<code>{A}</code>" not in seen

    staff.post(address, {"act": "start", "column": "2"})
    work()
    assert Tweet.objects.get().id == B


def test_a_table_without_an_id_column_asks_for_one_before_starting(staff):
    address = uploaded(staff, f"user_id,account_id\n{A},{B}\n")

    assert "choose one" in page_of(staff, address)
    reply = staff.post(address, {"act": "start", "column": ""}, follow=True)

    assert "Choose the column with the tweets." in reply.content.decode()
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("column", ["", "x", "0", "9", "-1", "1e3", "²", "99999999999"])
def test_invalid_columns_do_not_break_the_page(staff, column):
    address = uploaded(staff, f"tweet_id,answer_to\n{A},{B}\n")

    assert staff.get(address, {"part": "choice", "column": column}).status_code == 200
    assert staff.post(address, {"act": "start", "column": column}).status_code == 302


def test_only_json_offers_to_import_referenced_tweets(staff):
    page = {"data": [v2_tweet(0)], "includes": {"tweets": [v2_tweet(1)]}}
    address = uploaded(staff, json.dumps(page))
    assert 'name="referenced"' in staff.get(address).content.decode()
    assert 'name="referenced"' not in staff.get(uploaded(staff, f"{A}\n")).content.decode()

    staff.post(address, {"act": "start", "referenced": "on"})
    work()

    assert Import.objects.get(began_at__isnull=False).tracked == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "The file is empty."),
        ("nothing here\n", "The file contains no tweets. Line 1, &#x27;nothing here&#x27;"),
        (b"PK\x03\x04", "damaged ZIP archive"),
        (gzip.compress(b"x", mtime=0)[:12], "damaged"),
    ],
)
def test_an_unreadable_file_is_reported_beside_the_form_and_not_kept(staff, data, sentence):
    reply = staff.post(FORM, upload_form(data))

    assert reply.status_code == 400
    assert sentence in reply.content.decode() or "breaks off" in reply.content.decode()
    assert not Source.objects.exists()


def test_an_upload_without_a_file_asks_for_one(staff):
    assert "Choose a file." in staff.post(FORM, {}).content.decode()


def test_an_unwanted_upload_is_deleted(staff):
    address = uploaded(staff, f"{A}\n")

    staff.post(address, {"act": "forget"})

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()
    assert staff.get(address).status_code == 404


def test_a_started_import_can_neither_be_deleted_nor_started_again(staff):
    address = uploaded(staff, f"{A}\n")
    staff.post(address, {"act": "start"})

    for act in ("forget", "start", "", "x"):
        assert staff.post(address, {"act": act}).status_code == 302
    # Somebody whose page is of before.
    assert not importing.discard(Import(pk=Import.objects.get().pk, began_at=None))

    assert ImportPart.objects.count() == ImportJob.objects.count() == 1


def test_a_running_import_shows_its_progress_and_refreshes(staff):
    address = uploaded(staff, "\n".join(str(FIRST + n) for n in range(12_000)))
    staff.post(address, {"act": "start"})
    assert "manage.py qcluster" in page_of(staff, address)
    now = timezone.now()
    Worker.objects.create(
        cluster=uuid4(), host="h", pid=1, kind="worker", started_at=now, seen_at=now
    )
    Import.objects.update(parts_done=1, read=4000, tracked=4000)

    running = flat(staff.get(f"{address}?part=report"))

    assert 'hx-trigger="tick from:body"' in running
    assert "33%: 1 of 3 parts" in running
    assert "left" in running
    assert "qcluster" not in running
    Import.objects.update(parts_done=0)
    work()
    ended = staff.get(f"{address}?part=report").content.decode()
    assert "Done in" in ended
    # It goes on until X was asked for all of them.
    assert "hx-trigger" in ended
    Import.objects.update(lookups=asdict(Lookups({"2022": {"shown": 12_000}})))
    assert "hx-trigger" not in staff.get(f"{address}?part=report").content.decode()


def test_failed_parts_are_reported_and_can_be_retried(staff):
    address = uploaded(staff, f"{A}\n")
    staff.post(address, {"act": "start"})
    ImportJob.objects.update(strikes=4)

    assert "1 part could not be imported" in page_of(staff, address)
    staff.post(address, {"act": "again"})
    work()

    assert Tweet.objects.count() == 1


def test_warnings_are_counted_separately_with_what_was_left_out(staff):
    odd = v2_tweet(0, public_metrics={"like_count": 1.0})
    report = imported("\n".join(map(json.dumps, (odd, v2_tweet(1)))))
    address = f"{FORM}{report.pk}/"

    page = page_of(staff, address)
    assert "Read2Tracked2Already tracked0Rejected0Warnings1" in page
    assert "like_count is 1.0, taken as 1" in page
    assert "Rejected lines" not in page
    rows = list(csv.reader(io.StringIO(staff.get(f"{address}warnings.csv").getvalue().decode())))
    assert rows[0] == ["line", "text", "why"]
    assert (rows[1][0], rows[1][2]) == ("1", "like_count is 1.0, taken as 1")


def test_the_contents_of_a_file_are_shown_beside_the_limits_with_a_warning_near_them(
    staff, settings
):
    settings.IMPORT_MOST_LINES = 10
    assert "up to 10 lines" in page_of(staff, FORM)

    few, many = (uploaded(staff, f"{A}\n" * count) for count in (2, 9))
    reply = staff.post(FORM, upload_form(f"{A}\n" * 11))

    assert "2 lines" in page_of(staff, few)
    Import.objects.update(uploaded_at=None)
    assert "2 lines so far, of at most 10 lines and 4.0 GB" in page_of(staff, few)
    Import.objects.update(uploaded_at=timezone.now())
    assert "IMPORT_MOST_LINES" not in page_of(staff, few)
    assert "This is 90% of the 10 lines that one import may have" in page_of(staff, many)
    assert reply.status_code == 400
    assert "It has more than 10 lines" in reply.content.decode()
    assert Source.objects.count() == 2


def test_lines_of_an_archive_are_named_by_their_file(staff):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", f"{A}\n")
        archive.writestr("b.txt", f"{B}\nbad\n")
        archive.writestr("c.pdf", "%PDF")
    address = uploaded(staff, packed.getvalue(), "mine.zip")

    page = page_of(staff, address)
    assert "Read from a.txt, b.txt" in page
    assert "Left out: c.pdf (it is a PDF" in page
    assert "Rejected: b.txt, line 2 bad" in page
    staff.post(address, {"act": "start"})
    work()
    rows = list(csv.reader(io.StringIO(staff.get(f"{address}rejected.csv").getvalue().decode())))
    assert rows[0] == ["file", "line", "text", "why"]
    assert rows[1][:3] == ["b.txt", "2", "bad"]


def test_rejected_lines_are_in_a_table_and_a_file(staff):
    report = imported("1\n=cmd\nbad,\n<b>x</b>\n")
    address = f"{FORM}{report.pk}/"

    page = staff.get(address).content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    file = staff.get(f"{address}rejected.csv")
    rows = list(csv.reader(io.StringIO(file.getvalue().decode())))

    assert undated_name(file) == f"rejected-{report.pk}.csv"
    why = "is neither the id nor the address of a tweet"
    assert rows == [
        ["line", "text", "why"], ["2", "'=cmd", why], ["3", "bad,", why], ["4", "<b>x</b>", why],
    ]  # fmt: skip


def test_an_import_of_nothing_says_so(staff):
    data = "\n".join(f"line {n}" for n in range(4001))
    address = uploaded(staff, data)
    assert "There are no tweets in the first lines of the file." in page_of(staff, address)
    staff.post(address, {"act": "start"})
    work()

    page = page_of(staff, address)

    assert "The file contains no tweets." in page
    assert "Rejected4,001" in page


def test_an_upload_that_goes_on_or_broke_off_says_so(staff):
    report = upload(f"{A}\n")
    Import.objects.update(uploaded_at=None)

    assert "was interrupted" in page_of(staff, f"{FORM}{report.pk}/")
    staff.post(f"{FORM}{report.pk}/", {"act": "start"})

    assert not ImportJob.objects.exists()


ADDRESSES = ("", "{id}/", "{id}/?part=report", "{id}/?part=choice", "{id}/rejected.csv")


@pytest.mark.parametrize("address", ADDRESSES)
def test_imports_need_a_login(client, address):
    report = upload(f"{A}\n")

    reply = client.get(FORM + address.format(id=report.pk))

    assert (reply.status_code, reply.url[:7]) == (302, "/login/")


@pytest.mark.parametrize("address", ADDRESSES[1:])
def test_an_unknown_import_is_404(staff, address):
    for id in (5, 2**63):
        assert staff.get(FORM + address.format(id=id)).status_code == 404


def test_importing_needs_the_permission_to_add_sources_and_reports_do_not(client):
    who = User.objects.create_user("eve", is_staff=True)
    who.user_permissions.add(Permission.objects.get(codename="view_source"))
    client.force_login(who)
    report = upload(f"{A}\n")

    assert client.get(FORM).status_code == 403
    assert client.post(FORM, upload_form(f"{A}\n")).status_code == 403
    assert client.post(f"{FORM}{report.pk}/", {"act": "start"}).status_code == 403
    assert client.get(f"{FORM}{report.pk}/").status_code == 200
    assert Source.objects.count() == 1
    who.user_permissions.add(Permission.objects.get(codename="add_source"))
    assert client.post(FORM, upload_form(f"{A}\n")).status_code == 302


def test_a_post_from_another_site_imports_nothing():
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("ada", "", "a password of no account"))
    report = upload(f"{A}\n")

    assert client.post(FORM, upload_form(f"{A}\n")).status_code == 403
    assert client.post(f"{FORM}{report.pk}/", {"act": "start"}).status_code == 403
    token = client.get(FORM).cookies[settings.CSRF_COOKIE_NAME].value
    reply = client.post(FORM, {**upload_form(f"{A}\n"), "csrfmiddlewaretoken": token})

    assert reply.status_code == 302
    assert Source.objects.count() == 2


def test_the_file_of_an_upload_has_no_name_on_the_disk(staff, settings, tmp_path):
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)

    uploaded(staff, "\n".join(str(FIRST + n) for n in range(200_000)))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.browser
def test_a_person_imports_a_table_in_the_browser(tmp_path):
    rows = "".join(f"{n},{FIRST + n * 4_194_304},{A + n}\n" for n in range(9000))
    (tmp_path / "mine.csv").write_text(f"row,tweet_id,answer_to\n{rows}bad,bad,bad\n")
    demo = Demo(tmp_path, "--tweets=50")
    try:
        with screen(demo) as seen:
            page = seen.page
            page.goto(f"{demo.address}{FORM}")
            page.set_input_files("#id_file", tmp_path / "mine.csv")
            seen.follow("text=Upload")
            assert "column tweet_id" in page.inner_text("#choice")
            page.select_option("#column", "3")
            page.wait_for_selector(f"#first >> text={A + 1}")
            assert "column answer_to" in page.inner_text("#choice")
            seen.follow("text=Start the import")
            page.wait_for_selector("text=Done in")
            cards = page.inner_text("#import .cards").split()
            read = "Read 9,001 Tracked 9,000 Already tracked 0 Rejected 1"
            assert cards == read.split()
            assert "9002" in page.inner_text("#import table")
    finally:
        demo.close()
