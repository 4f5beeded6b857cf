"""A million events may wait: what a turn of a deliverer reads does not grow with them."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.events.conftest import A_MINUTE, deliver, news, subscriber
from tests.factories import TweetFactory, figures
from tests.plans import watched
from trackers.events.books import read_books
from trackers.events.delivery.claim import claim_batches, give_back, promote
from trackers.events.delivery.settle import recover
from trackers.events.drop import drop_some, used_bytes
from trackers.events.fan_out import fan_out
from trackers.events.models import EventBatch, SubscriberState
from trackers.events.set_aside import refusal_findings
from trackers.outbox.models import Event
from trackers.tweets.models import Author
from trackers.tweets.record import Measured, record
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

SUBSCRIBERS, BATCHES, EVENTS = 100, 100, 100
QUIET = "trackers_eventbatch", "trackers_subscriberstate"

# A million in all wait for their first attempt, or for another one with every second subscriber; as
# many are not due, are set aside, and were divided, as their single events were refused.
FILL = f"""
    INSERT INTO trackers_eventbatch (uid, subscriber_id, state, is_current, place, events, keys,
                                     bytes, first_at, last_at, deadline, last_error,
                                     attempts, refusals, refused_at, refusal)
    SELECT gen_random_uuid(), s.id,
           CASE kind WHEN 1 THEN 'early' WHEN 2 THEN 'aside' ELSE 'ready' END, false,
           CASE kind WHEN 2 THEN -n WHEN 3 THEN (n - {3 * BATCHES} + 1) / 2 ELSE n END,
           array_fill(n::bigint, ARRAY[size]), array_fill(0::bigint, ARRAY[size]),
           20000, now(), now(), now() + interval '1 h', '',
           CASE WHEN tried THEN 8 ELSE 0 END,
           CASE WHEN tried THEN 7 ELSE 0 END,
           CASE WHEN tried THEN now() - interval '1 h' END, CASE WHEN tried THEN 'What?' ELSE '' END
    FROM trackers_subscriber s, generate_series(1, {4 * BATCHES}) n
    CROSS JOIN LATERAL (SELECT (n - 1) / {BATCHES} AS kind) k
    CROSS JOIN LATERAL (SELECT kind > 1 OR kind = 0 AND s.id % 2 = 0 AS tried,
                              CASE kind WHEN 3 THEN 1 ELSE {EVENTS} END AS size) t
"""


def run(statement):
    with cursor() as db:
        db.execute(statement, prepare=False)


def timed(act):
    began = time.monotonic()
    return act(), 1000 * (time.monotonic() - began)


# Never filled; filled and emptied, so that the planner sees pages and takes them for empty.
STATISTICS = {
    "of an empty table": ("ANALYZE trackers_eventbatch", FILL),
    "of an emptied table": (
        FILL, "DELETE FROM trackers_eventbatch", "ANALYZE trackers_eventbatch", FILL
    ),
    "fresh": (FILL, "ANALYZE trackers_eventbatch"),
}  # fmt: skip


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_reads_a_bounded_part_of_the_waiting_batches(monkeypatch, capsys, statistics):
    run("ALTER TABLE trackers_eventbatch SET (autovacuum_enabled = off)")
    for number in range(SUBSCRIBERS):
        subscriber(f"s{number}", timeout_ms=3_600_000, ordered=number % 4 == 0)
    # So a refusal is about the content.
    SubscriberState.objects.update(delivered_at=timezone.now())
    for statement in STATISTICS[statistics]:
        run(statement)
    aside = EventBatch.objects.filter(state="aside", refusals=8)
    divided = EventBatch.objects.filter(attempts=1, refusals=1)
    assert not aside.exists()
    assert not divided.exists()
    news(*range(10))
    turn = {
        "spread": fan_out,
        "promote": promote,
        "claim": lambda: claim_batches(50, A_MINUTE),
        "settle": lambda: deliver(claim_batches(20, A_MINUTE)),
        "refuse": lambda: deliver(claim_batches(20, A_MINUTE), delivered=False, status=422),
        "recover": recover,
        "drop": lambda: drop_some(10**9),
        "books": read_books,
        "findings": lambda: list(refusal_findings()),
        "used": used_bytes,
        "give back": lambda: give_back(claim_batches(20, A_MINUTE)),
    }

    for name, act in turn.items():
        with watched(monkeypatch) as watch:
            act()
        seen = [one for one in watch.reached if one.table in QUIET]
        rows = max(one.rows for one in seen)
        _, took = timed(act)
        with capsys.disabled():
            print(f"\nstatistics {statistics}, {name}: {rows:,.0f} rows, again in {took:.1f} ms")
        assert rows <= 20 * SUBSCRIBERS, [one for one in seen if one.rows == rows]
    assert len(read_books()) == SUBSCRIBERS
    assert aside.exists()
    assert divided.exists()


OTHERS = 30_000
# They fill the pages that a coarse index by the time takes for one.
FILL_EVENTS = f"""
    INSERT INTO trackers_event (topic_id, type, t, url, received_at)
    SELECT (SELECT min(id) FROM trackers_topic), 'create', n, 'https://there.example/',
           now() - n / 100 * interval '1 ms'
    FROM generate_series(1, {OTHERS}) n
"""


def test_fan_out_reads_its_own_events_and_each_subscriber_once(monkeypatch):
    many, sets, each = 30, 10, 100
    events = sets * each
    run(FILL_EVENTS)
    for number in range(many):
        subscriber(f"s{number}", timeout_ms=3_600_000)
    for _ in range(sets):
        news(*range(each))

    run("VACUUM ANALYZE trackers_event")

    with watched(monkeypatch) as watch:
        assert fan_out() == sets

    read = {
        table: max((one.rows for one in watch.reached if one.table.startswith(table)), default=0)
        for table in ("trackers_event_", "trackers_subscription", "trackers_subscriber")
    }
    most = {
        "trackers_event_": 2 * events,
        "trackers_subscription": 2 * many,
        "trackers_subscriber": 2 * many,
    }
    assert {table: rows for table, rows in read.items() if not 0 < rows <= most[table]} == {}


def test_the_spread_of_updates_reads_each_tweet_once_and_no_other_event(monkeypatch):
    run(FILL_EVENTS)
    tweets = TweetFactory.create_batch(200)
    TweetFactory.create_batch(200)
    tweets[0].author = Author.objects.create(id=5)
    tweets[0].save()
    subscriber("picky", ["tweets"], timeout_ms=3_600_000, authors=[5], newest_only=False)
    for minute in range(3):
        record([Measured(tweet.id, at(minute), figures(minute), None) for tweet in tweets])
    run("VACUUM ANALYZE trackers_event, trackers_tweet")

    with watched(monkeypatch) as watch:
        assert fan_out() == 2

    rows = {"trackers_event_": 0, "trackers_tweet": 0}
    for one in watch.reached:
        for table in rows:
            if one.table.startswith(table) and one.table != "trackers_tweettext":
                rows[table] = max(rows[table], one.rows)
    assert rows == {"trackers_event_": 0, "trackers_tweet": 2 * len(tweets)}
    assert Event.objects.filter(type="update").count() == 2 * len(tweets)
    assert EventBatch.objects.get().events == [
        event.id for event in Event.objects.filter(tweet_id=tweets[0].id).order_by("id")
    ]


def at(minute):
    return timezone.now().replace(second=0, microsecond=0) + timedelta(minutes=minute - 10)
