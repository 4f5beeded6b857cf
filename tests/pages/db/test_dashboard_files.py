"""Grafana's dashboard and the alert rules: each metric that they name is in /metrics."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
import yaml
from django.utils import timezone

from tests.conftest import PROJECT
from tests.factories import CredentialFactory
from trackers.credentials.models import Window
from trackers.forecasts.models import ForecastDay
from trackers.ingest.sources.models import Source, Stream
from trackers.jobs.models import QueueCounters, Worker
from trackers.schedule.models import Interval, Stretch

DEPLOY = PROJECT / "deploy"
NAME = re.compile(r"\btweetwatch_[a-z0-9_]+")
KEY = "a-key-for-the-tests"


def dashboard():
    found = json.loads((DEPLOY / "grafana" / "tweetwatch.json").read_text())
    return [target["expr"] for panel in found["panels"] for target in panel["targets"]]


def rules():
    found = yaml.safe_load((DEPLOY / "prometheus" / "tweetwatch.rules.yml").read_text())
    return [rule for group in found["groups"] for rule in group["rules"]]


@pytest.fixture
def told(client, db, settings):
    """Names of metrics while there is something of everything."""
    settings.METRICS_KEY, settings.SECURE_SSL_REDIRECT = KEY, False
    now = timezone.now()
    credential = CredentialFactory()
    credential.project.posts_a_day = 10
    credential.project.save()
    Window.objects.create(
        app=credential.app, endpoint="GET /2/tweets", limit=9, remaining=1, resets_at=now
    )
    Worker.objects.create(
        cluster=uuid4(), host="h", pid=1, kind="worker", started_at=now, seen_at=now
    )
    Source.objects.create(kind="search", of="moon")
    Stream.objects.create()
    late = [1] + [0] * len(QueueCounters.LATENESS)
    QueueCounters.objects.create(
        queue="tweet:update", minute=now.replace(second=0, microsecond=0),
        pid=1, host="h", batches=1, asked=1, late=late,
    )  # fmt: skip
    ForecastDay.objects.create(day=now.date(), lookups=1, tweet_days=1)
    hour = timedelta(hours=1)
    Interval.objects.filter(younger_than__gt=hour).update(
        accuracy=0.05, at_most=hour, at_least=hour
    )
    Stretch.objects.create(pk=Stretch.ONLY, taken_at=now)
    text = client.get("/metrics", headers={"Authorization": f"Bearer {KEY}"}).content.decode()
    return set(re.findall(r"^(tweetwatch_[a-z0-9_]+)", text, re.MULTILINE))


def test_each_metric_named_in_the_files_exists(told):
    expressions = [*dashboard(), *(rule["expr"] for rule in rules())]
    named = {name for one in expressions for name in NAME.findall(one)}
    assert len(named) > 15
    assert named - told == set()


def test_each_alert_says_what_is_wrong_and_what_to_do_next():
    found = rules()
    assert len({rule["alert"] for rule in found}) == len(found) > 8
    for rule in found:
        assert rule["labels"]["severity"] in ("page", "ticket")
        for name in ("summary", "next"):
            assert rule["annotations"][name].endswith((".", "it."))


def test_the_documented_alerts_equal_the_rules():
    rows = re.findall(
        r"^\| [^|]+ \| ([^|]*`[^|]*tweetwatch_[^|]+) \|",
        (PROJECT / "docs" / "operations.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 6
    for row in rows:
        [metric], [minutes] = NAME.findall(row), re.findall(r"for (\d+) min", row)
        # Of two about one metric, the first is the one that calls somebody.
        rule = next(one for one in rules() if metric in one["expr"])
        assert rule["for"] == f"{minutes}m", row
