"""Is everything fresh? In one line on the overview, and in a word or two in the menu of each page.

One statement reads what the menu shows and whether everything is paused, for pages that show it:
the person's unread alerts, too, which are a number in the menu.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from trackers.alerts.unread import COUNT_UNREAD, UNREAD_MOST
from trackers.dashboards.access import VIEW_ALERTS
from trackers.dashboards.figures import LATE_AFTER, VERY_LATE_AFTER
from trackers.dashboards.words import Moment, ago, commas, lasting
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.observed.models import Worker
from trackers.jobs.statistics import FRESH_FOR
from tweetwatch.amounts import amount
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_FRESHNESS = statement(__file__, "freshness", unread="NULL")
_WITH_UNREAD = statement(__file__, "freshness", unread=COUNT_UNREAD)


@dataclass(frozen=True, slots=True)
class Headline:
    mood: str  # "good", "warn", "bad", or empty where there is nothing to be fresh
    title: str
    sentence: str
    brief: str  # for the menu


def headline(
    *, scheduled: int, due: int, overdue: float, idle: str = "", waiting: int = 0
) -> Headline:
    """Of the queue of tweets. `overdue`: the longest, in seconds. `idle`: why nothing is being
    checked, if so. `waiting`: about how many tweets wait for the next UTC day's money."""
    if not scheduled:
        title = "Nothing to check"
        return Headline("", title, "No tweet has a next check.", "nothing to check")
    if idle and overdue < LATE_AFTER:
        because = f"No tweet is late yet, but {idle}."
        return Headline("warn", "Nothing is being checked", because, idle)
    if waiting and overdue < LATE_AFTER:
        wait = amount(waiting, "tweet waits", "tweets wait")
        title = f"About {wait} for tomorrow's budget"
        sentence = "No other tweet is late. A new day begins at 00:00 UTC."
        return Headline("warn", title, sentence, "short of money")
    if overdue < 1:
        return Headline("good", "Everything is fresh", _nothing_overdue(due), "fresh")
    late = lasting(timedelta(seconds=overdue))
    since = f"The most overdue tweet should have been checked {late} ago."
    if overdue < LATE_AFTER:
        return Headline("good", "Everything is fresh", since, "fresh")
    mood = "warn" if overdue < VERY_LATE_AFTER else "bad"
    return Headline(mood, f"{late} late", since, f"{late} late")


def _nothing_overdue(due: int) -> str:
    if not due:
        return "No tweet is overdue."
    return f"No tweet is overdue; {commas(due)} became due this second."


@dataclass(frozen=True, slots=True)
class PauseLine:
    by: str
    because: str
    since: Moment


@dataclass(frozen=True, slots=True)
class Freshness:
    headline: Headline
    pause_line: PauseLine | None
    unread: str  # such as "3"; empty for none


def freshness(request: HttpRequest) -> dict[str, object]:
    """For templates. Asked of the database only by those that show it."""
    read = SimpleLazyObject(lambda: _read_freshness(cast(User, request.user)))
    return {
        "freshness": read,
        "pause_line": SimpleLazyObject(lambda: read.pause_line),
        "unread_alerts": SimpleLazyObject(lambda: read.unread),
    }


def _read_freshness(person: User) -> Freshness:
    params = {
        "queue": TWEET_UPDATE, "silent_after": Worker.SILENT_AFTER, "fresh_for": FRESH_FOR,
        "person": person.pk,
    }  # fmt: skip
    query = _WITH_UNREAD if person.has_perm(VIEW_ALERTS) else _FRESHNESS
    with cursor() as db:
        row = db.execute(query, params).fetchone()
    assert row is not None
    now, by, because, since, works, asks, is_taken, scheduled, due, overdue, unread = row
    paused = PauseLine(by, because, ago(since, now=now)) if since else None
    return Freshness(
        _of_menu(
            idle=_why_idle(paused=since is not None, works=works, asks=asks),
            counted=(scheduled, due, overdue) if is_taken else None,
        ),
        paused,
        f"{UNREAD_MOST}+" if (unread or 0) > UNREAD_MOST else str(unread or ""),
    )


def _why_idle(*, paused: bool, works: bool, asks: bool) -> str:
    if paused:
        return "everything is paused"
    if not works:
        return "no worker is running"
    return "" if asks else "no credential is enabled"


def _of_menu(*, idle: str, counted: tuple[int, int, float] | None) -> Headline:
    """`counted`: tweets that have a next check, those that are due, and the longest overdue; None
    where no cluster has counted lately, and the menu does not either."""
    if idle:
        return Headline("bad", "Nothing is being checked", f"The reason: {idle}.", idle)
    if counted is None:
        return Headline("", "Operations", "Nobody has counted lately.", "not counted yet")
    scheduled, due, overdue = counted
    return headline(scheduled=scheduled, due=due, overdue=overdue)
