"""The filters of the tweets page: where candidates come from, and which of them are kept.

A filter with an index of its own (an author, a tag, a hashtag or domain, a source, a rare state)
gives the candidates; the others sieve them. So no combination of filters reads a whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from trackers.ingest.sources.models import SourceTweet
from trackers.listing.query import TweetQuery, parse_id
from trackers.scores.models import Score
from trackers.tweets.engagement import engaged_at_least
from trackers.tweets.finding import names
from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.finding.finder import Finder
from trackers.tweets.finding.finder import Source as Candidates
from trackers.tweets.finding.named import NAMED_IN, candidates_naming
from trackers.tweets.kinds import KIND_NAMES
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.presence import MISSING, is_in
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import find_tag
from trackers.updater import states
from tweetwatch.pieces import Deadline

_NO_TAG = 0
_SMALL_TAG = 1000


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of an address."""

    wanted: TweetQuery
    authors: tuple[int, ...] | None  # ids, or None for any author
    tag: int | None  # its id, NO_TAG if there is none of that name, or None
    low: int  # from which id on, by the time of posting
    high: int  # below which id

    @classmethod
    def of(cls, query: TweetQuery, *, now: datetime) -> Filters:
        return cls(query, _author_ids(query.author), _tag_id(query.tag), *query.posted(now))

    def sieve(self, ids: list[int]) -> list[int]:
        """Those that all filters keep, in the given order."""
        query = self.wanted
        within = {id for id in ids if self.low <= id < self.high}
        tweets: QuerySet[Tweet] = Tweet.objects.filter(id__among=within)
        if query.state:
            tweets = states.in_state(tweets, query.state)
        if query.presence:
            tweets = tweets.filter(is_in(query.presence))
        if self.authors is not None:
            tweets = tweets.filter(author__in=self.authors)
        if of_text := text_conditions(query):
            tweets = tweets.filter(id__among=_with_text(of_text, within), gone_at=None)
        tweets = tweets.filter(*metric_conditions(query))
        matches = set(tweets.values_list("pk", flat=True))
        if self.tag is not None:
            matches &= tagging.tagged_among(self.tag, within)
        if query.source:
            matches &= _of_source_among(query.source, within)
        return [id for id in ids if id in matches]

    @property
    def few(self) -> Candidates | None:
        """Those of the author, tag, name, source or rare state: fewer than all; None without."""
        query = self.wanted
        source: Candidates | None = None
        if self.authors is not None:
            source = partial(_of_authors, self.authors)
        elif self.tag is not None and (query.state not in states.RARE_STATES or self.is_small_tag):
            source = partial(tagging.candidates_tagged, self.tag)
        elif query.named:
            source = candidates_naming(*query.named[0])
        elif query.source:
            source = partial(_of_source, query.source)
        elif query.state in states.RARE_STATES:
            source = partial(states.candidates, query.state)
        elif query.presence in MISSING:
            source = states.candidates_missing
        return self.within(source) if source else None

    @property
    def is_small_tag(self) -> bool:
        """Whether the tag is on fewer tweets than most of the rare states have."""
        assert self.tag is not None
        return (
            len(tagging.candidates_tagged(self.tag, Direction(), _SMALL_TAG + 1).ids) <= _SMALL_TAG
        )

    @property
    def candidates(self) -> Candidates:
        if few := self.few:
            return few
        if self.wanted.state:
            return self.within(partial(states.candidates, self.wanted.state))
        return self.within(all_tweets)

    def within(self, source: Candidates) -> Candidates:
        """Only the candidates within the time of posting."""

        def candidates(way: Direction, most: int) -> FoundIds:
            if way.up:
                way = Direction(max(way.beyond, self.low - 1), up=True)
            else:
                way = Direction(min(way.beyond, self.high))
            look = source(way, most)
            ids = [id for id in look.ids if self.low <= id < self.high]
            is_over = look.until is not None and not self.low <= look.until < self.high
            return FoundIds(ids, None if is_over else look.until)

        return candidates

    def finder(self, deadline: Deadline, most: int, *, all_or_none: bool = False) -> Finder:
        if not self.wanted.filtered:
            return Finder(deadline, most, all_or_none=all_or_none)
        start = states.first_resting if self.starts_later else lambda way: way
        return Finder(deadline, most, self.sieve, self.few, start, all_or_none)

    @property
    def starts_later(self) -> bool:
        return self.wanted.state == "resting" and not self.few


def _author_ids(name: str) -> tuple[int, ...] | None:
    """The ids of the authors with this @name or id; None if no author is asked for."""
    if not name:
        return None
    if (id := parse_id(name)) is not None:
        return (id,)
    return tuple(names.authors_called(name.lstrip("@")).ids)


def _tag_id(name: str) -> int | None:
    """The id of the tag of this name; None if no tag is asked for."""
    if not name:
        return None
    tag = find_tag(name)
    return tag.pk if tag else _NO_TAG


def _of_authors(authors: Sequence[int], way: Direction, most: int) -> FoundIds:
    return names.of_authors(authors, way, most=most)


def all_tweets(way: Direction, most: int) -> FoundIds:
    rows = Tweet.objects.all()
    if way.up:
        rows = rows.filter(pk__gt=way.beyond).order_by("pk")
    else:
        rows = rows.filter(pk__lt=way.beyond).order_by("-pk")
    ids = list(rows.values_list("pk", flat=True)[:most])
    return FoundIds(ids, until=ids[-1] if len(ids) == most else None)


def _of_source(source: int, way: Direction, most: int) -> FoundIds:
    """The next tweets from this source, by the primary key."""
    rows = SourceTweet.objects.filter(source=source)
    if way.up:
        rows = rows.filter(tweet_id__gt=way.beyond).order_by("tweet_id")
    else:
        rows = rows.filter(tweet_id__lt=way.beyond).order_by("-tweet_id")
    ids = list(rows.values_list("tweet_id", flat=True)[:most])
    return FoundIds(ids, until=ids[-1] if len(ids) == most else None)


def text_conditions(query: TweetQuery) -> dict[str, Any]:
    """What is asked of the text, for `TweetText.objects.filter`."""
    conditions: dict[str, Any] = {
        f"{NAMED_IN[name]}__contains": [value] for name, value in query.named
    }
    if query.lang:
        conditions["lang"] = query.lang
    if query.kind:
        conditions["kind__in"] = KIND_NAMES[query.kind]
    if query.has:
        column = "domains" if query.has == "link" else "media_keys"
        conditions[f"{column}__isnull"] = False
    return conditions


def metric_conditions(query: TweetQuery) -> list[Q | Exists]:
    """What is asked of the metrics and of the score, for `Tweet.objects.filter`."""
    conditions: list[Q | Exists] = [Q(**{f"{metric}__gte": least}) for metric, least in query.least]
    if query.min_engagement:
        conditions.append(engaged_at_least(query.min_engagement))
    if query.min_score:
        scores = Score.objects.filter(tweet=OuterRef("pk"), views__gte=query.min_score)
        conditions.append(Exists(scores))
    return conditions


def _with_text(conditions: dict[str, Any], ids: set[int]) -> set[int]:
    """Those whose text fulfils them.

    Not by a join: for a rare language it would read all texts there are, since the planner expects
    fewer of them than there are ids.
    """
    texts = TweetText.objects.filter(tweet__id__among=ids, **conditions)
    return set(texts.values_list("pk", flat=True))


def _of_source_among(source: int, ids: set[int]) -> set[int]:
    """Those that came from this source."""
    rows = SourceTweet.objects.filter(source=source, tweet_id__among=ids)
    return set(rows.values_list("tweet_id", flat=True))
