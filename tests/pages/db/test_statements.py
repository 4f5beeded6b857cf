"""However many rows a page shows, it asks the database as often, on our own cursor as well."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.events.conftest import subscriber, told
from tests.factories import AppFactory, CredentialFactory
from tests.pages.conftest import measure, watched
from trackers.ingest.sources.models import Source, SourceDay
from trackers.jobs.models import NotedTask, QueueMinute
from trackers.management.status_json import status_json
from trackers.money.models import Project

KEY = "a-key-of-the-tests-that-is-long-enough"


@pytest.fixture
def read(staff, settings):
    settings.METRICS_KEY = KEY

    def read(what):
        if what == "status":
            return status_json()
        answer = staff.get(what, headers={"Authorization": f"Bearer {KEY}"})
        assert answer.status_code == 200
        return answer

    return read


def fill(number):
    """One more of each thing that has rows."""
    watched(number, author_id=100 + number, username=f"author_{number}")
    tweet = watched(1000 + number, author_id=100 + number)
    for seconds in (60, 120):
        measure(tweet, seconds, likes=seconds)
    credential = CredentialFactory(app=AppFactory(name=f"app {number}"))
    Project.objects.filter(pk=credential.app.project_id).update(posts_a_day=1000)
    for kind in ("account", "search", "stream"):
        Source.objects.create(kind=kind, of=f"of{number}", every=timedelta(hours=1))
    now = datetime.now(UTC)
    SourceDay.objects.create(source=Source.objects.latest("pk"), day=now.date(), posts=1)
    given = {"queue": f"queue{number}", "due": 1, "oldest_due_seconds": 1, "in_flight": 1}
    QueueMinute.objects.create(minute=now, **given)
    NotedTask.objects.create(name="a", took=timedelta(1), failed=True, host="h", pid=1)
    subscriber(f"s{number}", [f"topic_{chr(97 + number)}", "tweets"])
    told(number, topic=f"topic_{chr(97 + number)}")


PAGES = (
    "/", "/?part=now", "/?part=ahead", "/fastest/", "/tweets/",
    "/sources/", "/sources/?part=list", "/operations/", "/operations/?part=figures",
    "/operations/strip/", "/operations/?part=over-time", "/operations/?part=database",
    "/subscribers/", "/following/", "/columns/", "/feeds/", "/live/", "/metrics", "status",
    "/admin/trackers/source/", "/admin/trackers/credential/", "/admin/trackers/project/",
    "/admin/trackers/queue/",
)  # fmt: skip


@pytest.mark.parametrize("what", PAGES)
def test_a_page_takes_as_many_queries_for_many_rows_as_for_two(read, what):
    # Whoever watches has what happens from then on.
    read(what)
    for number in range(2):
        fill(number)
    read(what)
    with CaptureQueriesContext(connection) as few:
        read(what)
    for number in range(2, 6):
        fill(number)
    with CaptureQueriesContext(connection) as many:
        read(what)

    assert len(many) == len(few), [one["sql"][:200] for one in many]
