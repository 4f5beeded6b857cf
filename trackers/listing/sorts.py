"""The tweets page in an order other than newest first.

Up to a few thousand matches are sorted directly. For more, no index has their metrics in order,
since each measurement would have to write it. Then the page uses the stored lists of the highest
metrics and of what grows fastest (trackers.tweets.gains), and a note says so; so it does where
filters keep so few that half of the time is over before all tweets have been searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from itertools import accumulate, pairwise
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Lower

from trackers.listing.filters import Filters
from trackers.listing.query import Sort, TweetQuery
from trackers.listing.search import LIST_PAGE_SIZE, Page, load_tweets
from trackers.scores.models import STANDS_OUT, Score
from trackers.scores.rule import MINIMUMS
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.finding.direction import Direction
from trackers.tweets.finding.finder import FIRST_STEPS, SEARCH_TIMEOUT, TooMany
from trackers.tweets.gains.models import Gain
from trackers.tweets.gains.update import MAX_LIST_LENGTH
from trackers.tweets.models import METRICS, Tweet
from trackers.updater.models import TweetUpdate
from tweetwatch.pieces import Deadline
from tweetwatch.time_limits import enforce_deadline, limit_time

# Up to this many tweets are sorted directly.
MAX_SORTED = 3_000
# How many candidates are sieved at a time, after the first ones, and for how long: the rest of a
# search's second is for the page.
_PIECE = 8_000
_SEARCH_TIME = 0.5  # seconds
# For so long scores are kept to sort by.
_SCORED_DAYS = AGES[-1].days


class Unsorted(Enum):
    """Why not all that match are there to be sorted."""

    MATCHES = f"More than {MAX_SORTED:,} tweets match"
    WORDS = "These words are too frequent to search all tweets for them"
    TIME = "Half a second was not enough to search all tweets"

    @property
    def newest_note(self) -> str:
        """Above tweets in the order of their ids."""
        return (
            f"{self.value}, so they are not sorted by this column. Choose an author, a source or a "
            "state. These are the newest."
        )

    @property
    def outstanding_note(self) -> str:
        """Above those that match among the ones that stand out."""
        return (
            f"{self.value}. Only those of the last {_SCORED_DAYS} days with at least twice what is "
            f"usual are listed here, at most {MAX_LIST_LENGTH:,}; choose an author, a source or a "
            "state to sort them all."
        )

    @property
    def ranked_note(self) -> str:
        """Above those that match among the highest of all."""
        return (
            f"{self.value}. Only those among the {MAX_LIST_LENGTH:,} with the highest figure of "
            "all are listed here; choose an author, a source or a state to sort them all."
        )


@dataclass(frozen=True, slots=True)
class OrderedIds:
    """Ids in the requested order."""

    ids: list[int]
    note: str = ""
    known: int | None = None  # how many match in all, if that is known


def sorted_page(query: TweetQuery, *, now: datetime) -> Page | Unsorted:
    """One page, or why it cannot be had in this order."""
    first = (query.number - 1) * LIST_PAGE_SIZE
    with limit_time(SEARCH_TIMEOUT) as deadline:
        order = _ordered_ids(query, deadline, most=first + LIST_PAGE_SIZE + 1, now=now)
        if isinstance(order, Unsorted):
            return order
        return replace(
            _page_of_ids(query, order.ids[first : first + LIST_PAGE_SIZE]),
            older=query.address(number=query.number + 1)
            if order.ids[first + LIST_PAGE_SIZE :]
            else "",
            newer=query.address(number=query.number - 1) if query.number > 1 else "",
            note=order.note,
            known=order.known,
        )


def ordered_ids(query: TweetQuery, *, most: int | None, now: datetime) -> OrderedIds | Unsorted:
    """At least the first `most` ids, or all, or why they cannot be had in this order."""
    with limit_time(SEARCH_TIMEOUT) as deadline:
        return _ordered_ids(query, deadline, most=most, now=now)


def sorted_parts(
    query: TweetQuery, part_size: int, *, now: datetime
) -> Iterator[tuple[list[int], dict[int, Gain]]] | None:
    """All ids in their present order, so many to a part, with what they gained if that is the
    order; None if not in this order."""
    order = ordered_ids(query, most=None, now=now)
    if isinstance(order, Unsorted):
        return None
    ids = order.ids
    parts = (ids[at : at + part_size] for at in range(0, len(ids), part_size))
    return ((part, _gains_of(query.sort, part)) for part in parts)


def _ordered_ids(
    query: TweetQuery, deadline: Deadline, *, most: int | None, now: datetime
) -> OrderedIds | Unsorted:
    filters = Filters.of(query, now=now)
    sort = query.sort
    if sort.window:
        return OrderedIds(_matches_in_list(_fastest(sort), query, filters, deadline, most=most))
    ids = _few_matches(query, filters, deadline)
    if not isinstance(ids, Unsorted):
        return OrderedIds(list(_sort_ids(ids, sort)), known=len(ids))
    if sort.by == "score":
        listed = _outstanding(sort.metric, filters)
        matches = _matches_in_list(listed, query, filters, deadline, most=most)
        return OrderedIds(matches, note=ids.outstanding_note)
    if sort.by in METRICS and not sort.up:
        matches = _matches_in_list(
            Gain.objects.highest(sort.by), query, filters, deadline, most=most
        )
        return OrderedIds(matches, note=ids.ranked_note if query.narrowed else "")
    return ids


def _few_matches(query: TweetQuery, filters: Filters, deadline: Deadline) -> list[int] | Unsorted:
    """All that match, if they are no more than MAX_SORTED and found in time."""
    if query.words:
        finder = filters.finder(deadline, MAX_SORTED + 1, all_or_none=True)
        try:
            finds = finder.find(query.words, Direction())
        except TooMany:
            return Unsorted.WORDS
        if len(finds.ids) > MAX_SORTED:
            return Unsorted.MATCHES
        return finds.ids if finds.until is None else Unsorted.WORDS
    ids: list[int] = []
    time_left, direction, size = Deadline.after(_SEARCH_TIME), Direction(), MAX_SORTED + 1
    while True:
        candidates = filters.candidates(direction, size)
        ids += filters.sieve(candidates.ids) if query.filtered else candidates.ids
        if len(ids) > MAX_SORTED:
            return Unsorted.MATCHES
        if candidates.until is None:
            return ids
        if time_left.is_over:
            return Unsorted.TIME
        direction, size = direction.on_from(candidates.until), _PIECE


def _sort_ids(ids: list[int], sort: Sort) -> QuerySet[Any, int]:
    tweets = Tweet.objects.filter(id__among=ids)
    key: Any
    if sort.by == "score":
        scores = Score.objects.filter(tweet=OuterRef("pk"))
        key = Subquery(scores.values(sort.metric)[:1])
    elif sort.by == "author":
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


def _fastest(sort: Sort) -> QuerySet[Gain]:
    assert sort.window
    by = "gain" if sort.by == "gain" else "velocity"
    return Gain.objects.fastest(sort.window, sort.metric, by=by)  # type: ignore[arg-type]


def _outstanding(metric: str, filters: Filters) -> QuerySet[Score]:
    """From the index of those that stand out, in its order; where enough is expected."""
    enough = {f"{metric}__gte": STANDS_OUT, f"expected_{metric}__gte": MINIMUMS[metric]}
    return Score.objects.filter(
        **enough, tweet_id__gte=filters.low, tweet_id__lt=filters.high, tweet__gone_at=None
    ).order_by(f"-{metric}", "-tweet_id")[:MAX_LIST_LENGTH]


def _matches_in_list(
    listed: QuerySet[Gain] | QuerySet[Score],
    query: TweetQuery,
    filters: Filters,
    deadline: Deadline,
    *,
    most: int | None,
) -> list[int]:
    """Those of a list that match, in its order: at least the first `most`, or all."""
    rows = listed.values_list("tweet_id", flat=True)
    if not query.narrowed:
        return list(rows[:most])
    ids = list(rows)
    if query.filtered:
        ids = filters.sieve(ids)
    if not query.words:
        return ids
    # Parsing a text takes 0.1 ms, so no more texts are read than a page needs. If the word is
    # frequent, most of the first ones have it.
    matches: list[int] = []
    finder = filters.finder(deadline, MAX_LIST_LENGTH * 2)
    for since, until in pairwise((0, *accumulate(FIRST_STEPS), len(ids))):
        enforce_deadline(deadline)
        matches += finder.among(query.words, ids[since:until])
        if until >= len(ids) or (most is not None and len(matches) >= most):
            break
    return matches


def _page_of_ids(query: TweetQuery, ids: list[int]) -> Page:
    """A page of these tweets, without those deleted meanwhile."""
    if query.sort.window:
        grown = _gains_of(query.sort, ids)
        return Page([row.tweet for row in grown.values()], grown=grown)
    tweets = load_tweets(ids)
    return Page([tweets[id] for id in ids if id in tweets])


def _gains_of(sort: Sort, ids: list[int]) -> dict[int, Gain]:
    """In the order of the ids; empty if it is not an order by gains."""
    if not sort.window:
        return {}
    rows = {row.tweet_id: row for row in _fastest(sort).filter(tweet__in=ids)}
    return {id: rows[id] for id in ids if id in rows}
