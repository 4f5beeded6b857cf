"""What follows a page of a poll: the next page, a new cursor, or a gap.

Sweep ─ ask_for ─> Ask ─> X ─> Page ─ follow ─> More | Done | Short | Hidden

The page's posts and what follows are written in one transaction. So the cursor moves only with the
last page, or together with a gap that covers what is missing; a crash repeats one page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from trackers.ingest.cursor import MILLISECOND
from trackers.ingest.polls.begin import Begun, above_floor, floor_of
from trackers.ingest.polls.sweep import Cursor, ReadingRules, Sweep, Unread, Why
from trackers.tweets.snowflake import born_at, has_time
from trackers.xapi.page import BEGAN_AT, Ask, Excluded, Page
from trackers.xapi.results import Missing

# How many polls' pages may be empty: newer posts must not wait for what X may never show.
_BUDGETS_FOR_EMPTY_PAGES = 3
# A list has no ids to end at.
_NO_BOUND = 2**63 - 1
# X's first post has the id 20.
_BEFORE_THE_FIRST = 1


@dataclass(frozen=True, slots=True)
class More:
    """Store the page, and ask for the next: at once, or with the next poll."""

    sweep: Sweep
    at_once: bool = True
    problem: str = ""  # for people


@dataclass(frozen=True, slots=True)
class Done:
    """Store the page; the sweep is over, and the gap that it filled, if any, is closed."""

    cursor: Cursor | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Short:
    """Store the page; the sweep is over except for this gap, which replaces its own."""

    cursor: Cursor | None
    gap: Unread
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Hidden:
    """X shows nothing of the account or list; nothing was read, and nothing moves."""

    why: Missing


def ask_for(sweep: Sweep, of: int | str, rules: ReadingRules) -> Ask:
    """The request for the sweep's next page."""
    if rules.kind == "list":
        return Ask("list", of, token=sweep.token, max_results=rules.page_size)
    ask = Ask(
        rules.kind,
        of,
        since_id=sweep.since_id,
        until_id=sweep.until_id,
        token=sweep.token,
        max_results=rules.page_size,
        exclude=rules.exclude if rules.kind == "account" else (),
    )
    return _from_the_first(ask) if rules.kind == "archive" and ask.since_id is None else ask


def _from_the_first(ask: Ask) -> Ask:
    """The same, down to the first post ever: without a lower bound the archive would go back thirty
    days, and look like all there is.

    Between times, as X takes no ids with them, and may take the lowest ids for times. The last
    second is read in full; counted ids, of before November 2010, carry no time.
    """
    if ask.until_id is None or not has_time(ask.until_id):
        return replace(ask, since_id=_BEFORE_THE_FIRST)
    last = born_at(ask.until_id).replace(microsecond=0) + timedelta(seconds=1)
    return replace(ask, until_id=None, start_time=BEGAN_AT, end_time=last)


def follow(
    sweep: Sweep, page: Page, *, cursor: Cursor | None, rules: ReadingRules
) -> More | Done | Short | Hidden:
    """What to do with the page that the sweep's request brought.

    1. X shows nothing of the source: nothing.
    2. It reached the bottom: done; or short, if X's reach may have ended it.
    3. X repeats itself, or the budget is used up: short.
    4. X sends page after page without a post: it begins anew, from the newest.
    5. Otherwise the next page.
    """
    if page.missing is not None and not page.ids:
        return Hidden(page.missing)
    swept = _after(sweep, page, rules)
    if _is_below_floor(swept, page, rules):
        return _end_of_sweep(swept, cursor)
    if swept.token is None:
        return (
            _short(swept, cursor, "reach")
            if _is_at_reach(swept, rules)
            else _end_of_sweep(swept, cursor)
        )
    if swept.token == sweep.token:
        return _short(swept, cursor, "repeats")
    if swept.oldest_id is None and swept.pages >= _BUDGETS_FOR_EMPTY_PAGES * rules.pages:
        return _begin_anew(swept, cursor, rules)
    if swept.pages_left > 0:
        return More(swept)
    if swept.oldest_id is None:
        # Only empty pages so far: there is no id to describe a gap with, so it continues.
        problem = f"{_empty_pages(swept)} It goes on there with the next poll."
        return More(replace(swept, pages_left=rules.pages), at_once=False, problem=problem)
    return _short(swept, cursor, "budget")


def _begin_anew(sweep: Sweep, cursor: Cursor | None, rules: ReadingRules) -> Done | Short:
    """Nothing was read, so nothing moves: the next poll reads it all. A gap stays, for later."""
    problem = f"{_empty_pages(sweep)} The next poll begins with the newest posts again."
    if sweep.purpose != "gap":
        return Done(cursor, problem)
    to_id = _NO_BOUND if sweep.until_id is None else sweep.until_id
    token = sweep.token if rules.kind == "list" else None
    return Short(cursor, Unread(sweep.since_id, to_id, "repeats", token), problem)


def _empty_pages(sweep: Sweep) -> str:
    return f"X sent {sweep.pages} pages without a post, each with another to follow."


def give_up(sweep: Sweep, *, cursor: Cursor | None, why: Why) -> Done | Short | None:
    """End a sweep that cannot continue; None if it has read nothing, so that nothing moves."""
    return None if sweep.oldest_id is None else _short(sweep, cursor, why)


def without_token(sweep: Sweep, rules: ReadingRules) -> Sweep:
    """The same sweep after X refused its token: below what was read; a list, from its head."""
    if rules.kind == "list" or sweep.oldest_id is None:
        return replace(sweep, token=None, passed=0)
    return replace(sweep, token=None, until_id=sweep.oldest_id)


def after_stale(
    sweep: Sweep, suggested: int | None, *, cursor: Cursor | None, rules: ReadingRules, now_ms: int
) -> Begun | Done | Short:
    """What to do when search finds the sweep's `since_id` too old; `suggested` is X's own.

    A sweep with pages waited too long between two of them: it ends, and its gap starts over.
    """
    ended = give_up(sweep, cursor=cursor, why="quota")
    if ended is not None:
        return ended
    return above_floor(sweep, max(suggested or 0, floor_of(rules, now_ms=now_ms) or 0))


def wanted(page: Page, exclude: tuple[Excluded, ...]) -> frozenset[int]:
    """The ids of a page without those that the source leaves out, for kinds where X cannot."""
    left_out: set[int] = set()
    if "replies" in exclude:
        left_out |= page.replies
    if "retweets" in exclude:
        left_out |= page.retweets
    return frozenset(page.ids) - left_out


def _after(sweep: Sweep, page: Page, rules: ReadingRules) -> Sweep:
    newest = [id for id in (sweep.newest_id, page.newest_id) if id is not None]
    oldest = [id for id in (sweep.oldest_id, page.oldest_id) if id is not None]
    return replace(
        sweep,
        pages=sweep.pages + 1,
        pages_left=sweep.pages_left - 1,
        newest_id=max(newest, default=None),
        oldest_id=min(oldest, default=None),
        # From the first page: what appears while the others are read may be on none of them.
        asked_at_ms=unix_ms(page.asked_at) if sweep.pages == 0 else sweep.asked_at_ms,
        # X also counts the posts that it leaves out of a page.
        passed=sweep.passed + (len(page.ids) if page.next_token is None else rules.page_size),
        token=page.next_token,
    )


def _is_below_floor(sweep: Sweep, page: Page, rules: ReadingRules) -> bool:
    """Lists are read from the head, down to a page that ends below where the last sweep began."""
    return (
        rules.kind == "list"
        and sweep.since_id is not None
        and bool(page.ids)
        and page.ids[-1] <= sweep.since_id
    )


def _is_at_reach(sweep: Sweep, rules: ReadingRules) -> bool:
    """Whether it may have ended at the limit of what X shows, rather than at the last post.

    This allows for one page less: deleted posts leave pages short without being made up for.
    """
    return rules.reach is not None and sweep.passed > rules.reach - rules.page_size


def _end_of_sweep(sweep: Sweep, cursor: Cursor | None) -> Done:
    return Done(_moved(sweep, cursor))


def _short(sweep: Sweep, cursor: Cursor | None, why: Why) -> Done | Short:
    to_id = sweep.oldest_id if sweep.oldest_id is not None else sweep.until_id
    if sweep.purpose == "overlap" or to_id is None:
        return _end_of_sweep(sweep, cursor)
    if sweep.since_id is not None and to_id <= sweep.since_id + 1:
        return _end_of_sweep(sweep, cursor)
    token = sweep.token if why in ("budget", "quota") else None
    return Short(_moved(sweep, cursor), Unread(sweep.since_id, to_id, why, token))


def _moved(sweep: Sweep, cursor: Cursor | None) -> Cursor | None:
    """The cursor after a sweep; only a poll moves it.

    If X gave no time, an earlier poll's still holds: everything up to then was read.
    """
    if sweep.purpose != "poll":
        return cursor
    known = cursor or Cursor(sweep.since_id or 0)
    return Cursor(
        max(known.latest_id, sweep.newest_id or 0),
        known.asked_at_ms if sweep.asked_at_ms is None else sweep.asked_at_ms,
        max(known.passed_id, sweep.since_id or 0),
    )


_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def unix_ms(at: datetime | None) -> int | None:
    """Truncated to the millisecond, so never later."""
    return None if at is None else (at - _UNIX_EPOCH) // MILLISECOND
