"""What a page asks for again is sent only when it says something else."""

import pytest

from tests.pages.conftest import measure, watched
from tests.pages.sources import source
from trackers.ingest.sources.models import Source

pytestmark = pytest.mark.django_db
HX = {"HX-Request": "true"}


def asked(staff, address, digest=None):
    return staff.get(address, headers={**HX, **({"If-None-Match": digest} if digest else {})})


@pytest.fixture
def parts():
    """The parts of pages that are asked for again, over one source and one tweet."""
    made = source(due_in=300, yielded=7)
    measure(watched(), 0, likes=1)
    return {
        "list": "/sources/?part=list",
        "source": f"/sources/{made.pk}/?part=detail",
        "rows": "/tweets/?part=rows",
        "subscribers": "/subscribers/?part=list",
        "home": "/home/?part=now&ids=&top=&clock=",
    }


@pytest.mark.parametrize("part", ["list", "source", "rows", "subscribers", "home"])
def test_an_unchanged_part_is_not_sent_again(staff, parts, part):
    first = asked(staff, parts[part])
    assert (first.status_code, bool(first.content)) == (200, True)

    # Each answer has another token, and its times have become older.
    again = asked(staff, parts[part], first.headers["ETag"])

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    # As Apache and Caddy mark what they compressed.
    marked = first.headers["ETag"].removesuffix('"') + '-gzip"'
    assert asked(staff, parts[part], marked).status_code == 304
    # Only the page's script may answer with what it has.
    assert first.headers["Cache-Control"] == again.headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("part", ["list", "source"])
def test_a_changed_part_is_sent(staff, parts, part):
    digest = asked(staff, parts[part]).headers["ETag"]

    Source.objects.update(yielded=8)
    answer = asked(staff, parts[part], digest)

    assert answer.status_code == 200
    assert answer.headers["ETag"] != digest


def test_a_changed_time_changes_the_etag(staff, parts):
    digest = asked(staff, parts["list"]).headers["ETag"]

    made = Source.objects.get()
    made.polled_at = made.created_at
    made.save(update_fields=["polled_at"])

    assert asked(staff, parts["list"], digest).status_code == 200


def test_a_whole_page_has_no_etag(staff, parts):
    assert "ETag" not in staff.get("/sources/").headers
