"""The page of tweets for an address, newest first, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from trackers.listing.filters import Filters, all_tweets
from trackers.listing.query import TweetQuery
from trackers.tweets.finding.direction import Direction
from trackers.tweets.finding.finder import SEARCH_TIMEOUT, Finds
from trackers.tweets.gains.models import Gain
from trackers.tweets.models import Tweet
from tweetwatch.time_limits import limit_time

LIST_PAGE_SIZE = 50
MAX_TWEETS_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """Tweets, in the requested order where that can be had."""

    tweets: list[Tweet]
    older: str = ""  # the next page's query, or empty
    newer: str = ""  # the previous page's query, or empty
    further: bool = False  # the search is not finished, and the next page continues it
    note: str = ""
    is_sorted: bool = True  # in the requested order; if not, the newest first
    # What the tweets gained, if that is the order.
    grown: dict[int, Gain] = field(default_factory=dict)
    known: int | None = None  # how many there are in all, if that is known


def newest_page(query: TweetQuery, *, now: datetime) -> Page:
    """One page by keyset: as fast at the millionth tweet as at the first."""
    way = _way_of(query)
    if not query.narrowed:
        return _make_page(query, *_next_tweets(way))
    finds = _find_matches(query, way, LIST_PAGE_SIZE + 1, now=now)
    tweets = load_tweets(finds.ids)
    return _make_page(query, [tweets[id] for id in finds.ids if id in tweets], finds)


def next_ids(query: TweetQuery, way: Direction, most: int, *, now: datetime) -> Finds:
    """The next ids, of all tweets or of those that match."""
    if not query.narrowed:
        return Finds(all_tweets(way, most).ids)
    return _find_matches(query, way, most, now=now)


def _find_matches(query: TweetQuery, way: Direction, most: int, *, now: datetime) -> Finds:
    """The next ids that match; takes at most a second."""
    with limit_time(SEARCH_TIMEOUT) as deadline:
        filters = Filters.of(query, now=now)
        finder = filters.finder(deadline, most)
        if query.words:
            finds = finder.find(query.words, way)
            if finds.until is not None and not filters.low <= finds.until < filters.high:
                finds = Finds(finds.ids, None if not way.up else finds.until, finds.note)
            return finds
        return finder.by_candidates(filters.candidates, way)


def load_tweets(ids: list[int]) -> dict[int, Tweet]:
    return Tweet.objects.select_related("author", "tweettext").in_bulk(ids)


def count_tweets() -> int:
    """How many tweets there are, up to one more than COUNTED_MOST."""
    return Tweet.objects.all()[: MAX_TWEETS_COUNTED + 1].count()


def _way_of(query: TweetQuery) -> Direction:
    if query.after is not None:
        return Direction(query.after, up=True)
    return Direction() if query.before is None else Direction(query.before)


def _next_tweets(way: Direction) -> tuple[list[Tweet], Finds]:
    tweets = Tweet.objects.select_related("author", "tweettext")
    if way.up:
        tweets = tweets.filter(pk__gt=way.beyond).order_by("pk")
    else:
        tweets = tweets.filter(pk__lt=way.beyond).order_by("-pk")
    return list(tweets[: LIST_PAGE_SIZE + 1]), Finds()


def _make_page(query: TweetQuery, tweets: list[Tweet], finds: Finds) -> Page:
    """`tweets` are in the order of the search, with one extra if there are more."""
    shown_tweets, more = tweets[:LIST_PAGE_SIZE], len(tweets) > LIST_PAGE_SIZE
    on = shown_tweets[-1].pk if more else finds.until
    if query.after is None:
        older = query.address(before=on) if on else ""
        back = shown_tweets[0].pk if shown_tweets else query.before
        newer = query.address(after=back) if query.before is not None and back else ""
    else:
        shown_tweets = shown_tweets[::-1]
        newer = query.address(after=on) if on else ""
        older = query.address(before=shown_tweets[-1].pk if shown_tweets else query.after + 1)
    return Page(shown_tweets, older, newer, further=not more and bool(finds.until), note=finds.note)
