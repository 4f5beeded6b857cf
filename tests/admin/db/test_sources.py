from django.utils.timezone import now

from tests.admin.conftest import act
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.stream.models import Stream

SOURCES = "/admin/trackers/source/"


def source(of="nasa", **given):
    return Source.objects.create(**{"kind": "account", "of": of, **given})


def test_the_list_is_filtered_and_searched_and_counts_gaps(staff):
    watched_source = source(owner="science", priority=2)
    source("esa", paused_at=now())
    gap = {"source": watched_source, "from_id": 1, "to_id": 2, "found_at": now()}
    Gap.objects.create(why="budget", **gap)
    Gap.objects.create(why="budget", closed_at=now(), **gap)

    def matching(**query):
        return list(staff.get(SOURCES, query).context["cl"].queryset)

    for query in ({"owner": "science"}, {"priority__exact": "2"}, {"paused": "no"}):
        assert matching(**query) == [watched_source]
    assert matching(q="nas") == [watched_source]
    assert [row.of for row in matching(paused="yes")] == ["esa"]
    assert matching(kind__exact="search") == []
    assert [row.open_gaps for row in matching(q="nas")] == [1]


def test_the_list_links_to_the_pages_of_sources_and_is_read_only(staff):
    made = source()

    page = staff.get(SOURCES).content.decode()
    act(staff, SOURCES, "pause", made.pk)

    assert f'<a href="/sources/{made.pk}/">@nasa&#x27;s posts</a>' in page
    assert '<a href="/sources/">' in page
    assert staff.get(f"{SOURCES}add/").status_code == 403
    assert staff.post(f"{SOURCES}{made.pk}/change/", {"owner": "me"}).status_code == 403
    assert staff.get(f"{SOURCES}{made.pk}/delete/").status_code == 403
    assert Source.objects.get().paused_at is None


def test_the_stream_is_read_only(staff):
    Stream.objects.create(state="open", lease=4711471147114711)

    page = staff.get("/admin/trackers/stream/filtered/change/")

    assert page.status_code == 200
    assert "4711471147114711" not in page.content.decode()
    assert staff.post("/admin/trackers/stream/filtered/change/", {"lines": 5}).status_code == 403
    assert staff.get("/admin/trackers/stream/add/").status_code == 403
