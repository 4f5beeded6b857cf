"""The page of tweets for an address, newest first, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from trackers.listing.narrow import Narrow, all_tweets
from trackers.listing.wanted import Wanted
from trackers.tweets.finding.finder import SEARCH_TAKES, Finds
from trackers.tweets.finding.way import Way
from trackers.tweets.models import Tweet
from trackers.tweets.movers.models import Mover
from tweetwatch.bounded import bounded

PAGE = 50
COUNTED_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """Tweets in the requested order. `older` and `newer` are the neighbouring pages' queries, or
    empty.

    `further`: the search is not finished, and the next page continues it. `grown`: what the tweets
    gained, if that is the order. `known`: how many there are in all, if that is known.
    """

    tweets: list[Tweet]
    older: str = ""
    newer: str = ""
    further: bool = False
    note: str = ""
    grown: dict[int, Mover] = field(default_factory=dict)
    known: int | None = None


def page(wanted: Wanted, *, now: datetime) -> Page:
    """One page by keyset: as fast at the millionth tweet as at the first."""
    way = way_of(wanted)
    if not wanted.narrowed:
        return paged(wanted, *everything(way))
    found = find(wanted, way, PAGE + 1, now=now)
    tweets = in_full(found.ids)
    return paged(wanted, [tweets[id] for id in found.ids if id in tweets], found)


def some(wanted: Wanted, way: Way, most: int, *, now: datetime) -> Finds:
    """The next ids, of all tweets or of those that match."""
    if not wanted.narrowed:
        return Finds(all_tweets(way, most).ids)
    return find(wanted, way, most, now=now)


def find(wanted: Wanted, way: Way, most: int, *, now: datetime) -> Finds:
    """The next ids that match; takes at most a second."""
    with bounded(SEARCH_TAKES) as deadline:
        narrow = Narrow.of(wanted, now=now)
        finder = narrow.finder(deadline, most)
        if wanted.words:
            found = finder.find(wanted.words, way)
            if found.until is not None and not narrow.low <= found.until < narrow.high:
                found = Finds(found.ids, None if not way.up else found.until, found.note)
            return found
        return finder.by_candidates(narrow.candidates, way)


def in_full(ids: list[int]) -> dict[int, Tweet]:
    return Tweet.objects.select_related("author", "tweettext").in_bulk(ids)


def counted_all() -> int:
    """How many tweets there are, up to one more than COUNTED_MOST."""
    return Tweet.objects.all()[: COUNTED_MOST + 1].count()


def way_of(wanted: Wanted) -> Way:
    if wanted.after is not None:
        return Way(wanted.after, up=True)
    return Way() if wanted.before is None else Way(wanted.before)


def everything(way: Way) -> tuple[list[Tweet], Finds]:
    tweets = Tweet.objects.select_related("author", "tweettext")
    if way.up:
        tweets = tweets.filter(pk__gt=way.beyond).order_by("pk")
    else:
        tweets = tweets.filter(pk__lt=way.beyond).order_by("-pk")
    return list(tweets[: PAGE + 1]), Finds()


def paged(wanted: Wanted, tweets: list[Tweet], found: Finds) -> Page:
    """`tweets` are in the order of the search, with one extra if there are more."""
    shown, more = tweets[:PAGE], len(tweets) > PAGE
    on = shown[-1].pk if more else found.until
    if wanted.after is None:
        older = wanted.address(before=on) if on else ""
        back = shown[0].pk if shown else wanted.before
        newer = wanted.address(after=back) if wanted.before is not None and back else ""
    else:
        shown = shown[::-1]
        newer = wanted.address(after=on) if on else ""
        older = wanted.address(before=shown[-1].pk if shown else wanted.after + 1)
    return Page(shown, older, newer, further=not more and bool(found.until), note=found.note)
