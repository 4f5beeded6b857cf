"""The seeded world: for every id and instant, one answer. Nothing is remembered about a tweet.

A World never changes; a setting or an override makes a new one. So the log can name the world an
answer came from and have it computed again later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

from trackers.fakex.authors import Author, AuthorState, invent
from trackers.fakex.clock import Clock
from trackers.fakex.ids import Ids
from trackers.fakex.traits import (
    DELETED,
    HIDEABLE,
    TROUBLED,
    Counts,
    Figures,
    Shares,
    Traits,
    count,
    count_busily,
    derive,
)

State = Literal["live", "deleted", "protected", "suspended"]
Hidden = Literal["not_found", "not_authorized"]
Answer = Figures | Hidden
# What a fault makes X say of single ids instead, or do to their metrics.
FaultAnswer = Literal["omitted", "broken", "missing", "not_found"]


class Moment(NamedTuple):
    """A real instant (epoch ms) and the world time (ms) run since the start by then."""

    now_ms: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Override:
    """What someone decided about one tweet, stronger than its fate; None leaves fate alone."""

    state: State | None = None
    metrics: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Nature:
    """The settings of a world's people and tweets; shares are of all authors or all tweets."""

    authors: int = 400
    protected: float = 0.02
    suspended: float = 0.01
    deleted: float = 0.02
    falling: float = 0.03
    reviving: float = 0.015
    slow: float = 0.08
    engagement: Literal["natural", "busy"] = "natural"


@dataclass(frozen=True)
class World:
    seed: int
    ids: Ids
    clock: Clock
    nature: Nature = Nature()
    tweets: Mapping[int, Override] = field(default_factory=dict)
    authors: Mapping[int, AuthorState] = field(default_factory=dict)

    def moment(self, now_ms: int) -> Moment:
        return Moment(now_ms, self.clock.elapsed_ms(now_ms))

    def with_tweets(self, changes: Mapping[int, Override | None]) -> Self:
        """The same world with the overrides of some tweets changed, or lifted by None."""
        tweets = {**self.tweets, **changes}
        kept = {tweet_id: override for tweet_id, override in tweets.items() if override}
        return self._peopled(replace(self, tweets=kept))

    def with_author(self, author_id: int, state: AuthorState | None) -> Self:
        """The same world with one author's state decided, or left to fate again by None."""
        authors = {known: was for known, was in self.authors.items() if known != author_id}
        if state:
            authors[author_id] = state
        return self._peopled(replace(self, authors=authors))

    def traits(self, tweet_id: int) -> Traits | None:
        """The tweet's traits, or None when the id belongs to no tweet, now or ever."""
        born_ms = self.ids.born_ms(tweet_id)
        if born_ms is None:
            override = self.tweets.get(tweet_id)
            if override is None or override.state is None:
                return None
            born_ms = self.clock.start_ms - 1
        tweet = derive(
            tweet_id,
            born_ms=born_ms,
            start_ms=self.clock.start_ms,
            seed=self.seed,
            authors=self.nature.authors,
            shares=self.shares,
        )
        if self.people[tweet.author].troubled:
            return tweet._replace(flags=tweet.flags | TROUBLED)
        return tweet

    def age_ms(self, tweet: Traits, moment: Moment) -> float:
        """World time since the tweet's birth; what it had lived at the start counts unscaled."""
        if tweet.lead_ms >= 0:
            return tweet.lead_ms + moment.elapsed_ms
        return moment.elapsed_ms - self.clock.elapsed_ms(tweet.born_ms)

    def answer(self, tweet: Traits, moment: Moment) -> Answer:
        """The counts X would give for the tweet at that moment, or why it would not."""
        lead_ms = tweet.lead_ms
        if lead_ms >= 0:
            age_ms = lead_ms + moment.elapsed_ms
        elif tweet.born_ms > moment.now_ms:
            return "not_found"
        else:
            age_ms = self.age_ms(tweet, moment)
        if tweet.flags & HIDEABLE or self.is_overridden:
            return self._answer_with_fate(tweet, moment, age_ms)
        return self.count(tweet, age_ms)

    def state(self, tweet: Traits, moment: Moment) -> State:
        override = self.tweets.get(tweet.id)
        if override and override.state:
            return override.state
        if tweet.flags & DELETED and self.age_ms(tweet, moment) >= tweet.turn_ms:
            return "deleted"
        return self.author_state(self.people[tweet.author], moment)

    def author_state(self, author: Author, moment: Moment) -> AuthorState:
        return self.authors.get(author.id) or author.state(moment.elapsed_ms)

    @cached_property
    def people(self) -> tuple[Author, ...]:
        nature = self.nature
        return tuple(
            invent(n, seed=self.seed, protected=nature.protected, suspended=nature.suspended)
            for n in range(nature.authors)
        )

    @cached_property
    def people_by_id(self) -> dict[int, Author]:
        return {author.id: author for author in self.people}

    @cached_property
    def people_by_username(self) -> dict[str, Author]:
        return {author.username.lower(): author for author in self.people}

    @cached_property
    def shares(self) -> Shares:
        nature = self.nature
        return Shares(nature.deleted, nature.falling, nature.reviving, nature.slow)

    @cached_property
    def is_overridden(self) -> bool:
        return bool(self.tweets or self.authors)

    @cached_property
    def count(self) -> Callable[[Traits, float], Figures]:
        return count_busily if self.nature.engagement == "busy" else count

    def _answer_with_fate(self, tweet: Traits, moment: Moment, age_ms: float) -> Answer:
        state = self.state(tweet, moment)
        if state == "deleted":
            return "not_found"
        if state != "live":
            return "not_authorized"
        figures = self.count(tweet, age_ms)
        override = self.tweets.get(tweet.id)
        if override and override.metrics:
            return Counts._make(figures)._replace(**override.metrics)
        return figures

    def _peopled(self, world: Self) -> Self:
        # The people depend on the seed and nature only: carried over, not invented again.
        world.__dict__["people"] = self.people
        return world
