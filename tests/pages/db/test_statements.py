"""However many rows a page shows, it asks the database as often, on our own cursor as well."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.events.conftest import deliver, fanned_out, subscriber, take
from tests.factories import AppFactory, CredentialFactory
from tests.pages.conftest import measure, watched
from tests.pages.home.homes import followed, source, team, tweet
from trackers.ingest.sources.models import Source, SourceDay
from trackers.jobs.observed.models import NotedTask, QueueMinute
from trackers.management.status_json import status_json
from trackers.money.models import Project, Spending
from trackers.timelines import homes
from trackers.timelines.models import Follower

KEY = "a-key-of-the-tests-that-is-long-enough"


@pytest.fixture
def read(staff, settings):
    settings.METRICS_KEY = KEY
    staff.post("/columns/add", {"shows": "home:"})
    watched(9000)

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
    for author, place in ((100 + number, 1000 + number), (7, 2000 + number)):
        moved = watched(place, author_id=author)
        for seconds in (60, 120):
            measure(moved, seconds, likes=seconds)
    followed(tweet(2, number))
    crew = Follower.objects.create(team=team(f"Crew {number}", "ada"))
    homes.follow(crew.pk, source_id=source(f"kittens {number}"))
    credential = CredentialFactory(app=AppFactory(name=f"app {number}"))
    project = credential.app.project
    Project.objects.filter(pk=project.pk).update(posts_a_day=1000)
    Spending.objects.create(project=project, day=datetime.now(UTC).date(), posts=1)
    for kind in ("account", "search", "stream"):
        Source.objects.create(kind=kind, of=f"of{number}", every=timedelta(hours=1))
    now = datetime.now(UTC)
    SourceDay.objects.create(source=Source.objects.latest("pk"), day=now.date(), posts=1)
    given = {"queue": f"queue{number}", "due": 1, "oldest_due_seconds": 1, "in_flight": 1}
    QueueMinute.objects.create(minute=now, **given)
    NotedTask.objects.create(name="a", took=timedelta(1), failed=True, host="h", pid=1)
    subscriber(f"s{number}", [f"topic_{chr(97 + number)}", "tweets"])
    fanned_out(number, topic=f"topic_{chr(97 + number)}")
    deliver(take(), delivered=number % 2 == 0)


PAGES = (
    "/", "/?part=now", "/?part=ahead", "/fastest/", "/tweets/", "/tweets/?sort=likes",
    "/tweets/?sort=velocity-likes-60", "/tweets/?author=ada&min_likes=1", "/authors/7/",
    "/sets/all/all/", "/sets/author/7/?period=30d", "/sets/language/en/",
    "/compare/sets/?set=author/7&set=all/all",
    "/leaderboards/", "/leaderboards/?of=tag&period=30d",
    "/sources/", "/sources/?part=list", "/operations/", "/operations/?part=figures",
    "/operations/?part=over-time", "/operations/?part=database",
    "/subscribers/", "/following/", "/following/?who=all", "/following/?who=sources",
    "/columns/", "/feeds/", "/live/", "/search/?q=a", "/metrics", "status",
    "/admin/trackers/source/",
    "/admin/trackers/credential/", "/admin/trackers/project/", "/admin/trackers/queue/",
    "/admin/trackers/follower/", "/admin/trackers/loggedattempt/",
)  # fmt: skip


def test_pages_take_as_many_queries_for_many_rows_as_for_two(read):
    def statements():
        counts = {}
        # Who watches is recorded at most once a minute: by the first of two readings in a row.
        for what in PAGES:
            read(what)
            with CaptureQueriesContext(connection) as queries:
                read(what)
            counts[what] = len(queries)
        return counts

    # Whoever watches has what happens from then on.
    statements()
    for number in range(2):
        fill(number)
    few = statements()
    for number in range(2, 6):
        fill(number)

    assert statements() == few
