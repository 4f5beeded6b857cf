"""The tweets of a saved view: its newest matches, whatever order it asks for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.http import QueryDict

from trackers.listing.query import NEWEST_FIRST, parse_query
from trackers.listing.search import next_ids
from trackers.sets.members import Members
from trackers.tweets.finding.direction import Direction
from tweetwatch.pieces import Deadline

MAX_MATCHES = 3000
# A search for rare words among many tweets ends after this, and says how far it came.
_SEARCH_SECONDS = 0.5


def newest_matches(query: str, *, now: datetime) -> Members:
    """At most MAX_MATCHES, which are the view's set. TookTooLong after a second."""
    asked = replace(parse_query(QueryDict(query)), sort=NEWEST_FIRST)
    ids: list[int] = []
    way, time_left = Direction(), Deadline.after(_SEARCH_SECONDS)
    while True:
        finds = next_ids(asked, way, MAX_MATCHES - len(ids), now=now)
        ids += finds.ids
        if finds.until is None or len(ids) >= MAX_MATCHES:
            return Members(ids, complete_from=0)
        if time_left.is_over:
            return Members(ids, complete_from=finds.until)
        way = Direction(finds.until)
