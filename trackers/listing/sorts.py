"""The tweets page in another order than the newest first.

A few thousand tweets are sorted as they are. Of more, no index has their figures in order, since
each measurement would have to write it: then the lists answer that are kept of the highest figures
and of what grows fastest (trackers.tweets.movers), and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Lower

from trackers.listing.narrow import Narrow
from trackers.listing.search import PAGE, Page, in_full
from trackers.listing.wanted import Sort, Wanted
from trackers.tweets.finding.finder import SEARCH_TAKES
from trackers.tweets.finding.way import Way
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.movers.keep import LIST_MOST
from trackers.tweets.movers.models import Mover
from trackers.updater.models import TweetUpdate
from tweetwatch.bounded import Deadline, bounded

# So many are sorted as they are.
SORTED_MOST = 3_000
RANKED = (
    f"More than {SORTED_MOST:,} tweets match. Only those among the {LIST_MOST:,} with the highest "
    "figure of all are sorted here; choose an author, a source or a state to sort them all."
)
UNSORTED = (
    f"More than {SORTED_MOST:,} tweets match, too many to be sorted by this column. Choose an "
    "author, a source or a state. These are the newest."
)


def sorted_page(wanted: Wanted, *, now: datetime) -> Page | None:
    """One page; None if there are too many tweets for this order."""
    with bounded(SEARCH_TAKES) as deadline:
        narrow = Narrow.of(wanted, now=now)
        if wanted.sort.window:
            return grown(wanted, narrow, deadline)
        ids = few(wanted, narrow, deadline)
        if ids is not None:
            found = in_order(ids, wanted.sort)
            return numbered(wanted, in_that_order, list(found), known=len(ids))
        if wanted.sort.by in METRICS and not wanted.sort.up:
            listed = Mover.objects.highest(wanted.sort.by)
            ranked = kept(list(listed.values_list("tweet_id", flat=True)), wanted, narrow, deadline)
            return numbered(wanted, in_that_order, ranked, note=RANKED if wanted.narrowed else "")
    return None


def few(wanted: Wanted, narrow: Narrow, deadline: Deadline) -> list[int] | None:
    """All that match, unless they are more than SORTED_MOST, or not all are found in time."""
    if wanted.words:
        found = narrow.finder(deadline, SORTED_MOST + 1).find(wanted.words, Way())
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


def grown(wanted: Wanted, narrow: Narrow, deadline: Deadline) -> Page:
    """Those of a list of what grows fastest."""
    sort = wanted.sort
    assert sort.window
    by = "gain" if sort.by == "gain" else "velocity"
    listed = Mover.objects.fastest(sort.window, sort.metric, by=by)  # type: ignore[arg-type]
    if not wanted.narrowed:
        first = (wanted.number - 1) * PAGE
        some = list(listed[first : first + PAGE + 1])
    else:
        ids = kept(list(listed.values_list("tweet_id", flat=True)), wanted, narrow, deadline)
        first = (wanted.number - 1) * PAGE
        here = ids[first : first + PAGE + 1]
        there = {one.tweet_id: one for one in listed.filter(tweet__in=here)}
        some = [there[id] for id in here if id in there]
    shown = some[:PAGE]
    return Page(
        [one.tweet for one in shown],
        older=wanted.address(number=wanted.number + 1) if len(some) > PAGE else "",
        newer=wanted.address(number=wanted.number - 1) if wanted.number > 1 else "",
        grown={one.tweet_id: one for one in shown},
    )


def kept(ids: list[int], wanted: Wanted, narrow: Narrow, deadline: Deadline) -> list[int]:
    """Those that match, in the given order."""
    if wanted.filtered:
        ids = narrow.sieve(ids)
    if wanted.words:
        deadline.enforce()
        finder = narrow.finder(deadline, LIST_MOST * 2)
        said = set(finder.among(wanted.words, ids))
        ids = [id for id in ids if id in said]
    return ids


def in_that_order(ids: list[int]) -> list[Tweet]:
    tweets = in_full(ids)
    return [tweets[id] for id in ids if id in tweets]


def numbered(
    wanted: Wanted,
    read: Callable[[list[int]], list[Tweet]],
    ids: list[int],
    *,
    note: str = "",
    known: int | None = None,
) -> Page:
    """A page of ids that are in their order already."""
    first = (wanted.number - 1) * PAGE
    here = ids[first : first + PAGE]
    return Page(
        read(here),
        older=wanted.address(number=wanted.number + 1) if len(ids) > first + PAGE else "",
        newer=wanted.address(number=wanted.number - 1) if wanted.number > 1 else "",
        note=note,
        known=known,
    )
