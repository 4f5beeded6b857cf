"""The seeded world: one answer for every id and instant. Nothing is stored about a tweet.

A World never changes; a setting or an override makes a new one. So the log can keep the world that
an answer came from, and recompute the answer later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

from fakex.world import posts
from fakex.world.authors import Author, AuthorState, invent
from fakex.world.clock import Clock
from fakex.world.contents import Contents, SetContent
from fakex.world.flows import Flow, Flows
from fakex.world.ids import Ids
from fakex.world.traits import (
    DELETED,
    HIDEABLE,
    RELEASED,
    RETWEET,
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
WorldAnswer = Figures | Hidden
# What a fault makes X say about single ids, or does to their metrics.
FaultAnswer = Literal["omitted", "broken", "missing", "null_count", "not_found"]


class Moment(NamedTuple):
    """A real instant (epoch ms) and the world time (ms) that had passed since the start."""

    now_ms: int
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Override:
    """What was set for one tweet, overriding its fate; None leaves the fate as it is."""

    state: State | None = None
    metrics: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Nature:
    """The settings for a world's people and tweets; shares are of all authors or all tweets."""

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
    names: Mapping[int, str] = field(default_factory=dict)
    lists: Mapping[int, frozenset[int]] = field(default_factory=dict)
    flows: Flows = field(default_factory=Flows)
    contents: Contents = field(default_factory=dict)

    def moment(self, now_ms: int) -> Moment:
        """Before its start the world is as at its start: tweets have no negative ages."""
        return Moment(now_ms, max(0.0, self.clock.elapsed_ms(now_ms)))

    def with_tweets(self, changes: Mapping[int, Override | None]) -> Self:
        """The same world with some tweets' overrides changed, or lifted by None."""
        tweets = {**self.tweets, **changes}
        kept = {tweet_id: override for tweet_id, override in tweets.items() if override}
        return self._peopled(replace(self, tweets=kept))

    def with_author(self, author_id: int, state: AuthorState | None) -> Self:
        """The same world with one author's state set, or returned to fate by None."""
        authors = {known: was for known, was in self.authors.items() if known != author_id}
        if state:
            authors[author_id] = state
        return self._peopled(replace(self, authors=authors))

    def with_name(self, author_id: int, username: str | None) -> Self:
        """The same world with one author renamed, or given the original name back by None."""
        names = {known: name for known, name in self.names.items() if known != author_id}
        if username:
            names[author_id] = username
        return self._peopled(replace(self, names=names))

    def with_lists(self, changes: Mapping[int, frozenset[int] | None]) -> Self:
        """The same world with other lists: author ids by list, None removes one."""
        lists = {**self.lists, **changes}
        kept = {list_id: members for list_id, members in lists.items() if members is not None}
        return self._peopled(replace(self, lists=kept))

    def with_flows(self, flows: Flows) -> Self:
        return self._peopled(replace(self, flows=flows))

    def with_contents(self, contents: Contents) -> Self:
        """The same world with other texts and versions of posts."""
        return self._peopled(replace(self, contents=contents))

    def traits(self, tweet_id: int) -> Traits | None:
        """The tweet's traits, or None when the id belongs to no tweet, now or ever."""
        if (content := self.contents.get(tweet_id)) and content.written_ms is not None:
            return self._version(tweet_id, content)
        born_ms = self.ids.born_ms(tweet_id)
        if born_ms is None and (found := self.flows.find(tweet_id, self.ids)):
            return self.released(*found)
        if born_ms is None:
            override = self.tweets.get(tweet_id)
            if override is None or override.state is None:
                return None
            born_ms = self.clock.start_ms - 1
        tweet = self._derive(tweet_id, born_ms)
        if self.people[tweet.author].troubled:
            return tweet._replace(flags=tweet.flags | TROUBLED)
        return tweet

    def released(self, flow: Flow, number: int) -> Traits:
        """The traits of a flow's post, before and after it appears."""
        tweet_id, author = flow.id_at(number, self.ids), flow.author(number)
        tweet = self._derive(tweet_id, flow.born_ms(number))
        flags = tweet.flags | RELEASED
        if self.people[author].troubled:
            flags |= TROUBLED
        if posts.kind_of_post(flow, number) == "retweet":
            flags |= RETWEET
        # Age 0 at the start, even if born before, so that its appearance is checked.
        return tweet._replace(author=author, flags=flags, lead_ms=-1)

    def _version(self, tweet_id: int, content: SetContent) -> Traits | None:
        """A later version has its own counts; author and fate are those of the first."""
        first = self.traits(content.versions[0])
        if first is None or content.written_ms is None:
            return None
        own = self._derive(tweet_id, content.written_ms)
        flags = own.flags & ~HIDEABLE | first.flags & (HIDEABLE | RETWEET)
        return own._replace(author=first.author, flags=flags, lead_ms=-1)

    def visible_ms(self, tweet_id: int) -> int | None:
        """When a flow's post appears, None for other tweets, which appear at birth."""
        found = self.flows.find(tweet_id, self.ids)
        return found[0].visible_ms(found[1]) if found else None

    def content(self, tweet: Traits) -> posts.Content:
        if (content := self.contents.get(tweet.id)) is None:
            return self._invented(tweet)
        first = self.traits(content.versions[0]) if content.versions else tweet
        return posts.rewritten(self._invented(first or tweet), content.text, content.media)

    def _invented(self, tweet: Traits) -> posts.Content:
        released = self.flows.find(tweet.id, self.ids) if tweet.flags & RELEASED else None
        if released is None:
            return posts.plain(tweet.text)
        flow, number = released
        return posts.compose(flow, number, ids=self.ids, people=self.people_at_first)

    def age_ms(self, tweet: Traits, moment: Moment) -> float:
        """World time since the tweet's birth; its age at the start counts unscaled."""
        if tweet.lead_ms >= 0:
            return tweet.lead_ms + moment.elapsed_ms
        return moment.elapsed_ms - self.clock.elapsed_ms(tweet.born_ms)

    def answer(self, tweet: Traits, moment: Moment) -> WorldAnswer:
        """The counts X would give for the tweet at that moment, or why it would not."""
        lead_ms = tweet.lead_ms
        if lead_ms >= 0:
            age_ms = lead_ms + moment.elapsed_ms
        elif tweet.born_ms > moment.now_ms or self._is_awaited(tweet, moment):
            return "not_found"
        else:
            age_ms = self.age_ms(tweet, moment)
        if tweet.flags & HIDEABLE or self.is_overridden:
            return self._answer_with_fate(tweet, moment, age_ms)
        return self.count(tweet, age_ms)

    def state(self, tweet: Traits, moment: Moment) -> State:
        versions = self.contents[tweet.id].versions if tweet.id in self.contents else ()
        # Deleting any version deletes the post.
        for version in versions or (tweet.id,):
            override = self.tweets.get(version)
            if override and override.state:
                return override.state
        if versions:
            tweet = self.traits(versions[0]) or tweet
        if tweet.flags & DELETED and self.age_ms(tweet, moment) >= tweet.turn_ms:
            return "deleted"
        return self.author_state(self.people[tweet.author], moment)

    def author_state(self, author: Author, moment: Moment) -> AuthorState:
        return self.authors.get(author.id) or author.state(moment.elapsed_ms)

    @cached_property
    def people(self) -> tuple[Author, ...]:
        if not self.names:
            return self.people_at_first
        names = self.names
        return tuple(
            replace(author, username=names[author.id]) if author.id in names else author
            for author in self.people_at_first
        )

    @cached_property
    def people_at_first(self) -> tuple[Author, ...]:
        """The people with their original names."""
        nature = self.nature
        return tuple(
            invent(n, seed=self.seed, protected=nature.protected, suspended=nature.suspended)
            for n in range(nature.authors)
        )

    @cached_property
    def people_by_id(self) -> dict[int, Author]:
        return {author.id: author for author in self.people}

    @cached_property
    def number_of(self) -> dict[int, int]:
        """Each author's position among the people, by id."""
        return {author.id: number for number, author in enumerate(self.people)}

    @cached_property
    def people_by_username(self) -> dict[str, Author]:
        return {author.username.lower(): author for author in self.people}

    @cached_property
    def shares(self) -> Shares:
        nature = self.nature
        return Shares(nature.deleted, nature.falling, nature.reviving, nature.slow)

    @cached_property
    def is_overridden(self) -> bool:
        return bool(self.tweets or self.authors or self.contents)

    @cached_property
    def count(self) -> Callable[[Traits, float], Figures]:
        return count_busily if self.nature.engagement == "busy" else count

    def _answer_with_fate(self, tweet: Traits, moment: Moment, age_ms: float) -> WorldAnswer:
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

    def _derive(self, tweet_id: int, born_ms: int) -> Traits:
        return derive(
            tweet_id,
            born_ms=born_ms,
            start_ms=self.clock.start_ms,
            seed=self.seed,
            authors=self.nature.authors,
            shares=self.shares,
        )

    def _is_awaited(self, tweet: Traits, moment: Moment) -> bool:
        """Whether a flow has created the tweet but not shown it yet."""
        if not tweet.flags & RELEASED:
            return False
        visible_ms = self.visible_ms(tweet.id)
        return visible_ms is not None and visible_ms > moment.now_ms

    def _peopled(self, world: Self) -> Self:
        # The people depend only on the seed and nature: reuse them.
        world.__dict__["people_at_first"] = self.people_at_first
        if world.names == self.names:
            world.__dict__["people"] = self.people
        return world
