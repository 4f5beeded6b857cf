"""Which tweets of the list somebody chose: ticked ones, or all that match its address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from trackers.listing.matching import matching
from trackers.listing.wanted import Wanted, wanted
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.bounded import TookTooLong, bounded

# A page has fifty boxes.
TICKED_MOST = 1000
# Somebody waits for the number.
COUNT_TAKES = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Chosen:
    """`ids`: ticked ones; with `is_all` they do not count. `wanted`: the list that they are from,
    and to which the person returns."""

    ids: tuple[int, ...]
    wanted: Wanted
    is_all: bool = False

    def tweets(self, *, now: datetime) -> QuerySet[Tweet]:
        if self.is_all:
            return matching(self.wanted, now=now)
        return Tweet.objects.filter(pk__in=self.ids)

    @property
    def query(self) -> str:
        """The query of the list."""
        return self.wanted.address()

    @property
    def address(self) -> str:
        """The query of the page that asks what to do with them."""
        if self.is_all:
            return urlencode({"all": "1", "query": self.query})
        return urlencode([*(("ids", id) for id in self.ids), ("query", self.query)])


def chosen(given: QueryDict) -> Chosen:
    """Nonsense is ignored."""
    ids = [int(id) for id in given.getlist("ids")[:TICKED_MOST] if re.fullmatch(r"\d{1,19}", id)]
    return Chosen(
        tuple(dict.fromkeys(id for id in ids if id <= LARGEST_ID)),
        wanted(QueryDict(given.get("query", "")[:2000])),
        is_all=given.get("all") == "1",
    )


def how_many(tweets: QuerySet[Tweet]) -> int | None:
    """None where it takes too long to wait for."""
    try:
        with bounded(COUNT_TAKES):
            return tweets.count()
    except TookTooLong:
        return None
