from django.utils.timezone import now

from tests.admin.conftest import act
from trackers.ingest.sources.models import Gap, Source, Stream

SOURCES = "/admin/trackers/source/"


def source(of="nasa", **given):
    return Source.objects.create(**{"kind": "account", "of": of, **given})


def test_the_list_is_filtered_and_searched_and_counts_gaps(staff):
    one = source(owner="science", priority=2)
    source("esa", paused_at=now())
    gap = {"source": one, "from_id": 1, "to_id": 2, "found_at": now()}
    Gap.objects.create(why="budget", **gap)
    Gap.objects.create(why="budget", closed_at=now(), **gap)

    def found(**query):
        return list(staff.get(SOURCES, query).context["cl"].queryset)

    for query in ({"owner": "science"}, {"priority__exact": "2"}, {"paused": "no"}):
        assert found(**query) == [one]
    assert found(q="nas") == [one]
    assert [row.of for row in found(paused="yes")] == ["esa"]
    assert found(kind__exact="search") == []
    assert [row.open_gaps for row in found(q="nas")] == [1]


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
