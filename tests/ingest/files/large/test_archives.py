"""ZIP archives, other packers, and how much may be in a file."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import pytest
from django.db.models.signals import post_save

from tests.ingest.files.uploads import FIRST, A, B, C, bad_lines, counts, upload, v2_lines, work
from trackers.ingest.files import importing
from trackers.ingest.files.limits import Limits, Taken
from trackers.ingest.files.models import ImportPart
from trackers.ingest.files.upload import upload_file
from trackers.ingest.found_tweets import TooLargeError, UnreadableError
from trackers.ingest.sources.models import Source
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

LIMITS = Limits(bytes=3_000_000, lines=10_000)


def zip_of(files, packing=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def tweets_js(part, *ids):
    posts = [{"tweet": {"id_str": str(id), "full_text": "mine"}} for id in ids]
    return f"window.YTD.tweets.part{part} = " + json.dumps(posts, indent=2)


def done(data):
    report = upload(data, name="archive.zip")
    report.refresh_from_db()
    importing.start(report, column=int(report.column or 0) or None, referenced=False)
    work()
    report.refresh_from_db()
    return report


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_every_compression_of_the_standard_library_is_unpacked(pack):
    data = "".join(v2_lines(3000)).encode()

    assert counts(done(pack(data))) == (3000, 3000, 0, 0)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_concatenated_compressed_files_are_one_file(pack):
    assert counts(done(pack(f"{A}\n".encode()) + pack(f"{B}\n".encode()))) == (2, 2, 0, 0)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_truncated_compressed_file_yields_its_whole_lines(pack):
    text = "".join(f"{n * 7919}\n" for n in range(1, 60_000)).encode()
    # Of bzip2 a block is the least that can be read.
    packed = pack(text, 1)
    report = upload(packed[: -len(packed) // 3])

    report.refresh_from_db()
    assert report.rejected == 1
    assert "breaks off" in report.source.rejected_lines.get().why
    assert 10_000 < report.lines < 59_999


def test_an_xz_file_needing_too_much_memory_is_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    data = lzma.compress(f"{A}\n".encode(), filters=filters)

    with pytest.raises(UnreadableError, match="more than 192 MB of memory"):
        upload(data)


def test_only_posts_are_read_from_the_archive_of_x():
    data = zip_of(
        {
            "data/account.js": "window.YTD.account.part0 = [ {} ]",
            "data/like.js": f'window.YTD.like.part0 = [ {{"like": {{"tweetId": "{C + 9}"}}}} ]',
            "data/tweets-part10.js": tweets_js(10, C),
            "data/tweets-part2.js": tweets_js(2, B),
            "data/tweets.js": tweets_js(0, A),
            "data/deleted-tweets.js": tweets_js(0, C + 5),
            "assets/logo.png": b"\x89PNG\x00\x00",
        }
    )

    report = done(data)

    assert counts(report) == (3, 3, 0, 0)
    assert set(Tweet.objects.values_list("id", flat=True)) == {A, B, C}
    names = [name for name, _ in report.files]
    assert names == ["data/tweets.js", "data/tweets-part2.js", "data/tweets-part10.js"]
    assert "data/like.js (likes, tweets of others: upload it by itself)" in report.note
    assert "data/deleted-tweets.js (tweets that you deleted)" in report.note
    assert "2 others (of X's archive, without posts)" in report.note


def test_files_with_tweets_are_read_from_other_archives_and_the_rest_is_named():
    table = "when,tweet_id\n"
    data = zip_of(
        {
            "2023/": "",
            "2023/a.csv": f"{table}x,{A}\nbad,line\n",
            "2023/b.csv": f"{table}y,{B}\nworse,line\n",
            "ReadMe.txt": "How to use this\n",
            "diary.txt": "Dear diary,\nnothing happened.\n",
            "__MACOSX/._a.csv": b"\0\1",
            "ids.txt": f"{C}\n",
            "other.csv": f"id,likes\n{C},5\n",
            "sheet.pdf": "%PDF-1.7",
        }
    )

    report = done(data)

    assert counts(report) == (4, 2, 0, 2)
    assert (report.header, report.column) == ("when,tweet_id", "2")
    assert report.files == [["2023/a.csv", 1], ["2023/b.csv", 4]]
    assert bad_lines(report) == [3, 6], "the third line of either"
    for name, why in (
        ("diary.txt", "no tweets in it"),
        ("ids.txt", "of another format, upload it by itself"),
        ("other.csv", "with other columns, upload it by itself"),
        ("sheet.pdf", "it is a PDF"),
    ):
        assert f"{name} ({why}" in report.note
    assert "MACOSX" not in report.note
    assert "ReadMe" not in report.note


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "damaged"),
        (zip_of({"[Content_Types].xml": "<x/>", "xl/workbook.xml": "<x/>"}), "workbook"),
        (zip_of({"a.txt": "nothing\n"}), "no file of tweets.*a.txt .no tweets in it"),
        (zip_of({"b.zip": zip_of({"a.txt": f"{A}\n"})}), "ZIP archive itself"),
        (zip_of({"a/": ""}), "no file of tweets"),
    ],
)
def test_an_archive_without_tweets_says_why(data, said):
    with pytest.raises(UnreadableError, match=said):
        upload(data)

    assert not Source.objects.exists()


def test_an_archive_with_a_damaged_file_yields_the_other_files():
    text = "".join(f"{n}\n" for n in range(FIRST, FIRST + 5000))
    data = bytearray(zip_of({"a.txt": text, "b.txt": "7\n"}, zipfile.ZIP_STORED))
    data[data.index(b"\n", 50_000) - 3] ^= 1

    report = done(bytes(data))

    assert 4000 < report.tracked <= 5000
    assert Tweet.objects.filter(pk=7).exists()
    assert any("breaks off here" in one.why for one in report.source.rejected_lines.all())


def limited(data, limits=LIMITS):
    return upload_file(io.BytesIO(data), name="x", owner="", size=len(data), limits=limits)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"1\n" * 10_001, "10,000 lines.*IMPORT_MOST_LINES", id="lines"),
        pytest.param(b"\n" * 10_001, "IMPORT_MOST_LINES", id="empty lines"),
        pytest.param(b'"' + b"x" * 3_000_001, "2.9 MB.*IMPORT_MOST_BYTES", id="bytes"),
        pytest.param(gzip.compress(b"1\n" * 2_000_000), "200 times its size", id="a bomb"),
        pytest.param(zip_of({"a.txt": b"1\n" * 2_000_000}), "200 times its size", id="in a ZIP"),
        pytest.param(
            zip_of({"a.txt": b"1\n" * 6000, "b.txt": b"1\n" * 6000}), "MOST_LINES", id="together"
        ),
    ],
)
def test_an_oversized_archive_is_refused_by_name_and_leaves_no_files(data, said):
    limits = LIMITS if "200" not in said else Limits(bytes=1 << 40, lines=1 << 40)

    with pytest.raises(TooLargeError, match=said):
        limited(data, limits)

    assert not Source.objects.exists()
    assert not ImportPart.objects.exists()


def test_a_zip_bomb_is_refused_before_it_is_half_unpacked(counted_parts):
    data = gzip.compress(b"1\n" * 3_000_000)
    assert len(data) < 7000

    with pytest.raises(TooLargeError):
        limited(data, Limits(bytes=1 << 40, lines=1 << 40))

    assert counted_parts.count < 375, "of 750"


@pytest.fixture
def counted_parts():
    """Counts the parts that are stored, and may be gone later."""

    class Parts:
        count = 0

        def __call__(self, **_given):
            self.count += 1

    parts = Parts()
    post_save.connect(parts, sender=ImportPart)
    yield parts
    post_save.disconnect(parts, sender=ImportPart)


def test_the_unpacked_size_is_shown_beside_its_limit():
    report = limited(f"{A}\n".encode() * 9000)

    report.refresh_from_db()
    assert (report.lines, report.unpacked) == (9000, 9000 * 20)
    assert LIMITS.near(Taken(report.unpacked, report.lines)) == (
        "This is 90% of the 10,000 lines that one import may have (IMPORT_MOST_LINES)."
    )
    assert LIMITS.near(Taken(0, 5000)) == ""
