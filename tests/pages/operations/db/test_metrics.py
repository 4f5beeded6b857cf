"""What Prometheus reads: every figure from the rows, for who brings the key."""

from datetime import timedelta

import pytest
from django.utils.timezone import now
from prometheus_client.parser import text_string_to_metric_families

from tests.factories import CredentialFactory, TweetUpdateFactory
from tests.timelines.homes.world import bring, follower, source, tweet
from trackers.arrivals.models import Arrival
from trackers.credentials.models import Window
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.stream.models import Stream
from trackers.jobs.observed.models import Worker
from trackers.jobs.pausing import pause_all
from trackers.money.models import Project
from trackers.timelines import homes
from trackers.timelines.models import HomeReads
from tweetwatch import VERSION

KEY = "a-key-of-twenty-letters"


@pytest.mark.parametrize(
    ("host", "address", "status"),
    [
        ("localhost:8000", "127.0.0.1", 200),
        ("[::1]:8000", "::1", 200),
        ("watch.example", "127.0.0.1", 301),
        ("localhost", "192.0.2.7", 301),
    ],
)
def test_scraping_without_https_is_local_only(client, settings, host, address, status):
    settings.METRICS_KEY, settings.ALLOWED_HOSTS = KEY, ["watch.example", "localhost", "[::1]"]
    settings.SECURE_SSL_REDIRECT = True

    headers = {"Host": host, "Authorization": f"Bearer {KEY}"}
    answer = client.get("/metrics", headers=headers, REMOTE_ADDR=address)

    assert answer.status_code == status
    if status == 301:
        assert answer["Location"] == f"https://{host}/metrics"
        assert client.get("/", headers=headers).status_code == 301


@pytest.fixture
def scraped(client, settings):
    settings.METRICS_KEY = KEY

    def scrape():
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {KEY}"})
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith("text/plain")
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.content.decode())
            for sample in family.samples
        }

    return scrape


@pytest.mark.parametrize(
    "brought",
    [{}, *({"Authorization": text} for text in ("Bearer wrong", KEY[:9], KEY, f"Basic {KEY}"))],
)
def test_metrics_need_the_key(client, settings, brought):
    settings.METRICS_KEY = KEY
    assert client.get("/metrics", headers=brought).status_code == 403


def test_metrics_are_closed_while_no_key_is_set(client, settings):
    settings.METRICS_KEY = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403


def test_an_empty_installation_has_metrics(scraped):
    metrics = scraped()

    assert metrics["tweetwatch_build_info", VERSION] == 1
    assert metrics["tweetwatch_due", "tweet:update"] == 0
    assert metrics["tweetwatch_due", "source:poll"] == 0
    assert not [name for name, *_ in metrics if name.startswith("tweetwatch_source")]


def test_a_pause_of_everything_is_a_metric(scraped):
    assert scraped()["tweetwatch_paused_all",] == 0
    assert ("tweetwatch_paused_all_since_timestamp_seconds",) not in scraped()

    row = pause_all(by="ada")

    told = scraped()
    assert told["tweetwatch_paused_all",] == 1
    since = told["tweetwatch_paused_all_since_timestamp_seconds",]
    assert since == pytest.approx(row.since.timestamp())


def test_queues_credentials_money_and_workers_are_metrics(scraped):
    TweetUpdateFactory(key=1, due_at=now() - timedelta(seconds=90))
    TweetUpdateFactory(key=2, due_at=now() + timedelta(hours=1))
    credential = CredentialFactory(name="one")
    Project.objects.update(posts_a_day=1000)
    resets = now() + timedelta(minutes=5)
    Window.objects.create(
        app=credential.app, endpoint="GET /2/tweets", limit=300, remaining=42, resets_at=resets,
        seen_at=now(), learned_at=now(),
    )  # fmt: skip
    Worker.objects.create(
        cluster="00000000-0000-0000-0000-000000000001", host="h", pid=7, kind="worker",
        started_at=now(), seen_at=now(),
    )  # fmt: skip

    metrics = scraped()

    assert metrics["tweetwatch_due", "tweet:update"] == 1
    assert metrics["tweetwatch_oldest_due_seconds", "tweet:update"] == pytest.approx(90, abs=5)
    assert metrics["tweetwatch_credential_ready", "one"] == 1
    assert metrics["tweetwatch_credential_remaining", "one", "GET /2/tweets"] == 42
    reset = metrics["tweetwatch_credential_reset_timestamp_seconds", "one", "GET /2/tweets"]
    assert reset == pytest.approx(resets.timestamp())
    assert metrics["tweetwatch_tweet_days_left", credential.app.project.name] == 1000
    assert metrics["tweetwatch_worker_seen_timestamp_seconds", "h", "worker", "7"] > 0


def test_delivery_lag_and_sizes_of_homes_are_metrics(scraped):
    came_from, home = source(), follower()
    homes.follow(home, source_id=came_from)
    homes.strategies()["sized"].rebuild(home)
    HomeReads.objects.create(day=now().date(), served_by="buckets", pages=3)
    bring(came_from, tweet(1))
    Arrival.objects.update(came_at=now() - timedelta(seconds=90))

    metrics = scraped()

    assert metrics["tweetwatch_delivery_lag_seconds",] == pytest.approx(90, abs=30)
    assert metrics["tweetwatch_deliveries_behind",] == 1
    assert metrics["tweetwatch_timeline_rows", "followers"] == 1
    assert metrics["tweetwatch_timeline_bytes", "buckets"] > 0
    assert metrics["tweetwatch_homes", "built", "sized"] == 1
    assert metrics["tweetwatch_home_pages", "buckets"] == 3


def test_imports_are_left_out_of_the_metrics(scraped):
    Source.objects.create(kind="import", of="ids.txt", yielded=70)

    assert not [name for name, *_ in scraped() if name.startswith("tweetwatch_source_")]


def test_leaks_and_gaps_of_each_source_are_metrics(scraped):
    source = Source.objects.create(kind="account", of="nasa", yielded=70, again=5, leaked=3)
    source.gaps.create(from_id=1, to_id=9, why=Gap.Why.BUDGET, found_at=now())
    source.gaps.create(from_id=None, to_id=9, why=Gap.Why.REACH, found_at=now())
    Stream.objects.create(state="open", lines=12, garbled=2)

    metrics = scraped()

    # Labels come in the order of their names.
    name = ("@nasa's posts", str(source.pk))
    assert metrics["tweetwatch_source_leaks_total", *name] == 3
    assert metrics["tweetwatch_source_posts_total", *name] == 70
    assert metrics["tweetwatch_source_gaps", *name, "open"] == 1
    assert metrics["tweetwatch_source_gaps", *name, "lost"] == 1
    assert metrics["tweetwatch_stream_open",] == 1
    assert metrics["tweetwatch_stream_lines_total",] == 12
