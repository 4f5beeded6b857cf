"""Listings: the posts of the world in order of their ids, and filtered feeds of them.

A cache of pure functions: over time it reads further into the flows, and each feed further into
it. The world decides, at the time of the reply, which of these posts it shows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from fakex.world import posts
from fakex.world.contents import newest_of
from fakex.world.flows import Flow
from fakex.world.seeded import Moment, World
from fakex.world.traits import HIDEABLE, Counts, Traits

# How many of the world's first tweets timelines and searches include; reading all could take a
# minute.
_MOST_FIRST = 20_000
_MOST_FEEDS = 2_000
_MOST_WORDS = 20_000
WORD = re.compile(r"\w+")
_BY_ID = attrgetter("id")


class Post(NamedTuple):
    id: int
    visible_ms: int
    traits: Traits
    kind: posts.Kind
    flow: Flow | None
    number: int  # its number in its flow; for one of the first tweets, that of its sentence

    @property
    def author(self) -> int:
        return self.traits.author


@dataclass
class Words:
    """A post and its words, split when it is first searched."""

    post: Post
    content: posts.Content
    media: tuple[str, ...] = ()  # the keys that were set
    figures: Counts | None = None  # at the moment of a search, if it asks for them

    @cached_property
    def text(self) -> str:
        return self.content.text.casefold()

    @cached_property
    def row(self) -> str:
        """All words, each between spaces, to match phrases."""
        return f" {' '.join(WORD.findall(self.text))} "

    @cached_property
    def all(self) -> frozenset[str]:
        return frozenset(self.row.split())


@dataclass(slots=True)
class Feed:
    """Its posts by id, oldest first."""

    posts: list[Post] = field(default_factory=list)
    read: int = 0  # how many posts of the world it has read


class Feeds:
    def __init__(self) -> None:
        self._clear()

    def all(self, world: World, *, now_ms: int) -> list[Post]:
        """Every post born by then, in the order in which they were read."""
        self._read_on(world, now_ms)
        return self._posts

    def feed(
        self, key: Hashable, match: Callable[[Post], bool], *, world: World, now_ms: int
    ) -> list[Post]:
        """All matches born by then, in order of ids; `key` identifies `match` in the cache."""
        self._read_on(world, now_ms)
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = Feed()
            if len(self._feeds) > _MOST_FEEDS:
                self._feeds.popitem(last=False)
        self._feeds.move_to_end(key)
        if feed.read < len(self._posts):
            feed.posts.extend(filter(match, islice(self._posts, feed.read, None)))
            # Almost sorted already: mostly one run, or two to merge.
            feed.posts.sort(key=_BY_ID)
            feed.read = len(self._posts)
        return feed.posts

    def words(self, post: Post, world: World) -> Words:
        if post.id in world.contents:
            return Words(post, _content(post, world), world.contents[post.id].media)
        known_words = self._words.get(post.id)
        if known_words is None:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            known_words = self._words[post.id] = Words(post, _content(post, world))
        return known_words

    def matching(
        self, match: Callable[[Words], bool], *, world: World, moment: Moment
    ) -> list[Post]:
        """What matches with its counts of that moment, in order of ids; nothing is cached."""
        matches = [
            post
            for post in self.all(world, now_ms=moment.now_ms)
            if match(self._counted(post, world, moment))
        ]
        return sorted(matches, key=_BY_ID)

    def _counted(self, post: Post, world: World, moment: Moment) -> Words:
        answer = world.answer(post.traits, moment)
        figures = None if isinstance(answer, str) else Counts._make(answer)
        return replace(self.words(post, world), figures=figures)

    def _clear(self) -> None:
        self._posts: list[Post] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._feeds: OrderedDict[Hashable, Feed] = OrderedDict()
        self._words: dict[int, Words] = {}
        self._of: tuple[object, ...] = ()
        self._versions: set[int] = set()

    def _read_on(self, world: World, now_ms: int) -> None:
        of = (world.seed, world.ids, world.nature)
        known = self._numbers.keys() <= {flow.name for flow in world.flows}
        if of != self._of or not known or not self._versions <= world.contents.keys():
            self._clear()
            self._of = of
            self._posts.extend(_first(world))
        for flow in world.flows:
            number, end = self._numbers.get(flow.name, 0), flow.first_at(now_ms + 1)
            if number < end:
                self._posts.extend(_released(flow, n, world) for n in range(number, end))
                self._numbers[flow.name] = end
        for post_id, content in world.contents.items():
            if content.written_ms is not None and post_id not in self._versions:
                self._versions.add(post_id)
                self._posts.append(_version(post_id, content.written_ms, world))


def is_shown(post: Post, world: World, moment: Moment) -> bool:
    """Whether X lists the post at that moment: it has appeared, is the newest version, and neither
    it nor its author is hidden."""
    if post.visible_ms > moment.now_ms or newest_of(world.contents, post.id) != post.id:
        return False
    tweet = post.traits
    if tweet.flags & HIDEABLE or world.is_overridden:
        return world.state(tweet, moment) == "live"
    return True


def newest_first(posts: list[Post], *, below: int | None, above: int) -> Iterator[Post]:
    """The posts with `above` < id < `below`; None is no bound."""
    end = len(posts) if below is None else bisect_left(posts, below, key=_BY_ID)
    for place in range(end - 1, -1, -1):
        post = posts[place]
        if post.id <= above:
            return
        yield post


def oldest_first(posts: list[Post], *, above: int) -> Iterator[Post]:
    yield from islice(posts, bisect_left(posts, above + 1, key=_BY_ID), None)


def _first(world: World) -> Iterator[Post]:
    """The world's own tweets, all of which existed at its start."""
    for tweet_id in world.ids.between(0, _MOST_FIRST):
        tweet = world.traits(tweet_id)
        if tweet is not None:
            yield Post(tweet_id, tweet.born_ms, tweet, "original", None, tweet.text)


def _released(flow: Flow, number: int, world: World) -> Post:
    tweet = world.released(flow, number)
    kind = posts.kind_of_post(flow, number)
    return Post(tweet.id, flow.visible_ms(number), tweet, kind, flow, number)


def _version(post_id: int, written_ms: int, world: World) -> Post:
    """An edited post appears again, under the id of its new version."""
    tweet = world.traits(post_id)
    assert tweet is not None
    return Post(post_id, written_ms, tweet, world.content(tweet).kind, None, tweet.text)


def _content(post: Post, world: World) -> posts.Content:
    if post.id in world.contents:
        return world.content(post.traits)
    if post.flow is None:
        return posts.plain(post.number)
    return posts.compose(post.flow, post.number, ids=world.ids, people=world.people_at_first)
