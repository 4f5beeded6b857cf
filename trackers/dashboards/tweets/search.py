"""What the address of the tweets page asks for, and the page of tweets that answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from django.http import QueryDict

from trackers.dashboards import tweet_states as states
from trackers.dashboards.tweet_states import STATES
from trackers.tweets.finding.finder import SEARCH_TAKES, Finder, Finds
from trackers.tweets.finding.way import Way
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.bounded import Deadline, bounded

PAGE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """`before` and `after` are ids: the page begins below the first, or ends above the second."""

    words: str = ""
    state: str = ""
    before: int | None = None
    after: int | None = None

    @property
    def narrowed(self) -> bool:
        return bool(self.words or self.state)

    @property
    def way(self) -> Way:
        if self.after is not None:
            return Way(self.after, up=True)
        return Way() if self.before is None else Way(self.before)

    def address(self, *, before: int | None = None, after: int | None = None) -> str:
        """The query string of another page of this search."""
        given = {"q": self.words, "state": self.state, "before": before, "after": after}
        return urlencode({name: value for name, value in given.items() if value})

    @property
    def here(self) -> str:
        return self.address(before=self.before, after=self.after)


@dataclass(frozen=True, slots=True)
class Page:
    """Tweets, newest first. `older` and `newer` are the neighbouring pages' queries, or empty.

    `further`: the search is not finished, and the next page goes on from there.
    """

    tweets: list[Tweet]
    older: str = ""
    newer: str = ""
    further: bool = False
    note: str = ""


def wanted(query: QueryDict) -> Wanted:
    """Read the address; anything in it that makes no sense is ignored."""
    state = query.get("state", "")
    words = query.get("q", "").replace("\0", "")[:200]
    return Wanted(
        # A space after the last word says that the word is complete.
        words=words.lstrip() if words.strip() else "",
        state=state if state in STATES else "",
        before=an_id(query.get("before", "")),
        after=an_id(query.get("after", "")),
    )


def an_id(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,19}", text) and int(text) <= LARGEST_ID else None


def page(wanted: Wanted) -> Page:
    """One page by keyset: as fast at the millionth tweet as at the first."""
    way = wanted.way
    if not wanted.narrowed:
        return paged(wanted, *everything(way))
    with bounded(SEARCH_TAKES) as deadline:
        finder = finder_for(wanted.state, deadline)
        if wanted.words:
            found = finder.find(wanted.words, way)
        else:
            source = partial(states.candidates, wanted.state)
            found = finder.by_candidates(source, way)
        tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(found.ids)
    return paged(wanted, [tweets[id] for id in found.ids if id in tweets], found)


def finder_for(name: str, deadline: Deadline) -> Finder:
    """A finder for the tweets in a state, or for all."""
    if not name:
        return Finder(deadline, PAGE + 1)

    def sieve(ids: list[int]) -> list[int]:
        tweets = states.in_state(Tweet.objects.filter(pk__in=ids), name)
        kept = set(tweets.values_list("pk", flat=True))
        return [id for id in ids if id in kept]

    few = partial(states.candidates, name) if name in states.FEW else None
    start = states.first_resting if name == "resting" else lambda way: way
    return Finder(deadline, PAGE + 1, sieve, few, start)


def everything(way: Way) -> tuple[list[Tweet], Finds]:
    tweets = Tweet.objects.select_related("author", "tweettext")
    if way.up:
        tweets = tweets.filter(pk__gt=way.beyond).order_by("pk")
    else:
        tweets = tweets.filter(pk__lt=way.beyond).order_by("-pk")
    return list(tweets[: PAGE + 1]), Finds([])


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
