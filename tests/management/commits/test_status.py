import io
import json
import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils.timezone import now

from tests import queues
from tests.conftest import PROJECT
from tests.events.conftest import subscriber
from tests.factories import AppFactory, CredentialFactory, TweetUpdateFactory
from trackers.credentials.models import Window
from trackers.ingest.sources.models import Gap, Source, SourcePoll
from trackers.ingest.stream.models import Stream
from trackers.jobs import counters
from trackers.jobs.observed.models import QueueCounters, Worker
from trackers.jobs.pausing import pause_all
from trackers.jobs.statistics import queue_summary
from trackers.management.status_lines import length_text
from trackers.money.models import Project, Spending
from trackers.status import Status
from tweetwatch import VERSION

pytestmark = pytest.mark.django_db(transaction=True)


def status(*flags):
    out = io.StringIO()
    call_command("status", *flags, stdout=out)
    return json.loads(out.getvalue()) if flags else out.getvalue()


def spend(project, **given):
    return Spending.objects.create(project=project, **{"day": now().date(), **given})


def test_tweet_days_of_a_credential_are_those_of_its_project():
    app = AppFactory(name="app")
    CredentialFactory(name="one", app=app)
    CredentialFactory(name="two", app=app)
    CredentialFactory(name="other")
    spend(app.project, posts=40, posts_reserved=2)

    told = {one["name"]: one for one in status("--json")["credentials"]}

    assert [told[name]["tweet_days_today"] for name in ("one", "two", "other")] == [42, 42, 0]
    assert told["one"]["tweet_days_month"] == 42


def test_a_project_is_shown_with_its_money():
    until = now().replace(microsecond=0) + timedelta(hours=1)
    app = AppFactory(name="acme")
    CredentialFactory(app=app)
    Project.objects.update(
        posts_a_day=100, needs=80, waiting=22, runs_dry_at=until,
        usage_of_month=50, ours_of_month=40,
    )  # fmt: skip
    spend(app.project, posts=40, posts_reserved=2, money=Decimal("0.2"))

    [project] = status("--json")["projects"]

    iso = until.isoformat().replace("+00:00", "Z")
    assert project == {
        "name": "acme", "day": now().date().isoformat(),
        "tweet_days_today": 42, "tweet_days_month": 42,
        "money_today": 0.21, "money_month": 0.21,
        "tweet_days_left_today": 58, "tweets_waiting": 22, "runs_dry_at": iso,
        "depleted_until": None, "depleted_reason": "", "drift": 10,
    }  # fmt: skip

    # Once it can pay for nothing, no tweet waits for its money.
    Project.objects.update(depleted_until=until, depleted_reason="402")
    [project] = status("--json")["projects"]
    assert (project["depleted_until"], project["depleted_reason"]) == (iso, "402")
    assert (project["tweets_waiting"], project["runs_dry_at"]) == (0, None)


def test_without_a_budget_no_remainder_is_shown():
    AppFactory(name="acme")

    [told] = status("--json")["projects"]

    assert (told["tweet_days_left_today"], told["tweets_waiting"], told["runs_dry_at"]) == (
        None,
        0,
        None,
    )


def test_the_catch_up_time_is_shown_in_seconds_while_overdue():
    assert status("--json")["catch_up_seconds"] is None

    TweetUpdateFactory.create_batch(50, due_at=now() - timedelta(minutes=1))
    assert status("--json")["catch_up_seconds"] is None  # There is no credential.

    Window.objects.create(
        app=CredentialFactory().app, endpoint="GET /2/tweets", limit=9, remaining=9,
        resets_at=now(), seen_at=now(), learned_at=now(),
    )  # fmt: skip
    assert status("--json")["catch_up_seconds"] is None  # There is no worker.

    Worker.objects.create(
        cluster=uuid4(), host="h", pid=4, kind="main", started_at=now(), seen_at=now()
    )
    assert status("--json")["catch_up_seconds"] == 50


def iso(at):
    return at.isoformat().replace("+00:00", "Z")


def test_a_source_is_shown_with_its_leaks_and_gaps():
    at = now()
    made = Source.objects.create(
        kind="account", of="nasa", polled_at=at, yielded=1000, again=40, leaked=3
    )
    queues.put(SourcePoll, made.pk, at + timedelta(minutes=5))
    for why, closed_at in (("budget", None), ("quota", None), ("reach", None), ("budget", at)):
        Gap.objects.create(
            source=made, from_id=1, to_id=2, why=why, found_at=at, closed_at=closed_at
        )

    [told] = status("--json")["sources"]

    assert told == {
        "id": str(made.pk), "kind": "account", "of": "nasa", "state": "polled",
        "polled_at": iso(at), "next_poll_at": iso(at + timedelta(minutes=5)),
        "posts": 1000, "repeats": 40, "leaks": 3, "gaps_open": 2, "gaps_lost": 1,
    }  # fmt: skip
    assert "1,000 posts, 3 leaked, 2 gaps to fill, 1 gap lost" in status()


def test_a_paused_source_has_no_next_poll():
    made = Source.objects.create(kind="search", of="a", paused_at=now())
    queues.put(SourcePoll, made.pk, now())

    [told] = status("--json")["sources"]

    assert (told["state"], told["next_poll_at"]) == ("paused", None)


def test_the_stream_is_shown_once_it_has_run():
    assert status("--json")["stream"] is None

    at = now()
    Stream.objects.create(
        state="waiting", because="X answered 503.", heard_at=at, lines=9, duplicates=2, garbled=1,
        connects=4, rules_of_others=3,
    )  # fmt: skip

    assert status("--json")["stream"] == {
        "state": "waiting", "reason": "X answered 503.", "heard_at": iso(at), "lines": 9,
        "duplicates": 2, "garbled": 1, "connects": 4, "rules_of_others": 3,
    }  # fmt: skip
    assert "Stream       waiting, X answered 503, last heard " in status()


def test_the_text_for_people_is_readable_lines():
    CredentialFactory(name="main", app=AppFactory(name="acme"))
    Source.objects.create(kind="account", of="nasa", yielded=12345, leaked=3)
    subscriber("shop", ["news"])
    TweetUpdateFactory.create_batch(3, due_at=now() - timedelta(hours=3))

    report = status()

    lines = report.splitlines()
    assert lines[0].startswith("Tweets       0 tracked")
    assert lines[1].startswith("Look-ups     3 due, the oldest for 3 h")
    assert f"Version      {VERSION}" in lines
    assert "Late by      nothing was looked up in the last five minutes" in lines
    assert "  acme  today 0 tweet-days ($0.00), this month 0 ($0.00)" in lines
    assert "  main  ready" in lines
    assert "Workers      none: start `manage.py qcluster`" in lines
    assert any(line.endswith("account nasa  idle, 12,345 posts, 3 leaked") for line in lines)
    assert any(line.startswith("  shop  ") for line in lines)
    assert not any(word in report for word in ("None", "unknown", "_", "{", "["))


def test_requests_are_shown_with_their_ids():
    late = [0] * (len(QueueCounters.LATENESS) + 1)
    late[2] = 190
    for _ in range(2):
        counters.count_batch("tweet:update", counters.BatchDone(asked=95, measured=95, late=late))
    queue_summary("tweet:update")

    [line] = [line for line in status().splitlines() if line.startswith("Late by")]

    within = length_text(QueueCounters.LATENESS[2])
    assert line == f"Late by      half within {within}, 99% within {within}, 95 ids a request"


def test_a_pause_of_everything_is_shown_first():
    assert status("--json")["paused"] is None

    row = pause_all(by="ada", because="the bill")

    assert status("--json")["paused"] == {
        "since": iso(row.since), "by": "ada", "reason": "the bill",
    }  # fmt: skip
    first = status().splitlines()[0]
    assert first.startswith(f"PAUSED       everything, since {row.since:%Y-%m-%d %H:%M:%S} UTC")
    assert first.endswith("by ada, the bill")


def test_one_part_of_the_status_is_read_alone(django_assert_num_queries):
    one = Status()

    with django_assert_num_queries(1):
        assert one.workers == one.workers == []


def names_in(figures):
    """All names of an object, and of those in it."""
    if isinstance(figures, list):
        return set().union(*map(names_in, figures))
    if isinstance(figures, dict):
        return set(figures).union(*map(names_in, figures.values()))
    return set()


def test_the_document_names_what_is_in_the_json_and_nothing_else():
    credential = CredentialFactory()
    Window.objects.create(
        app=credential.app, endpoint="GET /2/tweets", limit=9, remaining=1, resets_at=now()
    )
    Worker.objects.create(
        cluster=uuid4(), host="h", pid=1, kind="worker", started_at=now(), seen_at=now()
    )
    Source.objects.create(kind="account", of="nasa")
    Stream.objects.create()
    subscriber("shop", ["news"])
    pause_all(by="ada", because="the bill")
    document = (PROJECT / "docs" / "commands.md").read_text()

    names = names_in(status("--json"))
    undocumented = {name for name in names if name not in document}
    assert undocumented == set()
    [table] = re.findall(r"^\| list \| a row has \|$(.*?)\n\n", document, re.DOTALL | re.MULTILINE)
    lists = re.findall(r"`([a-z_]+(?:\[\])?(?:, [a-z_]+(?:\[\])?)+)`", table)
    documented = {name.removesuffix("[]") for words in lists for name in words.split(", ")}
    assert len(documented) > 60
    assert documented - names == set()
