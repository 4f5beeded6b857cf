"""`bus_token` and `subscriber`: for people at a terminal, and for scripts with --json."""

import logging
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.bus.commands import manage, printed_rows
from trackers.bus import acts, tokens
from trackers.bus.auth import Caller
from trackers.bus.bodies import SubscriptionIn
from trackers.events.delivery.claim import claim_batches, promote
from trackers.events.delivery.settle import Outcome, settle_deliveries
from trackers.events.fan_out import fan_out_all
from trackers.events.models import EventBatch, Subscriber, SubscriberState
from trackers.events.subscribers import signing_keys
from trackers.events.subscribers.status import current_statuses
from trackers.history import by_bus
from trackers.ingest.sources.models import Source
from trackers.outbox.models import Topic
from trackers.outbox.publish import NewEvent, publish_events

CALLBACK = "https://receiver.example/events"


def add(name="shop", *more, topic="orders"):
    [shown] = printed_rows(
        "subscriber", "add", name, "--callback", CALLBACK, "--topic", topic, *more
    )
    return shown["signing_secret"]


def test_a_subscriber_is_added_as_given_and_its_key_is_shown_once():
    more = ("--topic", "tweets", "--max", 7, "--timeout", 0, "--ordered", "--concurrency", 2)
    key = add("shop", *more, "--format", "cloudevents")

    assert key.startswith("whsec_")
    assert len(signing_keys.base64.b64decode(key.removeprefix("whsec_"))) == 32
    [row] = printed_rows("subscriber", "list")
    assert row == {
        "name": "shop",
        "callback": CALLBACK,
        "topics": ["orders", "tweets"],
        "max_events": 7,
        "timeout_ms": 0,
        "ordered": True,
        "concurrency": 2,
        "rate": None,
        "format": "cloudevents",
        "with_data": False,
        "each_change": False,
        "authors": [],
        "sources": [],
        "at_least": None,
        "headers": [],
        "state": "ready",
        "reason": "",
        "next_at": None,
        "health": 100,
        "added": 0,
        "delivered": 0,
        "dropped": 0,
        "queued": 0,
        "batches": 0,
        "oldest": None,
    }
    assert key not in "".join(manage("subscriber", "list"))
    assert Topic.objects.get(name="tweets").wanted


def test_topics_filters_and_format_can_be_chosen():
    source = Source.objects.create(kind="account", of="nasa").pk
    add("shop", "--uuid", "me", "--with-data", "--each-change", "--author", 2**60, "--author", 7,
        "--source", source, "--at-least", "likes=1000")  # fmt: skip

    [row] = printed_rows("subscriber", "list")
    assert {name: row[name] for name in ("with_data", "each_change")} == {
        "with_data": True, "each_change": True
    }  # fmt: skip
    assert (row["authors"], row["sources"]) == ([str(2**60), "7"], [str(source)])
    assert row["at_least"] == "likes=1000"
    assert Subscriber.objects.get().secrets["uuid"] == "me"
    for bad in ("fame=3", "likes", "likes=-1", "likes=many"):
        with pytest.raises(CommandError, match="is not like likes=1000"):
            add("other", "--at-least", bad)
    with pytest.raises(CommandError, match="without a colon"):
        add("other", "--uuid", "a:b")
    with pytest.raises(CommandError, match="less than or equal to"):
        add("other", "--author", 2**70)


def test_waiting_events_are_listed_and_dropped_with_the_subscriber():
    add()
    publish_events([NewEvent("orders", "create", url="https://shop.example/1")] * 2)

    line, _ = manage("subscriber", "list")
    assert "0 delivered, 2 queued, 0 dropped" in line
    assert printed_rows("subscriber", "remove", "shop") == [{"removed": "shop", "dropped": 2}]
    assert printed_rows("subscriber", "list") == []
    # The name is free again.
    add()
    assert [one["added"] for one in printed_rows("subscriber", "list")] == [0]


def test_paused_and_disabled_subscribers_are_resumed():
    add()
    manage("subscriber", "pause", "shop")
    assert [one["state"] for one in printed_rows("subscriber", "list")] == ["paused"]
    manage("subscriber", "resume", "shop")
    SubscriberState.objects.update(disabled_at="2026-11-01T00:00Z", disabled_reason="410", health=0)
    assert [one["state"] for one in printed_rows("subscriber", "list")] == ["disabled"]

    manage("subscriber", "resume", "shop")

    [row] = printed_rows("subscriber", "list")
    assert (row["state"], row["reason"], row["health"]) == ("ready", "", 100)


def test_a_new_key_signs_beside_the_old_one_until_that_is_revoked():
    first = add()

    def keys():
        return Subscriber.objects.get(name="shop").secrets["signing"]

    second, third = (
        printed_rows("subscriber", "rotate-secret", "shop")[0]["signing_secret"] for _ in range(2)
    )
    assert keys() == [third, second]
    assert first not in keys()
    manage("subscriber", "rotate-secret", "shop", "--end-overlap")
    assert keys() == [third]


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("Shop", ("--callback", CALLBACK, "--topic", "a"), "A name has"),
        ("shop", ("--callback", "http://a.example/", "--topic", "a"), "https://"),
        ("shop", ("--callback", CALLBACK, "--topic", "a1"), "name of a topic"),
        ("shop", ("--callback", CALLBACK, "--topic", "a", "--max", "0"), "greater than"),
        ("shop", ("--callback", CALLBACK, "--topic", "a", "--timeout", "-1"), "greater than"),
        ("shop", ("--callback", CALLBACK, "--topic", "a", "--concurrency", "101"), "less than"),
        ("shop", ("--callback", CALLBACK, "--topic", "a", "--rate", "0"), "rate: .* greater than"),
        ("shop", ("--callback", CALLBACK, "--topic", "a", "--source", "99"), "no source 99"),
        ("known", ("--callback", CALLBACK, "--topic", "a"), "already a subscriber"),
    ],
)
def test_an_invalid_subscriber_is_refused_and_not_stored(name, values, says):
    add("known")

    with pytest.raises(CommandError, match=says) as refused:
        manage("subscriber", "add", name, *values)

    assert refused.value.returncode == 2
    assert Subscriber.objects.count() == 1
    assert not Topic.objects.filter(name="a").exists()


def test_a_change_leaves_other_settings_alone():
    key = add("shop", "--header", "X-Room: 7", "--header", "Authorization: Bearer abc", "--ordered")

    manage("subscriber", "change", "shop", "--no-ordered", "--rate", 50, "--each-change")
    manage("subscriber", "change", "shop", "--header", "x-room: 8", "--without-header", "Gone")

    # A source that was removed since.
    Subscriber.objects.update(sources=[77])
    manage("subscriber", "change", "shop", "--source", 77, "--max", 9)

    [row] = printed_rows("subscriber", "list")
    assert (row["ordered"], row["rate"], row["each_change"]) == (False, 50, True)
    assert (row["sources"], row["max_events"]) == (["77"], 9)
    assert (row["topics"], row["headers"]) == (["orders"], ["Authorization", "x-room"])
    secrets = Subscriber.objects.get().secrets
    assert secrets["headers"] == {"Authorization": "Bearer abc", "x-room": "8"}
    assert secrets["signing"] == [key]
    manage("subscriber", "change", "shop", "--without-header", "AUTHORIZATION", "--topic", "tweets")
    assert printed_rows("subscriber", "list")[0]["headers"] == ["x-room"]
    assert not Topic.objects.get(name="orders").wanted
    for values, says in (
        (("--uuid", "me", "--header", "Authorization: x"), "not both"),
        (("--header", "A: 1", "--without-header", "a"), "given twice"),
        (("--callback", "https://a.example/?q"), "query string"),
        (("--author", 2**70), "authors: "),
        (("--header", "secret"), "Name: value"),
        (("--header", "Host: a"), "cannot be set: tweetwatch"),
    ):
        with pytest.raises(CommandError, match=says):
            manage("subscriber", "change", "shop", *values)
    assert Subscriber.objects.get().callback == CALLBACK


def test_a_removed_subscriber_frees_its_name_while_a_batch_is_being_sent():
    add()
    publish_events([NewEvent("orders", "create", url="https://shop.example/1")])
    with transaction.atomic():
        fan_out_all()
    subscriber = Subscriber.objects.get(name="shop")
    subscriber.batches.update(state="pending", lease=1, is_current=False)

    manage("subscriber", "remove", "shop")
    add()

    assert [one["queued"] for one in printed_rows("subscriber", "list")] == [0]
    assert subscriber.batches.count() == 1


def test_listing_many_subscribers_takes_as_many_queries_as_one():
    add("one")
    with CaptureQueriesContext(connection) as few:
        assert len(current_statuses(now=timezone.now())) == 1
    for name in ("two", "three"):
        add(name, "--topic", "tweets")
    with CaptureQueriesContext(connection) as many:
        assert [one.topics for one in current_statuses(now=timezone.now())] == [
            ["orders"],
            *[["orders", "tweets"]] * 2,
        ]

    assert len(many) == len(few)


def test_a_token_in_a_path_is_not_logged(caplog):
    logging.getLogger("django.request").warning("Not Found: %s", "/api_tokens/shop--1234")

    assert "/api_tokens/…" in caplog.text
    assert "1234" not in caplog.text


def test_test_events_replays_and_redeliveries_are_sent():
    add()
    began = timezone.now() - timedelta(minutes=5)
    publish_events([NewEvent("orders", "create", url="https://shop.example/1")])
    [only] = taken()
    settle_deliveries([Outcome(only, True, timedelta(0), status=204)], most=timedelta(minutes=1))

    [attempt] = printed_rows("subscriber", "attempts", "shop")
    assert (attempt["outcome"], attempt["status"], attempt["batch"]) == (
        "delivered", 204, str(only.uid)
    )  # fmt: skip
    since = ("--since", began.isoformat())
    assert printed_rows("subscriber", "replay", "shop", *since, "--dry-run") == [
        {"name": "shop", "events": 1, "dry_run": True}
    ]
    assert taken() == []
    manage("subscriber", "replay", "shop", *since)
    manage("subscriber", "redeliver", "shop", str(only.uid))
    manage("subscriber", "test", "shop")

    again = {one.kind: one for one in taken()}
    assert again["events"].events == again["redelivery"].events == only.events
    assert again["events"].uid != again["redelivery"].uid == only.uid
    assert len(again["test"].events) == 1
    settle_deliveries(
        [Outcome(again["redelivery"], False, timedelta(0), status=500)], most=timedelta(minutes=1)
    )
    marked, first = reversed(printed_rows("subscriber", "attempts", "shop"))
    assert (first["kind"], marked["kind"], marked["batch"]) == (
        "events", "redelivery", first["batch"]
    )  # fmt: skip


def test_a_refused_batch_is_set_aside_shown_sent_again_and_dropped():
    add()
    publish_events([NewEvent("orders", "create", url="https://shop.example/1")])
    [taken_batch] = taken()
    refused = Outcome(taken_batch, False, timedelta(0), status=422, answer="What is it?")
    settle_deliveries([refused], most=timedelta(minutes=1))
    batch = "shop", str(taken_batch.uid)

    manage("subscriber", "set-aside", *batch)
    [row] = printed_rows("subscriber", "batches", "shop")
    assert (row["state"], row["response"]) == ("set aside", "What is it?")
    assert taken() == []
    manage("subscriber", "send-again", *batch)
    [again] = taken()
    assert again.uid == taken_batch.uid
    settle_deliveries([replace(refused, batch=again)], most=timedelta(minutes=1))
    manage("subscriber", "set-aside", *batch)
    manage("subscriber", "drop-batch", *batch)

    assert printed_rows("subscriber", "batches", "shop") == []
    with pytest.raises(CommandError, match="is set aside"):
        manage("subscriber", "drop-batch", *batch)


def test_a_batch_that_cannot_be_redelivered_is_refused():
    add()
    for values, says in (
        (("replay", "shop", "--since", "yesterday"), "is not a time"),
        (("replay", "shop", "--since", "2999-01-01"), "must be before"),
        (("redeliver", "shop", str(uuid4())), "no attempt to deliver"),
        (("test", "nobody"), "no subscriber called nobody"),
    ):
        with pytest.raises(CommandError, match=says):
            manage("subscriber", *values)


def taken():
    """What would be sent now."""
    with transaction.atomic():
        fan_out_all()
    Subscriber.objects.update(timeout_ms=0)
    EventBatch.objects.filter(state="early").update(deadline=timezone.now() - timedelta(hours=1))
    promote()
    return claim_batches(10, timedelta(minutes=1))


def test_acts_of_clients_are_recorded_under_their_tokens():
    token, _ = tokens.make_token("shop")
    shop, client, root = Caller("shop", token.pk, False), by_bus("shop"), by_bus("root")

    for topics in (["orders"], [], ["orders", "returns"]):
        acts.subscribe(shop, SubscriptionIn(topics=topics, callback=CALLBACK), client)
        assert [row.topics for row in current_statuses(now=timezone.now())] == [topics]
    acts.unsubscribe(shop, "orders", client)
    acts.delete_topic("returns", Caller("root", 0, True), root)
    acts.remove_tokens([token], root)

    assert not Subscriber.objects.filter(removed_at=None).exists()
    lines = LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")
    by = ", by the bus, with the token"
    assert list(lines) == [
        ("shop", f"Added{by} shop."),
        ("shop", f"Changed{by} shop."),
        ("shop", f"Changed{by} shop."),
        ("shop", f"Left the topic orders{by} shop."),
        ("returns", f"Deleted{by} root."),
        ("shop", f"Removed; events dropped: 0{by} root."),
        ("shop", f"Removed{by} root."),
    ]
