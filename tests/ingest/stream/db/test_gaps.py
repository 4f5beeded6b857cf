"""Holes of the stream become gaps: one for each source, no older than it, widened, polled."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.stored_events import events_of, subscribe
from trackers.ingest.sources.models import Gap, Source, SourcePoll
from trackers.ingest.stream.gaps import Span, id_at, open_gaps
from trackers.ingest.stream.listeners import wanted_now
from trackers.jobs import queue

SOON = timedelta(seconds=80)
POLL = SourcePoll.queue


def source(rule="#moon", *, age=timedelta(days=1)):
    made = Source.objects.create(kind="stream", of=rule)
    Source.objects.filter(pk=made.pk).update(created_at=timezone.now() - age)
    return made


def minutes_ago(begins, ends):
    now = timezone.now()
    return Span(now - timedelta(minutes=begins), now - timedelta(minutes=ends))


def open_for_all(hole):
    open_gaps(wanted_now().values(), hole, polled_in=SOON)


def stretches():
    return list(Gap.objects.order_by("from_id").values_list("source", "from_id", "to_id"))


def test_each_source_gets_a_gap_and_a_later_poll():
    subscribe("sources")
    first, two = source("#a"), source("#b")
    hole = minutes_ago(5, 1)

    open_for_all(hole)

    assert sorted(stretches()) == [
        (each.pk, id_at(hole.begins), id_at(hole.ends)) for each in (first, two)
    ]
    gap = {"what": "gap", "why": "stream"}
    gap |= {"after": str(id_at(hole.begins)), "before": str(id_at(hole.ends))}
    said = sorted((event.data for event in events_of("sources")), key=lambda data: data["source"])
    assert said == [{"source": each.pk, **gap} for each in (first, two)]
    assert sorted(SourcePoll.objects.values_list("key", flat=True)) == [first.pk, two.pk]
    assert queue.get(POLL, 10) is None


def test_a_paused_source_gets_no_gap_and_a_young_one_none_before_its_creation():
    paused = source("#a")
    Source.objects.filter(pk=paused.pk).update(paused_at=timezone.now())
    young = source("#b", age=timedelta(minutes=3))
    hole = minutes_ago(5, 1)

    open_for_all(hole)

    [(whose, from_id, to_id)] = stretches()
    assert (whose, to_id) == (young.pk, id_at(hole.ends))
    assert id_at(hole.begins + timedelta(seconds=100)) < from_id < id_at(hole.ends)


def test_a_source_created_after_the_outage_gets_no_gap():
    source(age=timedelta(seconds=5))

    open_for_all(minutes_ago(5, 1))

    assert stretches() == []
    assert not SourcePoll.objects.exists()


def test_adjacent_outages_are_one_gap_and_distant_ones_are_not():
    moon = source()
    first, second, third = minutes_ago(9, 6), minutes_ago(7, 4), minutes_ago(3, 1)

    for hole in (first, third, second):
        open_for_all(hole)

    assert stretches() == [
        (moon.pk, id_at(first.begins), id_at(second.ends)),
        (moon.pk, id_at(third.begins), id_at(third.ends)),
    ]
    all_of_it = minutes_ago(10, 0)
    open_for_all(all_of_it)
    assert stretches() == [(moon.pk, id_at(all_of_it.begins), id_at(all_of_it.ends))]


def test_widening_a_gap_invalidates_polls_that_had_read_it():
    moon = source()
    open_for_all(minutes_ago(5, 2))
    before = Source.objects.get(pk=moon.pk).version

    open_for_all(minutes_ago(4, 1))

    assert Source.objects.get(pk=moon.pk).version == before + 1


@pytest.mark.parametrize("reason", ["being filled", "closed", "of another kind", "not new"])
def test_a_gap_is_not_widened_when_it_is(reason):
    moon = source()
    hole = minutes_ago(5, 2)
    open_for_all(hole)
    gap = Gap.objects.get()
    changed = {
        "being filled": {},
        "closed": {"closed_at": timezone.now()},
        "of another kind": {"why": Gap.Why.QUOTA},
        "not new": {"found_at": timezone.now() - timedelta(minutes=11)},
    }[reason]
    Gap.objects.filter(pk=gap.pk).update(to_id=gap.to_id, **changed)
    if reason == "being filled":
        Source.objects.filter(pk=moon.pk).update(filling=gap)

    open_for_all(minutes_ago(4, 1))

    assert Gap.objects.count() == 2
    assert Gap.objects.get(pk=gap.pk).to_id == id_at(hole.ends)


def test_an_earlier_or_claimed_poll_is_left_alone():
    early, out = source("#a"), source("#b")
    queue.schedule(POLL, out.pk, timedelta(0))
    claimed = queue.get(POLL, 10)
    queue.schedule(POLL, early.pk, timedelta(seconds=3))
    due = dict(SourcePoll.objects.values_list("key", "due_at"))

    open_for_all(minutes_ago(5, 1))

    assert dict(SourcePoll.objects.values_list("key", "due_at")) == due
    assert queue.finish(claimed, {}) == {out.pk}
