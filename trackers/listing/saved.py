"""The tweets of a saved view: one evaluator for lists, columns, feeds, sets, alerts and the API.

Its order and its columns are for the list alone: here the newest come first. Each function takes
the `query` of a view, in which nonsense is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict

from trackers.listing.filters import Filters
from trackers.listing.query import NEWEST_FIRST, TweetQuery, parse_query
from trackers.listing.search import next_ids
from trackers.listing.search_slots import search_slot
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.members import Members
from trackers.tweets.finding.direction import Direction
from trackers.tweets.finding.finder import SEARCH_TIMEOUT
from tweetwatch.pieces import Deadline
from tweetwatch.time_limits import limit_time

MAX_MATCHES = 3000
_LOOKS = ("columns", "rows", "order", "before", "after", "page")
# A search for rare words among many tweets ends after this, and says how far it came.
_SEARCH_SECONDS = 0.5


def parse_view(query: str) -> TweetQuery:
    """What it asks for, from its first page on."""
    asked = parse_query(QueryDict(query))
    return replace(asked, sort=NEWEST_FIRST, before=None, after=None, number=1)


def plain_query(text: str) -> str:
    """The `query` of a view that asks for this, as in the address of a list.

    A ValidationError names what in it is not understood. Its place, and how it looks, do not count.
    """
    given = QueryDict(text)
    asked = parse_query(given)
    known = {*QueryDict(replace(asked, sort=NEWEST_FIRST).address()), *_LOOKS} - {"sort"}
    if given.get("sort") in (asked.sort.name, "newest"):
        known.add("sort")
    unknown = [name[:40] for name, value in given.items() if value and name not in known]
    if unknown:
        raise ValidationError({"query": f"Not understood: {', '.join(unknown)}."})
    return asked.address()


def newest_matches(query: str, *, now: datetime, most: int = MAX_MATCHES) -> Members:
    """At most so many; MAX_MATCHES are the view's set. TookTooLong after a second."""
    asked = parse_view(query)
    ids: list[int] = []
    way, time_left = Direction(), Deadline.after(_SEARCH_SECONDS)
    while True:
        finds = next_ids(asked, way, most - len(ids), now=now)
        ids += finds.ids
        if finds.until is None or len(ids) >= most:
            return Members(ids, complete_from=0)
        if time_left.is_over:
            return Members(ids, complete_from=finds.until)
        way = Direction(finds.until)


def matches_of_set(request: HttpRequest, of: TweetSet, *, now: datetime) -> Members | None:
    """What the figures of a saved view are of; None for other sets. It takes a place among the
    searches: NoFreeSlot, ClientGone, TookTooLong."""
    if of.kind != SetKind.VIEW:
        return None
    with search_slot(request):
        return newest_matches(of.query, now=now)


def matching_among(query: str, ids: Iterable[int], *, now: datetime) -> set[int]:
    """Which of these tweets the view has, gone ones too; a constant number of statements, by keys.

    TookTooLong after a second: some ten thousand ids are too many.
    """
    asked, candidates = parse_view(query), list(ids)
    if not asked.narrowed or not candidates:
        return set(candidates)
    with limit_time(SEARCH_TIMEOUT) as deadline:
        filters = Filters.of(asked, now=now)
        matches = filters.sieve(candidates)
        if asked.words and matches:
            matches = filters.finder(deadline, len(matches)).among(asked.words, matches)
        return set(matches)
