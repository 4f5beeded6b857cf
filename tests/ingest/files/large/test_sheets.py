"""Workbooks and Parquet files are read as tables, by a process of its own."""

import io
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.ingest.files.outcomes import zipped
from tests.ingest.files.uploads import counts, imported, upload
from tests.ingest.files.workbooks import number, text, workbook
from trackers.ingest.files.preview import doubt_of
from trackers.ingest.files.sheets import ROUNDS, SheetLines, kind_of_sheet
from trackers.ingest.found_tweets import UnreadableError
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

IDS = [1212092628029698055, 1212092632211419274, 1212092636393140493]


def open_document(rows):
    cells = "".join(
        f"<table:table-row><table:table-cell office:value-type='string'><text:p>{cell}</text:p>"
        "</table:table-cell></table:table-row>"
        for cell in rows
    )
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet><table:table "
        f"table:name='a'>{cells}</table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    return zipped(mimetype=kind, **{"META-INF/manifest.xml": manifest, "content.xml": content})


def table_of(count):
    kept = io.BytesIO()
    ids = [IDS[0] + n * 4_194_313 for n in range(count)]
    parquet.write_table(pyarrow.table({"tweet_id": ids, "words": ["a, b"] * count}), kept)
    return kept.getvalue()


TEXTS = workbook(
    [[text("about"), text("us")]],
    [[text("when"), text("tweet_id")], *([text("x"), text(id)] for id in IDS)],
)


@pytest.mark.parametrize(
    "data",
    [TEXTS, open_document(["tweet_id", *IDS]), table_of(3)],
    ids=["Excel", "OpenDocument", "Parquet"],
)
def test_a_sheet_is_imported_by_its_column_of_ids(data):
    report = imported(data, name="mine.xlsx")

    assert counts(report) == (3, 3, 0, 0)
    assert Tweet.objects.filter(pk=IDS[0]).exists()


def test_ids_that_are_numbers_in_a_workbook_are_doubted():
    rows = [[text("tweet_id")], *([number(id)] for id in IDS)]

    report = upload(workbook(rows))

    assert report.note == ROUNDS
    assert "end in zeros" in doubt_of(report, column=1, referenced=False)


def test_small_numbers_of_a_workbook_keep_their_digits():
    rows = [[text("likes"), text("url")], [number(12), text(f"https://x.com/a/status/{IDS[0]}")]]
    data = io.BytesIO(workbook(rows))

    lines = SheetLines(data, kind_of_sheet(data)).read().decode()

    assert lines == f"likes,url\n12,https://x.com/a/status/{IDS[0]}\n"


@pytest.mark.parametrize("data", [TEXTS[:-200], b"\xd0\xcf\x11\xe0rest", b"PAR1rest"])
def test_a_damaged_sheet_is_refused(data):
    with pytest.raises(UnreadableError, match="damaged"):
        upload(data)


def test_a_sheet_whose_process_dies_says_what_to_do():
    lines = SheetLines(io.BytesIO(TEXTS), "no such kind")
    lines._process.kill()

    with pytest.raises(UnreadableError, match="Save the sheet as CSV"):
        lines.read()


def test_the_process_that_reads_a_sheet_knows_none_of_our_secrets(monkeypatch):
    monkeypatch.setenv("FIELD_KEYS", "a key")
    lines = SheetLines(io.BytesIO(workbook([[text("id")], [text(IDS[0])]])), "workbook")

    known = set(Path(f"/proc/{lines._process.pid}/environ").read_text().split("\0"))
    lines.close()

    assert {entry.partition("=")[0] for entry in known} - {""} <= {
        *("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR"),
    }
