"""What the address of the tweets page asks for, and the page of tweets that answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from django.http import QueryDict

from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.finding.finder import SEARCH_TAKES, Finder, Finds
from trackers.tweets.finding.finder import Source as Candidates
from trackers.tweets.finding.way import Look, Way
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from trackers.updater import states
from trackers.updater.states import STATES
from tweetwatch.bounded import Deadline, bounded

PAGE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """`before` and `after` are ids: the page begins below the first, or ends above the second."""

    words: str = ""
    state: str = ""
    source: int | None = None
    before: int | None = None
    after: int | None = None

    @property
    def narrowed(self) -> bool:
        return bool(self.words or self.state or self.source)

    @property
    def way(self) -> Way:
        if self.after is not None:
            return Way(self.after, up=True)
        return Way() if self.before is None else Way(self.before)

    def address(self, *, before: int | None = None, after: int | None = None) -> str:
        """The query of this search, on another page of it."""
        given = {
            "q": self.words, "state": self.state, "source": self.source,
            "before": before, "after": after,
        }  # fmt: skip
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
        source=an_id(query.get("source", "")),
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
        finder = finder_for(wanted, deadline)
        if wanted.words:
            found = finder.find(wanted.words, way)
        else:
            found = finder.by_candidates(candidates_for(wanted), way)
        tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(found.ids)
    return paged(wanted, [tweets[id] for id in found.ids if id in tweets], found)


def candidates_for(wanted: Wanted) -> Candidates:
    """Those of the source; else those that may be in the state."""
    if wanted.source:
        return partial(of_source, wanted.source)
    return partial(states.candidates, wanted.state)


def finder_for(wanted: Wanted, deadline: Deadline) -> Finder:
    """One that keeps the tweets of a state and of a source, or all."""
    name, source = wanted.state, wanted.source
    if not name and not source:
        return Finder(deadline, PAGE + 1)

    def sieve(ids: list[int]) -> list[int]:
        tweets = Tweet.objects.filter(pk__in=ids)
        found = states.in_state(tweets, name) if name else tweets
        kept = set(found.values_list("pk", flat=True))
        if source:
            kept &= among(source, ids)
        return [id for id in ids if id in kept]

    few = candidates_for(wanted) if source or name in states.FEW else None
    start = states.first_resting if name == "resting" else lambda way: way
    return Finder(deadline, PAGE + 1, sieve, few, start)


def of_source(source: int, way: Way, most: int) -> Look:
    """The next tweets that it brought, by the primary key."""
    rows = SourceTweet.objects.filter(source=source)
    if way.up:
        rows = rows.filter(tweet_id__gt=way.beyond).order_by("tweet_id")
    else:
        rows = rows.filter(tweet_id__lt=way.beyond).order_by("-tweet_id")
    ids = list(rows.values_list("tweet_id", flat=True)[:most])
    return Look(ids, until=ids[-1] if len(ids) == most else None)


def among(source: int, ids: list[int]) -> set[int]:
    """Those that it brought."""
    rows = SourceTweet.objects.filter(source=source, tweet_id__in=ids)
    return set(rows.values_list("tweet_id", flat=True))


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
