"""The pure parts of the stream: the ladder, the plan of rules, whose a post is, what is read."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.ingest.stream.backoff import Backoff, spacing, trouble_of, wait_after
from trackers.ingest.stream.clock import clock_of
from trackers.ingest.stream.lines import sort_out
from trackers.ingest.stream.listeners import Listeners, WantedRule
from trackers.ingest.stream.marks import Mark
from trackers.ingest.stream.reader import End, Heard
from trackers.ingest.stream.rules import plan
from trackers.tweets.snowflake import first_id_at
from trackers.xapi.errors import Garbage, RateLimited, Unavailable
from trackers.xapi.parse.stream import Matched, Rule
from trackers.xapi.results import WindowSeen
from trackers.xapi.stream import TooManyConnections, Unreachable

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
NONE = timedelta(0)
OURS, ANOTHERS = Mark("0123abcd"), Mark("another")


def seconds(trouble, tries):
    return [wait_after(trouble, number).total_seconds() for number in tries]


def test_backoff_waits_follow_the_rules_of_x():
    assert seconds("network", (1, 2, 3, 64, 65, 1000)) == [0.25, 0.5, 0.75, 16, 16, 16]
    assert seconds("http", range(1, 9)) == [5, 10, 20, 40, 80, 160, 320, 320]
    assert seconds("limited", (1, 2, 3, 4, 5, 6, 10_000)) == [60, 120, 240, 480, 960, 960, 960]
    with pytest.raises(ValueError, match="first"):
        wait_after("http", 0)


def test_backoff_restarts_with_another_failure_and_when_x_answers():
    ladder = Backoff()

    waits = [ladder.next(trouble) for trouble in ("http", "http", "network", "http")]
    ladder.reset()
    waits.append(ladder.next("http"))

    for wait, least in zip(waits, (5, 10, 0.25, 5, 5), strict=True):
        assert least <= wait.total_seconds() <= 1.25 * least


def test_each_failure_maps_to_its_backoff():
    assert trouble_of(Unreachable("x")) == "network"
    assert trouble_of(Unavailable("503")) == "http"
    assert trouble_of(Garbage("x")) == "http"
    assert trouble_of(RateLimited("429", resets_at=None)) == "limited"
    assert trouble_of(TooManyConnections("429", resets_at=None)) == "limited"


def test_the_last_connections_of_a_window_are_spread_over_its_remaining_time():
    def left(remaining):
        return spacing(WindowSeen("e", 50, remaining, NOW + timedelta(minutes=10), NOW))

    assert left(26) == NONE
    assert left(24) == timedelta(minutes=10) / 25
    assert left(0) == timedelta(minutes=10)
    assert spacing(None) == NONE


def wanted(**values):
    return [
        WantedRule(int(name[1:]), value, f"live: {value}", NOW) for name, value in values.items()
    ]


def test_missing_rules_are_added_and_unwanted_own_rules_deleted():
    there = [
        Rule(10, "#a", OURS.tag_of(1)),
        Rule(11, "#gone", OURS.tag_of(2)),
        Rule(12, "#theirs", "another program"),
        Rule(13, "#nobodys", ""),
    ]

    todo = plan(wanted(s1="#a", s3="#new"), there, OURS)

    assert todo.use == {1: 10}
    assert todo.add == (3,)
    assert todo.delete == (11,)
    assert (todo.others, todo.marked) == (2, 0)


def test_a_foreign_rule_with_the_same_text_is_used_and_never_deleted():
    there = [Rule(10, "cat  dog", ""), Rule(11, "#b", "theirs")]

    todo = plan(wanted(s1="cat dog", s2="#b"), there, OURS)
    later = plan([], there, OURS)

    assert (todo.use, todo.add, todo.delete) == ({1: 10, 2: 11}, (), ())
    assert later.delete == ()


def test_rules_of_another_installation_are_left_alone_and_of_two_equal_rules_ours_is_used():
    there = [
        Rule(10, "#a", OURS.tag_of(1)),
        Rule(11, "#a ", ANOTHERS.tag_of(1)),
        Rule(12, "#b", ANOTHERS.tag_of(2)),
    ]

    todo = plan(wanted(s1="#a"), there, OURS)

    assert (todo.use, todo.add, todo.delete) == ({1: 10}, (), ())
    assert (todo.others, todo.marked) == (2, 2)
    assert plan(wanted(s1="#a"), there, Mark("")).delete == ()


def test_a_changed_rule_is_deleted_and_added():
    todo = plan(wanted(s1="#new"), [Rule(10, "#old", OURS.tag_of(1))], OURS)

    assert (todo.add, todo.delete) == ((1,), (10,))


@pytest.mark.parametrize(
    "tag",
    ["", "3", "tweetwatch", OURS.prefix, f"{OURS.prefix}x", f"{OURS.prefix}²", ANOTHERS.tag_of(3)],
)
def test_foreign_tags_name_no_source(tag):
    assert OURS.source_of(tag) == 0


def test_a_post_belongs_to_the_sources_of_its_rules_by_id_or_tag():
    sources = {one.source: one for one in wanted(s1="#a", s2="#b")}
    listeners = Listeners(sources, {10: [1]}, OURS)

    assert listeners.of([Matched(10, "")]) == (1,)
    assert listeners.of([Matched(99, OURS.tag_of(2)), Matched(10, "")]) == (1, 2)
    assert listeners.of([Matched(99, OURS.tag_of(3)), Matched(98, "theirs")]) == ()
    assert Listeners(sources, {10: [1, 2]}, OURS).of([Matched(10, "")]) == (1, 2)
    assert listeners.name((1, 2)) == "live: #a, live: #b"


def heard(id, waited=True, rule=10):
    text = f'{{"data":{{"id":"{id}"}},"matching_rules":[{{"id":"{rule}"}}]}}'
    return Heard(text.encode(), READ_AT, waited)


def id_at(at):
    return first_id_at(int(at.timestamp() * 1000))


# The stream opened 500 s before its lines were read, at NOW.
OPENED_AT, READ_AT = 1000.0, 1500.0
OPENED = NOW - timedelta(seconds=500)


def sorted_out(*items, x_ahead=NONE):
    listeners = Listeners({one.source: one for one in wanted(s1="#a")}, {10: [1]})
    clock = clock_of(OPENED + x_ahead, OPENED_AT, now=OPENED, now_at=OPENED_AT)
    return sort_out(items, listeners, clock)


def test_the_stream_is_read_up_to_the_creation_time_of_the_youngest_post():
    born = NOW - timedelta(seconds=90)

    batch = sorted_out(heard(id_at(born - timedelta(seconds=5))), heard(id_at(born)))

    assert batch.until == born


def test_a_post_from_the_future_moves_nothing_beyond_now():
    batch = sorted_out(heard(id_at(NOW + timedelta(days=400))), x_ahead=timedelta(seconds=-3))

    assert batch.until == NOW - timedelta(seconds=3)


def test_an_awaited_keep_alive_says_that_all_is_read():
    assert sorted_out(Heard(b"", READ_AT, waited=True)).until == NOW
    assert sorted_out(Heard(b"", READ_AT, waited=False)).until is None
    assert sorted_out(Heard(b"", READ_AT, waited=False)).is_empty


def test_only_posts_and_keep_alives_are_signs_of_life():
    farewell = Heard(b'{"errors":[{"title":"go"}]}', READ_AT, waited=True)

    assert sorted_out(heard(1)).alive
    assert sorted_out(Heard(b"", READ_AT, waited=False)).alive
    assert not sorted_out(farewell, Heard(b"{", READ_AT, waited=True), End()).alive


def test_a_batch_has_each_post_once_and_counts_duplicates_and_garbled_lines():
    one, two, other = heard(1), heard(2), heard(3, rule=99)

    batch = sorted_out(one, one, two, other, Heard(b"{", READ_AT, waited=False), End())

    assert sorted(batch.posts) == [1, 2]
    assert (batch.lines, batch.again, batch.garbled, batch.others) == (5, 1, 1, {3})
    assert batch.end == End()
