"""Grafana's dashboard, the alert rules and docs: each metric and label they name is in /metrics."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
import yaml
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.conftest import PROJECT
from tests.factories import CredentialFactory
from trackers.credentials.models import Window
from trackers.forecasts.models import ForecastDay
from trackers.ingest.sources.models import Source
from trackers.ingest.stream.models import Stream
from trackers.jobs.observed.models import QueueCounters, Worker
from trackers.schedule.models import Interval, Stretch

DEPLOY = PROJECT / "deploy"
NAME = re.compile(r"\btweetwatch_[a-z0-9_]+")
SELECTED = re.compile(r"\b(tweetwatch_[a-z0-9_]+)(?:{([^}]*)})?")
KEY = "a-key-for-the-tests"


def targets():
    """What the dashboard draws: expressions, each with the legend of its lines."""
    found = json.loads((DEPLOY / "grafana" / "tweetwatch.json").read_text())
    return [
        (target["expr"], target["legendFormat"])
        for panel in found["panels"]
        for target in panel["targets"]
    ]


def rules():
    found = yaml.safe_load((DEPLOY / "prometheus" / "tweetwatch.rules.yml").read_text())
    return [rule for group in found["groups"] for rule in group["rules"]]


@pytest.fixture
def scraped(client, db, settings):
    """The labels of each sample while there is something of everything, by metric."""
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
    labels = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels.setdefault(sample.name, []).append(sample.labels)
    return labels


def test_each_metric_named_in_the_files_exists(scraped):
    expressions = [*(expr for expr, _ in targets()), *(rule["expr"] for rule in rules())]
    named = {name for expr in expressions for name in NAME.findall(expr)}
    assert len(named) > 15
    assert named - set(scraped) == set()


def test_each_label_named_in_the_files_exists(scraped):
    """In selectors, with its value; in `by (…)`, in the legends of lines, and in annotations."""
    named = [(expr, re.findall(r"{{(\w+)}}", legend)) for expr, legend in targets()]
    for rule in rules():
        texts = " ".join(rule["annotations"].values())
        named.append((rule["expr"], re.findall(r"\$labels\.(\w+)", texts)))
    assert sum(len(labels) for _, labels in named) > 10
    for expr, labels in named:
        for name, selector in SELECTED.findall(expr):
            wanted = dict(re.findall(r'(\w+)="([^"]*)"', selector))
            assert any(wanted.items() <= sample.items() for sample in scraped[name]), expr
            for label in [*labels, *re.findall(r"by \((\w+)\)", expr)]:
                assert all(label in sample for sample in scraped[name]), (expr, label)


def test_each_metric_named_in_the_docs_exists(scraped):
    texts = [path.read_text() for path in (PROJECT / "docs").glob("*.md")]
    quoted = [words for text in texts for words in re.findall(r"`[^`\n]+`", text)]
    named = {name for words in quoted for name in NAME.findall(words)}
    assert len(named) > 8
    assert named - set(scraped) == set()


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
