"""Tweets that are pasted into the box of the list."""

import io

import pytest

from tests.pages.sources import some_staff
from trackers.ingest.files.models import Import
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


def test_pasted_tweets_are_tracked_and_bad_lines_named(staff):
    answer = staff.post(
        "/tweets/track",
        {"lines": "https://x.com/a/status/1834567890123456789\nnonsense\n1834567890123456790"},
        follow=True,
    ).content.decode()

    assert Tweet.objects.count() == 2
    assert "2 tweets are now tracked." in answer
    assert "Not tracked: line 2, “nonsense”, is neither the id nor" in answer
    assert (
        "Nothing was pasted"
        in staff.post("/tweets/track", {"lines": " "}, follow=True).content.decode()
    )


def test_bad_lines_with_the_same_fault_share_a_sentence(staff):
    text = "one\n2126475712088805260\ntwo\n1212092628029690000\nthree"
    answer = staff.post("/tweets/track", {"lines": text, "sure": "yes"}, follow=True)

    assert (
        "Not tracked: line 1, “one”, line 3, “two”, and line 5, “three”: each is neither the id "
        "nor the address of a tweet."
    ) in answer.content.decode()


@pytest.mark.parametrize("text", ["Hello, world", "a;b\nc;d", ",", "{", "[1"])
def test_pasted_text_that_looks_like_a_table_is_refused_line_by_line(staff, text):
    answer = staff.post("/tweets/track", {"lines": text}, follow=True)

    assert "Not tracked: line 1" in answer.content.decode()
    assert Tweet.objects.count() == 0


ROUNDED = "1212092628029690000\n1212092632211410000\n1212092636393140000"


def test_pasted_ids_that_seem_rounded_are_tracked_once_a_person_says_so(staff):
    page = staff.post("/tweets/track", {"lines": ROUNDED}).content.decode()

    assert "end in zeros" in page
    assert "Track them anyway" in page
    assert Tweet.objects.count() == 0
    staff.post("/tweets/track", {"lines": ROUNDED, "sure": "yes"})
    assert Tweet.objects.count() == 3


def test_an_import_of_rounded_ids_begins_once_a_person_says_so(staff):
    file = io.BytesIO(ROUNDED.encode())
    file.name = "mine.txt"
    address = staff.post("/sources/import/", {"file": file}).headers["Location"]

    assert "end in zeros" in staff.get(address).content.decode()
    assert "Import them anyway" in staff.post(address, {"act": "start"}).content.decode()
    assert Import.objects.get().began_at is None
    staff.post(address, {"act": "start", "sure": "yes"})
    assert Import.objects.get().began_at is not None


def test_view_permission_shows_no_box_to_track(client):
    viewer = some_staff(client, "view_tweet")

    assert 'id="track"' not in viewer.get("/tweets/").content.decode()
    assert viewer.post("/tweets/track", {"lines": "1"}).status_code == 403
    assert Tweet.objects.count() == 0
