"""A source is edited: what it has read stays while it is of the same, and nothing unread is lost
without a word."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from tests import queues
from tests.factories import id_born
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Gap, Source, SourcePoll
from trackers.ingest.stream.models import Stream
from trackers.tweets.snowflake import born_at

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def ago(length):
    return id_born(now() - length)


def watched(kind="search", of="#artemis", *, read=4 * DAY, **fields):
    """A source that was read for the last time so long ago."""
    at = now() - read
    cursor = {"latest_id": id_born(at - DAY), "asked_at_ms": int(at.timestamp() * 1000)}
    made = Source.objects.create(kind=kind, of=of, **{**cursor, **fields})
    queues.put(SourcePoll, made.pk, now() + 5 * MINUTE)
    return made


def gap(made, why, first=10 * DAY, last=9 * DAY):
    return Gap.objects.create(
        source=made, why=why, from_id=ago(first), to_id=ago(last), found_at=now()
    )


def edit(made, of):
    made.of = of
    told = life.change_source(made, ["of"])
    made.refresh_from_db()
    return told


@pytest.mark.parametrize(
    ("kind", "of", "username", "typed"),
    [
        pytest.param("account", "nasa", "NASA", "nasa", id="the same"),
        pytest.param("account", "nasa", "NASA", "Nasa", id="in other letters"),
        pytest.param("mentions", "nasa_old", "nasa", "NASA", id="as X calls it"),
        pytest.param("search", "#artemis", "", "#artemis", id="a search"),
    ],
)
def test_the_same_source_keeps_its_cursor_and_its_gaps(kind, of, username, typed):
    made = watched(kind, of, username=username, account_id=11 if username else None)
    open_one, lost = gap(made, "budget"), gap(made, "reach")
    cursor = made.latest_id, made.asked_at_ms, made.account_id

    assert edit(made, typed) == ""

    assert (made.latest_id, made.asked_at_ms, made.account_id) == cursor
    assert made.of == typed
    for row in (open_one, lost):
        row.refresh_from_db()
        assert (row.closed_at, row.was_of) == (None, "")


def test_an_unchanged_source_keeps_its_next_poll():
    made = watched()

    life.change_source(made, ["of", "every"])

    assert SourcePoll.objects.get(key=made.pk).due_at > now() + MINUTE


def test_changing_the_search_gives_up_unread_gaps():
    made = watched()
    gap(made, "quota")

    answer = edit(made, "#mars")

    assert (made.latest_id, made.asked_at_ms) == (None, None)
    after, left_over = made.gaps.order_by("-to_id")
    assert all(row.is_given_up and row.was_of == "#artemis" for row in (after, left_over))
    assert (after.why, left_over.why) == ("edited", "quota")
    # Four days, and the minute that a post of the search may be late by.
    since, until = born_at(after.from_id), born_at(after.to_id)
    assert abs(until - since - 4 * DAY - MINUTE) < 5 * MINUTE
    assert f"posts from {since:%Y-%m-%d %H:%M} UTC" in answer
    assert "“#artemis”" in answer
    assert "1 gap." in answer


def test_a_lost_gap_names_the_search_it_belongs_to():
    made = watched()
    lost = gap(made, "reach")

    edit(made, "#mars")

    lost.refresh_from_db()
    assert (lost.closed_at, lost.is_lost, lost.was_of) == (None, True, "#artemis")


def test_gaps_of_an_old_name_are_not_those_of_the_new_one():
    made = watched()
    first = gap(made, "reach")
    edit(made, "#mars")
    second = gap(made, "reach")

    edit(made, "#moon")

    for row, was_of in ((first, "#artemis"), (second, "#mars")):
        row.refresh_from_db()
        assert row.was_of == was_of


def test_renaming_an_account_keeps_everything_until_x_resolves_the_name():
    made = watched("account", "nasa", account_id=11, username="NASA")
    row, cursor = gap(made, "budget"), made.latest_id

    told = edit(made, "esa")
    edit(made, "jaxa")

    assert "X will be asked whose name this is" in told
    row.refresh_from_db()
    assert row.closed_at is None
    assert (made.latest_id, made.account_id) == (cursor, None)
    assert (made.was_account_id, made.was_of) == (11, "nasa")


def test_changing_an_unheard_rule_gives_up_the_missed_posts():
    hour = timedelta(hours=1)
    Stream.objects.create(state="stopped", stored_until=now() - hour)
    made = watched("stream", "#artemis", rule_id=5)
    Source.objects.update(created_at=now() - DAY)
    made.refresh_from_db()

    edit(made, "#mars")

    [row] = made.gaps.all()
    assert row.is_given_up
    assert abs(born_at(row.to_id) - born_at(row.from_id) - hour) < 5 * MINUTE
    assert made.rule_id is None
