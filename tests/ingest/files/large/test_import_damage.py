"""A damaged file: it brings what is whole, and tells of the rest in full."""

import gzip
import io
import json
import zipfile
import zlib
from datetime import timedelta

import pytest

from tests.ingest.files.uploads import (
    FIRST,
    A,
    bad_lines,
    counts,
    imported,
    upload,
    v2_lines,
    work,
)
from trackers.ingest.files import importing
from trackers.ingest.files.archive import OPEN_DOCUMENT
from trackers.ingest.files.models import ImportJob, ImportPart
from trackers.ingest.files.opening import LONGEST_LINE
from trackers.ingest.files.upload import upload_file
from trackers.ingest.found_tweets import UnreadableError
from trackers.ingest.sources.models import Source
from trackers.jobs import queue

pytestmark = pytest.mark.django_db


def test_damaged_lines_are_reported_with_number_text_and_reason():
    report = imported(
        '{"id": "1"}\n\n{"id": \n{"id": "2"}\n{"id": "x\0y"}\n'.replace("\0", "\\u0000")
    )

    assert counts(report) == (4, 2, 0, 2)
    [one, other] = report.source.rejected_lines.all()
    assert (one.line, one.text) == (3, '{"id": ')
    assert one.why.startswith("is not JSON")
    assert other.line == 5


def test_of_a_million_bad_lines_the_first_thousand_are_kept_whatever_part_comes_first():
    data = "\n".join(f"{A}" if n % 2 else f"bad {n}" for n in range(18_000))
    report = upload(data)
    importing.start(report, column=None, referenced=False)
    jobs = list(ImportJob.objects.order_by("-key").values_list("key", flat=True))
    for place, key in enumerate(jobs):
        # The last part of the file comes first.
        queue.schedule("import:part", key, timedelta(seconds=place - 100))

    work()

    report.refresh_from_db()
    assert (len(jobs), report.rejected) == (5, 9000)
    assert bad_lines(report) == list(range(1, 2000, 2))


def test_a_damaged_object_of_a_document_is_reported_with_its_line():
    text = json.dumps([{"id": str(FIRST + n)} for n in range(500)], indent=2)
    damaged = text.replace(f'"{FIRST + 100}"', f'"{FIRST + 100}', 1)

    report = imported(damaged)

    assert counts(report) == (500, 499, 0, 1)
    [line] = bad_lines(report)
    assert 300 <= line <= 303


def test_a_truncated_compressed_file_yields_its_whole_lines_and_says_where_it_ends():
    text = "".join(f"{n}\n" for n in range(FIRST, FIRST + 20_000)).encode()

    report = imported(gzip.compress(text, mtime=0)[:-1000])

    assert 10_000 < report.tracked < 20_000
    [line] = report.source.rejected_lines.all()
    assert line.line == report.tracked + 1
    assert "breaks off" in line.why


def test_a_compressed_file_with_a_damaged_byte_yields_the_lines_before_it():
    text = "".join(f"{n * 7919}\n" for n in range(1, 40_000)).encode()
    data = bytearray(gzip.compress(text, mtime=0))
    data[len(data) // 2] ^= 0xFF

    report = imported(bytes(data))

    assert 0 < report.tracked < 39_999
    assert any("breaks off" in one.why for one in report.source.rejected_lines.all())


def test_line_numbers_stay_right_after_a_very_long_line():
    data = b'{"id": "1"}\n' + b"x" * (2 * LONGEST_LINE + 5) + b'\n\n{"id": "2"}\nbad\n'

    report = imported(data)

    assert counts(report)[:3] == (6, 2, 0)
    assert bad_lines(report) == [2, 5]


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


PACKED = zlib.compress(b"20\n" * 100, wbits=-15)
DAMAGED_ZIP = zipped({"ids.txt": "20\n" * 100}).replace(PACKED, b"\xff" * len(PACKED))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (gzip.compress(b"", mtime=0), "empty"),
        (b"\n\n", "It is empty"),
        (b"# only a remark\n", "It is empty"),
        (b"PK\x03\x04rest", "damaged ZIP archive"),
        (b"%PDF-1.7", "PDF"),
        (b"\x00\x01\x02" * 50, "not a text file"),
        (b"BZh91AY&SYrest", "bzip2, and damaged"),
        (b"\xfd7zXZ\x00rest", "xz, and damaged"),
        (b"7z\xbc\xaf\x27\x1crest", "7-Zip"),
        (b"PK\x05\x06" + b"\0" * 18, "empty ZIP archive"),
        (zipped({"[Content_Types].xml": "", "word/document.xml": ""}), "an office document"),
        (
            zipped({"mimetype": f"{OPEN_DOCUMENT}spreadsheet", "content.xml": f"{A}"}),
            "a damaged workbook",
        ),
        (DAMAGED_ZIP, r"Left out: ids.txt \(it is damaged\)"),
        (b"ids.txt".ljust(257, b"\0") + b"ustar", "a tar archive"),
        (b"\x1f\x8bgarbage that is no gzip", "damaged from the start"),
        (b"Dear diary,\ntoday nothing happened.\n", "contains no tweets. Line 2"),
        (b"a,b\nc,d\n", "contains no tweets"),
        (b'{"a": 1}\n', "contains no tweets. Line 1"),
        (b"[\n  {}\n]\n", "contains no tweets. Line 2"),
        (gzip.compress(b"x" * 10, mtime=0), "contains no tweets"),
    ],
)
def test_an_unreadable_file_is_refused_with_a_sentence_and_leaves_nothing(data, said):
    with pytest.raises(UnreadableError, match=said):
        upload(data)

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()


def test_a_failing_reader_leaves_nothing_of_the_upload():
    class Broken(io.BytesIO):
        def read1(self, size=-1):
            if self.tell() > 3_000_000:
                raise ConnectionResetError
            return super().read1(size)

    file = Broken("".join(v2_lines(3000)).encode())
    with pytest.raises(ConnectionResetError):
        upload_file(file, name="x", owner="", size=0)

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()
