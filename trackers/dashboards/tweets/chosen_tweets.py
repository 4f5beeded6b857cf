"""Which tweets of the list somebody chose: ticked ones, or all that match its address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from trackers.listing.matching import matching_tweets
from trackers.listing.query import TweetQuery, parse_query
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.time_limits import TookTooLong, limit_time

# A page has fifty boxes.
_MAX_TICKED = 1000
# Somebody waits for the number.
_MAX_COUNTING_TIME = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class ChosenTweets:
    ids: tuple[int, ...]  # ticked ones; with `is_all` they do not count
    wanted: TweetQuery  # the list that they are from, and to which the person returns
    is_all: bool = False

    def tweets(self, *, now: datetime) -> QuerySet[Tweet]:
        if self.is_all:
            return matching_tweets(self.wanted, now=now)
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


def read_chosen(form: QueryDict) -> ChosenTweets:
    """Nonsense is ignored."""
    ids = [int(id) for id in form.getlist("ids")[:_MAX_TICKED] if re.fullmatch(r"\d{1,19}", id)]
    return ChosenTweets(
        tuple(dict.fromkeys(id for id in ids if id <= LARGEST_ID)),
        parse_query(QueryDict(form.get("query", "")[:2000])),
        is_all=form.get("all") == "1",
    )


def count_in_time(tweets: QuerySet[Tweet]) -> int | None:
    """None where it takes too long to wait for."""
    try:
        with limit_time(_MAX_COUNTING_TIME):
            return tweets.count()
    except TookTooLong:
        return None
