"""docs/api.md: each of its examples is asked for, and answered as it says there."""

import json
import re
from dataclasses import asdict
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from tests.conftest import PROJECT
from tests.factories import CredentialFactory
from tests.timelines.homes.world import bring, source, tweet
from trackers.alerts.models import AlertRule
from trackers.api.urls import api
from trackers.channels import acts
from trackers.channels.models import Channel
from trackers.events.delivery.claim import claim_batches, promote
from trackers.events.delivery.settle import Outcome, settle_deliveries
from trackers.events.fan_out import fan_out
from trackers.events.models import EventBatch, Subscriber
from trackers.events.set_aside import put_aside
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.jobs.models import Queue
from trackers.notes.models import Note
from trackers.outbox.publish import NewEvent, publish_events
from trackers.rollups.models import RollupKind
from trackers.saved_views.models import SavedView
from trackers.sets.leaderboards import asked as boards
from trackers.sets.leaderboards.count import SetRow
from trackers.sets.leaderboards.models import Leaderboard
from trackers.sets.leaderboards.update import LIST_HOURS
from trackers.shares.acts import switch_sharing
from trackers.shares.models import Share
from trackers.timelines import homes
from trackers.timelines.followers import own
from trackers.tweets.gains.models import Gain
from trackers.tweets.models import Author, Tweet, TweetText

TEXT = (PROJECT / "docs" / "api.md").read_text()
# Answers that are streams, which `test_event_stream.py` and `test_files.py` ask for.
STREAM = re.compile(r"```http\n(GET) /api/v1/(\S+)\n\n200 text/\S+\n(.*?)```", re.DOTALL)
EXAMPLE = re.compile(r"```http\n(\w+) /api/v1/(\S+)\n(.*?)\n?(\d{3})\n(.*?)```", re.DOTALL)
DOCUMENT = STREAM.sub("", TEXT)
# What no two runs have in common.
VARIES_EVEN_IF_EMPTY = {"lookups", "tweet_days"}
VARIES = {
    *("clock", "followed_at", "next", "source", "at", "oldest", "signing_secret", "since"),
    *("until", "measured_until", "tracked_at", "next_check_at", "measured_since", "seen_at"),
    *(
        "written_at",
        "changed_at",
        "made_at",
        "ends_at",
        "next_poll_at",
        "polled_at",
        "paused_at",
        "oldest_due_seconds",
        "day",
    ),
}


NASA = SetRow(
    key="42", posts=142, posts_before=131, old=121, measured=121,
    totals={"views": 14_900_000, "likes": 310_200, "retweets": 61_400},
    before={"views": 9_870_000, "likes": 201_000, "retweets": 40_100},
    medians={"views": 61_000, "likes": 1300, "retweets": 240}, rate=0.026, scored=118, above=0.169,
    steps={},
)  # fmt: skip


def without_what_varies(answer):
    if isinstance(answer, list):
        return [without_what_varies(one) for one in answer]
    if isinstance(answer, dict):
        varies = VARIES | ({"id", "created_at"} if "kind" in answer else set())
        varies |= {"id", "name"} if "leaked" in answer else set()
        varies |= {"id"} if "mine" in answer else set()
        varies |= {"url"} if "with_notes" in answer else set()
        return {
            key: "…"
            if key in VARIES_EVEN_IF_EMPTY or (key in varies and one)
            else without_what_varies(one)
            for key, one in answer.items()
        }
    return answer


def test_each_documented_example_gets_its_documented_answer(program, monkeypatch):
    came_from, id = source(), tweet(1) + 2
    bring(came_from, tweet(1), id, author=42)
    Author.objects.filter(pk=42).update(username="nasa", name="NASA")
    Tweet.objects.filter(pk=id).update(
        likes=7, retweets=3, created_at="2026-11-02T00:00Z", measured_until=None, measurements=1,
        taken_at=timezone.now(),
        replies=None, quotes=None, bookmarks=None, views=None,
    )  # fmt: skip
    TweetText.objects.filter(tweet=id).update(text="Liftoff")
    homes.follow(own(program.user).pk, source_id=came_from)
    User.objects.filter(pk=program.user.pk).update(email="ada@here.example")
    kinds = ("subscriber", "tweet", "source", "interval", "queue", "credential", "project")
    kinds += ("note", "share", "channel", "alertrule")
    program.user.user_permissions.add(
        Permission.objects.get(codename="use_timeline_store"),
        *Permission.objects.filter(content_type__model__in=kinds),
    )
    switch_sharing(True, on_page(program.user))
    Queue.objects.exclude(name="tweet:update").delete()
    CredentialFactory(name="main")
    Gain.objects.create(
        tweet_id=id, minutes=60, metric="likes", gain=4, velocity=4.0,
        since=timezone.now() - timedelta(hours=1), until=timezone.now(), again_at=timezone.now(),
    )  # fmt: skip

    monkeypatch.setattr(boards, "_FEW_POSTS", -1)
    # Nobody sends in this test.
    monkeypatch.setattr(acts, "ANSWER_WITHIN", timedelta(0))
    Leaderboard.objects.create(
        kind=RollupKind.AUTHOR, hours=LIST_HOURS["7d"], until=timezone.now(), rows=[asdict(NASA)]
    )

    for method, address, body, status, expected in EXAMPLE.findall(DOCUMENT):
        new = Source.objects.filter(kind="account").values_list("pk", flat=True).first()
        number = 11 if not address.startswith("tweets/") else id + (method == "DELETE")
        path = address.format(
            follower="me", source=came_from, account=42, name="news", id=number, new=new,
            queue="tweet:update", note=Note.objects.values_list("pk", flat=True).first(),
            kind="author", key=42,
            share=Share.objects.values_list("pk", flat=True).first(),
            view=SavedView.objects.values_list("pk", flat=True).first(),
            channel=Channel.objects.values_list("pk", flat=True).first(),
            rule=AlertRule.objects.values_list("pk", flat=True).first(),
        )  # fmt: skip
        sent = json.loads(body) if body.strip() else None
        if "outcome=delivered" in path:
            deliver_the_test()
        if path.endswith("/set_aside"):
            refuse_the_batch()
        if path.endswith("/drop_batch"):
            put_aside(Subscriber.objects.get(), UUID(BATCH))
        program.ask(method, path, sent)
        answer = program.body
        assert program.status == int(status), (method, path, answer)
        wanted = json.loads(expected) if expected.strip() else None
        assert without_what_varies(answer) == without_what_varies(wanted), (method, path)


BATCH = "5f0c7a52-6f0e-4a39-9f67-0d0a1b9f2c11"


def deliver_the_test():
    """It was sent, and its receiver answered 204."""
    end_delivery(delivered=True, status=204)


def refuse_the_batch():
    """The next one, once the redelivery is over."""
    end_delivery(delivered=True)
    publish_events([NewEvent("alerts", "create", data={"what": "an example"})])
    error = "It answered 422 Unprocessable Content."
    end_delivery(delivered=False, status=422, error=error, answer="Unknown tweet")


def end_delivery(**outcome):
    fan_out()
    EventBatch.objects.update(uid=BATCH, deadline=timezone.now() - timedelta(hours=1))
    promote()
    took = timedelta(milliseconds=31)
    claimed = claim_batches(1, timedelta(minutes=1))
    settle_deliveries(
        [Outcome(one, took=took, **outcome) for one in claimed], most=timedelta(minutes=1)
    )


def same(path):
    """The document calls a source that it adds itself {new}, and queues {queue}."""
    return path.replace("{new}", "{source}").replace("{queue}", "{name}")


def test_each_call_of_the_api_has_an_example():
    found = [*EXAMPLE.findall(DOCUMENT), *STREAM.findall(TEXT)]
    examples = {(method, path.split("?")[0]) for method, path, *_ in found}
    calls = {
        (method.upper(), path.removeprefix("/api/v1/"))
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
    }

    assert len(calls) > 20
    examples = {(method, same(path)) for method, path in examples}
    assert examples == {(method, same(path)) for method, path in calls}
