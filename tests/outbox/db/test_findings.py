"""What is wrong for a minute is an alert, once; and that it is over is another."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import Schedule

from tests.events.conftest import subscriber
from trackers import tasks
from trackers.events.fan_out import fan_out
from trackers.ingest.sources.models import Source
from trackers.ingest.stream.findings import stream_findings
from trackers.ingest.stream.models import Stream
from trackers.jobs import holds
from trackers.jobs.findings import queue_findings
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.outbox.findings import Finding, Observation, update_findings
from trackers.outbox.models import Event

NOW = timezone.now()
A_MINUTE = timedelta(minutes=1)
FINE = ""


def look(wrong, *, minute, of="one"):
    """What a look says at that minute: the state and the sentence of each alert."""
    found = Observation("thing", of, wrong, "It works again.", "/operations/")
    told = update_findings([found], now=NOW + minute * A_MINUTE)
    return [(one.data["thing"], one.data["state"], one.data["what"]) for one in told]


def test_a_lasting_finding_is_published_once_and_its_end_once():
    sentence = [
        look(wrong, minute=minute)
        for minute, wrong in enumerate(["It broke.", "It broke.", "Worse.", FINE, FINE])
    ]

    assert sentence == [
        [], [("one", "down", "It broke.")], [], [("one", "back", "It works again.")], [],
    ]  # fmt: skip
    assert not Finding.objects.exists()


def test_a_finding_of_less_than_a_minute_is_not_published():
    assert look("It broke.", minute=0) == []
    assert look("It broke.", minute=0.9) == []
    assert look(FINE, minute=1.5) == []
    # The minute begins anew.
    assert look("It broke.", minute=2) == []
    assert look("It broke.", minute=2.5) == []


def test_findings_of_different_things_are_independent():
    assert look("It broke.", minute=0) == []
    assert look("It broke.", minute=1, of="two") == []
    assert look("It broke.", minute=1) == [("one", "down", "It broke.")]
    assert look(FINE, minute=2, of="two") == []
    assert Finding.objects.count() == 1


def test_subscribers_of_alerts_get_findings():
    subscriber(topics=["alerts"])
    look("It broke.", minute=0)
    look("It broke.", minute=1)
    fan_out()

    assert Event.objects.get().data == {"thing": "one", "state": "down", "what": "It broke."}


def wrong(observations):
    return {(one.kind, one.of): one.wrong for one in observations if one.wrong}


def test_a_queue_with_failing_requests_is_a_finding_until_one_is_answered():
    Queue.objects.filter(name=TWEET_UPDATE).update(paused=True)
    assert wrong(queue_findings()) == {}
    for _ in range(3):
        holds.record_failure(TWEET_UPDATE, because="X answered 503.")

    [said] = wrong(queue_findings()).values()
    assert said.endswith("X answered 503.")
    holds.record_success(TWEET_UPDATE)
    assert wrong(queue_findings()) == {}


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("open", None),
        ("waiting", "Not connected: X answered 503."),
        ("stopped", "Not connected: no process is listening: start manage.py stream."),
        (None, "Not connected: no process is listening: start manage.py stream."),
    ],
)
def test_a_needed_stream_that_is_down_is_a_finding(state, sentence):
    if state:
        Stream.objects.create(name="filtered", state=state, because="X answered 503.")
    assert wrong(stream_findings(now=NOW)) == {}
    source = Source.objects.create(kind="stream", of="nasa", every=timedelta(hours=1))

    assert wrong(stream_findings(now=NOW)) == (
        {("stream", "filtered"): sentence} if sentence else {}
    )

    Source.objects.filter(pk=source.pk).update(paused_at=NOW)
    assert wrong(stream_findings(now=NOW)) == {}


def test_a_killed_stream_process_counts_as_down():
    Source.objects.create(kind="stream", of="nasa", every=timedelta(hours=1))
    Stream.objects.create(name="filtered", state="open", lease_until=NOW - A_MINUTE)

    assert wrong(stream_findings(now=NOW)) != {}
    assert wrong(stream_findings(now=NOW - 2 * A_MINUTE)) == {}


def test_findings_are_judged_every_minute():
    scheduled = Schedule.objects.get(func="trackers.tasks.alert_people")
    assert (scheduled.schedule_type, scheduled.minutes) == (Schedule.MINUTES, 1)
    tasks.alert_people()
    assert not Finding.objects.exists()
