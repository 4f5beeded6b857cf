"""What follows a page: tables of cases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from trackers.ingest.cursor import next_since_id, search_floor
from trackers.ingest.polls.begin import (
    Begun,
    begin_gap,
    begin_overlap,
    begin_poll,
    passed_id_of,
)
from trackers.ingest.polls.pages import (
    Done,
    Hidden,
    More,
    Short,
    after_stale,
    ask_for,
    follow,
    give_up,
    wanted,
    without_token,
)
from trackers.ingest.polls.sweep import Cursor, ReadingRules, Sweep, Unread
from trackers.tweets.snowflake import first_id_at, ms_of
from trackers.xapi.page import BEGAN_AT, Ask, Page

NOW = datetime(2026, 8, 26, 8, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
MINUTE, DAY = 60_000, 86_400_000
ACCOUNT = ReadingRules("account", page_size=5, pages=3)
SEARCH = ReadingRules("search", k_ms=60_000, lag_ms=30_000, page_size=10, pages=3)
LIST = ReadingRules("list", page_size=5, pages=3)
CURSOR = Cursor(first_id_at(NOW_MS - MINUTE), NOW_MS - MINUTE + 1000)


def page(*ids, token=None, asked_at=NOW, missing=None, replies=(), retweets=()):
    return Page(
        {}, dict.fromkeys(ids, "broken"), ids, 0, frozenset(replies), frozenset(retweets), missing,
        token, asked_at, None, None,
    )  # fmt: skip


def poll(rules=ACCOUNT, cursor=CURSOR):
    return begin_poll(cursor, rules, depth=None, now_ms=NOW_MS).sweep


def test_a_poll_begins_at_the_leak_safe_cursor():
    assert poll().since_id == next_since_id(CURSOR.latest_id, CURSOR.asked_at_ms, k_ms=5000)


def test_a_search_begins_earlier_by_its_index_delay():
    since = poll(SEARCH).since_id

    assert since == next_since_id(CURSOR.latest_id, CURSOR.asked_at_ms - 30_000, k_ms=60_000)


@pytest.mark.parametrize(
    ("rules", "depth", "since"),
    [
        pytest.param(ACCOUNT, None, None, id="all that there is"),
        pytest.param(ACCOUNT, timedelta(days=30), first_id_at(NOW_MS - 30 * DAY), id="a month"),
        pytest.param(ACCOUNT, timedelta(0), first_id_at(NOW_MS), id="from now on"),
        pytest.param(LIST, timedelta(days=1), first_id_at(NOW_MS - DAY), id="a list's day"),
        pytest.param(SEARCH, timedelta(days=1), first_id_at(NOW_MS - DAY), id="search's day"),
        pytest.param(
            SEARCH, timedelta(days=30), search_floor(NOW_MS, SEARCH.margin), id="search's reach"
        ),
        pytest.param(SEARCH, None, search_floor(NOW_MS, SEARCH.margin), id="all that search has"),
    ],
)
def test_without_a_cursor_a_poll_reads_back_to_its_depth(rules, depth, since):
    begun = begin_poll(None, rules, depth=depth, now_ms=NOW_MS)

    assert (begun.sweep.since_id, begun.lost) == (since, None)


def test_the_first_poll_of_an_empty_source_moves_the_cursor_to_where_it_began():
    sweep = begin_poll(None, ACCOUNT, depth=timedelta(0), now_ms=NOW_MS).sweep

    step = follow(sweep, page(), cursor=None, rules=ACCOUNT)

    assert step == Done(Cursor(first_id_at(NOW_MS), NOW_MS, first_id_at(NOW_MS)))


def test_a_search_with_a_stale_cursor_reports_what_it_lost():
    old = Cursor(first_id_at(NOW_MS - 9 * DAY), NOW_MS - 8 * DAY)
    floor = search_floor(NOW_MS, SEARCH.margin)

    begun = begin_poll(old, SEARCH, depth=None, now_ms=NOW_MS)

    assert begun.sweep.since_id == floor
    assert begun.lost == Unread(first_id_at(NOW_MS - 8 * DAY - 90_000) - 1, floor + 1, "reach")
    assert begun.lost.is_lost


def test_a_search_without_results_for_weeks_has_lost_nothing():
    quiet = Cursor(first_id_at(NOW_MS - 30 * DAY), NOW_MS - MINUTE)

    begun = begin_poll(quiet, SEARCH, depth=None, now_ms=NOW_MS)

    assert (begun.sweep.since_id, begun.lost) == (search_floor(NOW_MS, SEARCH.margin), None)


@pytest.mark.parametrize(
    ("rules", "ask"),
    [
        (ACCOUNT, Ask("account", 7, since_id=3, until_id=9, token="t", max_results=5)),
        (LIST, Ask("list", 7, token="t", max_results=5)),
    ],
)
def test_each_page_is_asked_for_with_the_same_bounds(rules, ask):
    assert ask_for(Sweep("gap", 3, 9, 3, token="t"), 7, rules) == ask


def test_searches_and_exclusions_are_sent_in_the_form_of_x():
    rules = replace(ACCOUNT, exclude=("replies",))

    assert ask_for(poll(rules), 7, rules).exclude == ("replies",)
    assert ask_for(poll(SEARCH), "cats", replace(SEARCH, exclude=("replies",))).exclude == ()


SINCE = poll().since_id
NEW = [SINCE + n for n in range(1, 40)]
LIST_SINCE = poll(LIST).since_id


@pytest.mark.parametrize(
    ("rules", "given", "expected"),
    [
        pytest.param(
            ACCOUNT, page(), Done(replace(CURSOR, asked_at_ms=NOW_MS, passed_id=SINCE)),
            id="an empty page changes nothing but the time",
        ),
        pytest.param(
            ACCOUNT, page(asked_at=None), Done(replace(CURSOR, passed_id=SINCE)),
            id="an empty page without a time not even that",
        ),
        pytest.param(
            ACCOUNT, page(first_id_at(NOW_MS)), Done(Cursor(first_id_at(NOW_MS), NOW_MS, SINCE)),
            id="the only page",
        ),
        pytest.param(
            ACCOUNT, page(SINCE + 1), Done(Cursor(CURSOR.latest_id, NOW_MS, SINCE)),
            id="a late one alone moves nothing back",
        ),
        pytest.param(
            ACCOUNT, page(missing="suspended", asked_at=None), Hidden("suspended"), id="suspended"
        ),
        pytest.param(
            LIST, page(LIST_SINCE + 9, LIST_SINCE, token="t"),
            Done(Cursor(max(LIST_SINCE + 9, CURSOR.latest_id), NOW_MS, LIST_SINCE)),
            id="a list down to its floor",
        ),
        pytest.param(
            LIST, page(LIST_SINCE + 9),
            Done(Cursor(max(LIST_SINCE + 9, CURSOR.latest_id), NOW_MS, LIST_SINCE)),
            id="a list to its end",
        ),
    ],
)  # fmt: skip
def test_a_poll_of_one_page_moves_the_cursor(rules, given, expected):
    assert follow(poll(rules), given, cursor=CURSOR, rules=rules) == expected


def test_a_poll_reads_all_pages_and_keeps_the_time_of_the_first():
    first = follow(poll(), page(*NEW[:34:-1], token="a"), cursor=CURSOR, rules=ACCOUNT)
    assert first == More(
        replace(
            poll(), pages=1, pages_left=2, newest_id=NEW[-1], oldest_id=NEW[35], passed=5,
            asked_at_ms=NOW_MS, token="a",
        )
    )  # fmt: skip

    later = NOW + timedelta(hours=1)
    last = follow(first.sweep, page(NEW[3], asked_at=later), cursor=CURSOR, rules=ACCOUNT)

    assert last == Done(Cursor(max(NEW[-1], CURSOR.latest_id), NOW_MS, SINCE))


def swept(rules, *pages, cursor=CURSOR, sweep=None):
    sweep = sweep or poll(rules, cursor)
    for one in pages:
        step = follow(sweep, one, cursor=cursor, rules=rules)
        sweep = step.sweep if isinstance(step, More) else None
    return step


def test_at_the_page_limit_the_cursor_moves_and_the_rest_is_a_gap():
    step = swept(
        ACCOUNT, page(NEW[30], token="a"), page(NEW[20], token="b"), page(NEW[10], token="c")
    )

    assert step == Short(
        Cursor(max(NEW[30], CURSOR.latest_id), NOW_MS, SINCE), Unread(SINCE, NEW[10], "budget", "c")
    )


def test_a_gap_of_an_account_is_filled_below_what_was_read():
    gap = Unread(SINCE, NEW[10], "budget", "c")
    sweep = begin_gap(gap, ACCOUNT, passed=15, now_ms=NOW_MS).sweep

    assert ask_for(sweep, 7, ACCOUNT) == Ask(
        "account", 7, since_id=SINCE, until_id=NEW[10], max_results=5
    )
    assert swept(ACCOUNT, page(NEW[5], token="x"), page(NEW[1]), sweep=sweep) == Done(CURSOR)


def test_a_gap_that_is_not_filled_within_the_budget_shrinks():
    sweep = begin_gap(Unread(SINCE, NEW[30], "quota"), ACCOUNT, passed=0, now_ms=NOW_MS).sweep

    step = swept(
        ACCOUNT, page(NEW[20], token="a"), page(NEW[9], token="b"), page(NEW[8], token="c"),
        sweep=sweep,
    )  # fmt: skip

    assert step == Short(CURSOR, Unread(SINCE, NEW[8], "budget", "c"))


def test_a_gap_of_a_list_continues_at_its_token_and_is_lost_without():
    gap = Unread(SINCE, NEW[9], "budget", "c")

    sweep = begin_gap(gap, LIST, passed=0, now_ms=NOW_MS).sweep

    assert ask_for(sweep, 7, LIST) == Ask("list", 7, token="c", max_results=5)
    assert begin_gap(replace(gap, token=None), LIST, passed=0, now_ms=NOW_MS).lost.is_lost


def test_a_gap_beyond_the_reach_of_search_is_lost_as_far_as_beyond():
    floor = search_floor(NOW_MS, SEARCH.margin)
    old = first_id_at(NOW_MS - 9 * DAY)
    gone = Unread(old, first_id_at(NOW_MS - 8 * DAY), "budget")

    assert begin_gap(gone, SEARCH, passed=0, now_ms=NOW_MS) == Begun(
        None, replace(gone, why="reach")
    )
    half = begin_gap(Unread(old, first_id_at(NOW_MS), "budget"), SEARCH, passed=0, now_ms=NOW_MS)
    assert half.sweep.since_id == floor
    assert half.lost == Unread(old, floor + 1, "reach")


@pytest.mark.parametrize(
    ("passed", "step"),
    [(3_189, Done), (3_191, Short)],
    ids=["just above X's reach", "at X's reach"],
)
def test_the_end_of_the_reach_of_x_leaves_a_gap(passed, step):
    sweep = begin_gap(Unread(SINCE, NEW[30], "budget"), ACCOUNT, passed=passed, now_ms=NOW_MS).sweep

    told = swept(ACCOUNT, page(*NEW[20:25]), sweep=sweep)

    assert type(told) is step
    assert step is Done or told.gap == Unread(SINCE, NEW[20], "reach")


def test_posts_left_out_by_x_count_towards_its_reach():
    rules = replace(LIST, page_size=100, pages=100)
    pages = [page(NEW[30 - n], token=f"{n}") for n in range(8)]

    step = swept(rules, *pages, page())

    assert step.gap == Unread(LIST_SINCE, NEW[23], "reach")


def test_the_reach_is_shorter_without_replies():
    assert replace(ACCOUNT, exclude=("replies",)).reach == 800


def test_a_repeated_page_ends_the_poll():
    step = swept(ACCOUNT, page(NEW[9], token="a"), page(NEW[9], token="a"))

    assert step.gap == Unread(SINCE, NEW[9], "repeats")


def test_empty_pages_use_the_page_limit_and_the_sweep_continues():
    step = swept(ACCOUNT, page(token="a"), page(token="b"), page(token="c"))

    assert step == More(
        replace(poll(), pages=3, pages_left=3, asked_at_ms=NOW_MS, passed=15, token="c"),
        at_once=False,
        problem="X sent 3 pages without a post, each with another to follow. "
        "It goes on there with the next poll.",
    )


def test_a_sweep_without_quota_ends_in_a_gap():
    half = swept(ACCOUNT, page(NEW[30], token="a")).sweep

    assert give_up(poll(), cursor=CURSOR, why="quota") is None
    assert give_up(half, cursor=CURSOR, why="quota") == Short(
        Cursor(max(NEW[30], CURSOR.latest_id), NOW_MS, SINCE), Unread(SINCE, NEW[30], "quota", "a")
    )


def test_a_gap_without_room_for_an_id_is_dropped():
    half = swept(ACCOUNT, page(SINCE + 1, token="a")).sweep

    assert type(give_up(half, cursor=CURSOR, why="quota")) is Done


def test_a_refused_page_token_is_replaced_by_a_bound_below_the_read_posts():
    half = swept(ACCOUNT, page(NEW[30], token="a")).sweep
    listed = swept(LIST, page(NEW[38], token="a")).sweep

    below = without_token(half, ACCOUNT)

    assert (below.token, below.until_id, below.since_id) == (None, NEW[30], SINCE)
    assert ask_for(without_token(listed, LIST), 7, LIST) == Ask("list", 7, max_results=5)


def test_a_stale_since_id_is_raised_to_the_named_one_and_the_rest_is_lost():
    cursor = Cursor(first_id_at(NOW_MS - 6 * DAY), NOW_MS - 6 * DAY)
    sweep = poll(SEARCH, cursor)
    named = first_id_at(NOW_MS - 5 * DAY)

    begun = after_stale(sweep, named, cursor=cursor, rules=SEARCH, now_ms=NOW_MS)

    assert begun == Begun(
        replace(sweep, since_id=named, through_id=named),
        Unread(sweep.through_id, named + 1, "reach"),
    )
    unnamed = after_stale(sweep, None, cursor=cursor, rules=SEARCH, now_ms=NOW_MS)
    assert unnamed == Begun(sweep)


def test_a_sweep_gone_stale_between_pages_ends_in_a_gap():
    half = swept(SEARCH, page(first_id_at(NOW_MS), token="a")).sweep

    step = after_stale(half, 5, cursor=CURSOR, rules=SEARCH, now_ms=NOW_MS)

    assert step.gap == Unread(half.since_id, first_id_at(NOW_MS), "quota", "a")


def test_an_overlap_reads_to_its_depth_and_keeps_the_cursor():
    sweep = begin_overlap(ACCOUNT, depth=timedelta(hours=1), now_ms=NOW_MS).sweep
    pages = [page(NEW[9 - n], token=f"{n}") for n in range(3)]

    assert ms_of(sweep.since_id) == NOW_MS - 60 * MINUTE
    assert swept(ACCOUNT, page(NEW[9]), sweep=sweep) == Done(CURSOR)
    assert swept(ACCOUNT, *pages, sweep=sweep) == Done(CURSOR)


def test_leaks_are_judged_by_the_highest_cursor_so_far():
    assert passed_id_of(CURSOR, ACCOUNT) == SINCE
    assert passed_id_of(replace(CURSOR, passed_id=SINCE + 5), ACCOUNT) == SINCE + 5


def test_replies_and_retweets_are_filtered_here_where_x_does_not():
    fields = page(1, 2, 3, replies=[1, 2], retweets=[2])

    assert wanted(fields, ()) == {1, 2, 3}
    assert wanted(fields, ("retweets",)) == {1, 3}
    assert wanted(fields, ("replies", "retweets")) == {3}


@pytest.mark.parametrize(
    ("until_id", "bounds"),
    [
        # The last second in full: X takes no ids beside times.
        (first_id_at(NOW_MS - 400), {"start_time": BEGAN_AT, "end_time": NOW}),
        # Counted ids carry no time.
        (28_000_000_000, {"since_id": 1, "until_id": 28_000_000_000}),
    ],
)
def test_all_that_an_account_posted_is_asked_for_from_the_first_post_on(until_id, bounds):
    rules = ReadingRules("archive")

    ask = ask_for(Sweep("gap", None, until_id, pages_left=9, of_archive=True), "from:1", rules)

    assert ask == Ask("archive", "from:1", **bounds)


def test_the_archive_is_asked_between_the_ids_of_a_gap():
    sweep = Sweep("gap", 7, 9, pages_left=9, of_archive=True)

    ask = ask_for(sweep, "a", ReadingRules("archive"))

    assert ask == Ask("archive", "a", since_id=7, until_id=9)
