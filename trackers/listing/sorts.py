"""The tweets page in an order other than newest first.

A few thousand tweets are sorted directly. For more, no index has their metrics in order, since each
measurement would have to write it. Then the page uses the stored lists of the highest metrics and
of what grows fastest (trackers.tweets.movers), and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Lower

from trackers.listing.narrow import Narrow
from trackers.listing.search import PAGE, Page, in_full
from trackers.listing.wanted import Sort, Wanted
from trackers.tweets.finding.finder import FIRST_STEPS, SEARCH_TAKES, TooMany
from trackers.tweets.finding.way import Way
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.movers.keep import LIST_MOST
from trackers.tweets.movers.models import Mover
from trackers.updater.models import TweetUpdate
from tweetwatch.bounded import bounded, enforce
from tweetwatch.pieces import Deadline

# Up to this many tweets are sorted directly.
SORTED_MOST = 3_000
RANKED = (
    f"More than {SORTED_MOST:,} tweets match. Only those among the {LIST_MOST:,} with the highest "
    "figure of all are sorted here; choose an author, a source or a state to sort them all."
)
UNSORTED = (
    f"More than {SORTED_MOST:,} tweets match, too many to be sorted by this column. Choose an "
    "author, a source or a state. These are the newest."
)


@dataclass(frozen=True, slots=True)
class Ordered:
    """Ids in the requested order. `known`: how many match in all, if that is known."""

    ids: list[int]
    note: str = ""
    known: int | None = None


def sorted_page(wanted: Wanted, *, now: datetime) -> Page | None:
    """One page; None if there are too many tweets for this order."""
    first = (wanted.number - 1) * PAGE
    with bounded(SEARCH_TAKES) as deadline:
        found = ordered(wanted, deadline, most=first + PAGE + 1, now=now)
        if found is None:
            return None
        return replace(
            part(wanted, found.ids[first : first + PAGE]),
            older=wanted.address(number=wanted.number + 1) if found.ids[first + PAGE :] else "",
            newer=wanted.address(number=wanted.number - 1) if wanted.number > 1 else "",
            note=found.note,
            known=found.known,
        )


def sorted_parts(wanted: Wanted, at_once: int, *, now: datetime) -> Iterator[Page] | None:
    """All tweets in their present order, `at_once` to a page; None as for `sorted_page`."""
    with bounded(SEARCH_TAKES) as deadline:
        found = ordered(wanted, deadline, most=None, now=now)
    if found is None:
        return None
    ids = found.ids
    return (part(wanted, ids[at : at + at_once]) for at in range(0, len(ids), at_once))


def ordered(
    wanted: Wanted, deadline: Deadline, *, most: int | None, now: datetime
) -> Ordered | None:
    """At least the first `most` ids, or all; None if there are too many for this order."""
    narrow = Narrow.of(wanted, now=now)
    sort = wanted.sort
    if sort.window:
        return Ordered(kept(fastest(sort), wanted, narrow, deadline, most=most))
    ids = few(wanted, narrow, deadline)
    if ids is not None:
        return Ordered(list(in_order(ids, sort)), known=len(ids))
    if sort.by in METRICS and not sort.up:
        found = kept(Mover.objects.highest(sort.by), wanted, narrow, deadline, most=most)
        return Ordered(found, note=RANKED if wanted.narrowed else "")
    return None


def few(wanted: Wanted, narrow: Narrow, deadline: Deadline) -> list[int] | None:
    """All that match; None if they are more than SORTED_MOST, or not all are found in time."""
    if wanted.words:
        finder = narrow.finder(deadline, SORTED_MOST + 1, all_or_none=True)
        try:
            found = finder.find(wanted.words, Way())
        except TooMany:
            return None
        return None if found.until is not None or len(found.ids) > SORTED_MOST else found.ids
    look = narrow.candidates(Way(), SORTED_MOST + 1)
    if look.until is not None:
        return None
    return narrow.sieve(look.ids) if wanted.filtered else look.ids


def in_order(ids: list[int], sort: Sort) -> QuerySet[Any, int]:
    tweets = Tweet.objects.filter(id__among=ids)
    key: Any
    if sort.by == "author":
        key = Lower("author__username")
    elif sort.by == "checked":
        key = F("measured_until")
    elif sort.by == "next":
        jobs = TweetUpdate.objects.filter(key=OuterRef("pk"))
        key = Subquery(jobs.values("due_at")[:1])
    else:
        key = F(sort.by)
    order = key.asc(nulls_last=True) if sort.up else key.desc(nulls_last=True)
    return tweets.order_by(order, "-pk").values_list("pk", flat=True)


def fastest(sort: Sort) -> QuerySet[Mover]:
    assert sort.window
    by = "gain" if sort.by == "gain" else "velocity"
    return Mover.objects.fastest(sort.window, sort.metric, by=by)  # type: ignore[arg-type]


def kept(
    listed: QuerySet[Mover],
    wanted: Wanted,
    narrow: Narrow,
    deadline: Deadline,
    *,
    most: int | None,
) -> list[int]:
    """Those of a list that match, in its order: at least the first `most`, or all."""
    rows = listed.values_list("tweet_id", flat=True)
    if not wanted.narrowed:
        return list(rows[:most])
    ids = list(rows)
    if wanted.filtered:
        ids = narrow.sieve(ids)
    if not wanted.words:
        return ids
    # Parsing a text takes 0.1 ms, so no more texts are read than a page needs. If the word is
    # frequent, most of the first ones have it.
    found: list[int] = []
    finder = narrow.finder(deadline, LIST_MOST * 2)
    for since, until in pairwise((0, *accumulate(FIRST_STEPS), len(ids))):
        enforce(deadline)
        found += finder.among(wanted.words, ids[since:until])
        if until >= len(ids) or (most is not None and len(found) >= most):
            break
    return found


def part(wanted: Wanted, ids: list[int]) -> Page:
    """A page of these tweets, without those deleted meanwhile."""
    if wanted.sort.window:
        there = {one.tweet_id: one for one in fastest(wanted.sort).filter(tweet__in=ids)}
        grown = {id: there[id] for id in ids if id in there}
        return Page([one.tweet for one in grown.values()], grown=grown)
    tweets = in_full(ids)
    return Page([tweets[id] for id in ids if id in tweets])
