"""Pages of posts: whose they are, which of them a request reaches, and their meta.

ask ─> subject ─> feed ─> bounds ─> PostPage, or Refused with what X says instead
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from fakex.endpoints import ALL_COUNTS, COUNTS, LIST_TWEETS, SEARCH, SEARCH_ALL, USER_TWEETS
from fakex.settings import Settings
from fakex.wire import problems
from fakex.wire.counts import CountsAsk, counts_body, page_begins
from fakex.wire.operators import Dialect
from fakex.wire.page_tokens import Place, read_token, write_token
from fakex.wire.queries import BadQuery, Query, read_query
from fakex.wire.reach import bounds_of, first_id
from fakex.wire.requests_pages import DEPTH_WITHOUT_REPLIES, SORTS, PageAsk
from fakex.wire.requests_v2 import Invalid
from fakex.world.feeds import Feeds, Post, is_shown, newest_first, oldest_first
from fakex.world.ids import LOW_BITS, MASK, TWEPOCH_MS, mix
from fakex.world.seeded import Moment, World

_SEARCHES: dict[str, Dialect] = {SEARCH: "recent", SEARCH_ALL: "archive"}
_COUNTING: dict[str, Dialect] = {COUNTS: "recent", ALL_COUNTS: "archive"}


class Refused(Exception):
    """X shows nothing of the subject, and gives the reason in a 200."""

    def __init__(self, problem: problems.Problem) -> None:
        super().__init__("refused")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class PostPage:
    """The ids in the order of the reply, and the JSON of the meta."""

    ids: list[str]
    meta: bytes


class Pages:
    def __init__(self, feeds: Feeds, settings: Settings) -> None:
        self._feeds, self._settings = feeds, settings

    def page(self, ask: PageAsk, world: World, moment: Moment) -> PostPage:
        """The page at that moment; raises Refused, or Invalid as the request readers do."""
        bounds = bounds_of(ask, self._settings, now_ms=moment.now_ms)
        listed = self.listed(ask, world, moment)
        listing = _name(ask, world)
        place = _place(ask.token, listing)

        def visible(posts: Iterator[Post]) -> Iterator[Post]:
            return (p for p in posts if is_shown(p, world, moment) and not _is_excluded(p, ask))

        above = max(bounds.above, self._floor(listed, visible, ask))
        below = bounds.below
        if place and not place.to_newer:
            below = place.id if below is None else min(below, place.id)
        if place and place.to_newer:
            newer = visible(oldest_first(listed, above=max(above, place.id)))
            found = [p for p in islice(newer, ask.max_results) if below is None or p.id < below]
            posts, more = found[::-1], True
        else:
            posts = list(
                islice(visible(newest_first(listed, below=below, above=above)), ask.max_results + 1)
            )
            more = len(posts) > ask.max_results
            del posts[ask.max_results :]
        return PostPage(
            [str(post.id) for post in posts], _meta(ask, posts, listing, place, more=more)
        )

    def counts(self, ask: CountsAsk, world: World, moment: Moment) -> bytes:
        """The body of a page of counts; raises Invalid."""
        bounds = bounds_of(ask, self._settings, now_ms=moment.now_ms)
        query = self.query(ask.subject, world, _COUNTING[ask.endpoint])
        listing = _name(ask, world)
        place = _place(ask.token, listing)
        until_ms = (
            min(bounds.until_ms, (place.id >> LOW_BITS) + TWEPOCH_MS) if place else bounds.until_ms
        )
        begin_ms = page_begins(ask, bounds.from_ms, until_ms)
        above, below = max(bounds.above, first_id(begin_ms) - 1), first_id(until_ms)
        if bounds.below is not None:
            below = min(below, bounds.below)
        posts = newest_first(self.searched(query, world, moment), below=below, above=above)
        token = None
        # Ids of before November 2010 have no time, so that no page begins among them.
        if begin_ms > max(bounds.from_ms, TWEPOCH_MS):
            token = write_token(Place(first_id(begin_ms), False), listing=listing)
        return counts_body(
            ask,
            (post.traits.born_ms for post in posts if is_shown(post, world, moment)),
            from_ms=begin_ms,
            until_ms=until_ms,
            next_token=token,
            word="post" if self._settings.vocabulary == "post.fields" else "tweet",
        )

    def listed(self, ask: PageAsk, world: World, moment: Moment) -> list[Post]:
        """All posts of the listing, including those still to appear; raises Refused and Invalid."""
        now_ms = moment.now_ms
        if ask.endpoint in _SEARCHES:
            query = self.query(ask.subject, world, _SEARCHES[ask.endpoint])
            return self.searched(query, world, moment)
        if ask.endpoint == LIST_TWEETS:
            members = world.lists.get(int(ask.subject))
            if members is None:
                raise Refused(problems.list_not_found(ask.subject, self._settings.problem_host))
            return self.of_list(members, world, now_ms=now_ms)
        author = self._author(ask.subject, world, moment)
        if ask.endpoint == USER_TWEETS:
            return self.of_author(author, world, now_ms=now_ms)
        return self.mentioning(author, world, now_ms=now_ms)

    def of_author(self, author: int, world: World, *, now_ms: int) -> list[Post]:
        return self._feeds.feed(
            ("author", author), lambda post: post.author == author, world=world, now_ms=now_ms
        )

    def mentioning(self, author: int, world: World, *, now_ms: int) -> list[Post]:
        words = self._feeds.words
        return self._feeds.feed(
            ("mentions", author),
            lambda post: (
                post.flow is not None
                and post.kind != "retweet"
                and author in words(post, world).content.mentions
            ),
            world=world,
            now_ms=now_ms,
        )

    def searched(self, query: Query, world: World, moment: Moment) -> list[Post]:
        """What a search finds: since 2026-05 no retweets if it searches for words."""
        words, match, is_keyed = self._feeds.words, query.match, query.is_keyed

        def is_listed(post: Post) -> bool:
            return not (is_keyed and post.kind == "retweet")

        if query.is_timed:
            matches = self._feeds.matching(match, world=world, moment=moment)
            return list(filter(is_listed, matches))
        return self._feeds.feed(
            ("search", query.text, names_of(world)),
            lambda post: is_listed(post) and match(words(post, world)),
            world=world,
            now_ms=moment.now_ms,
        )

    def ruled(self, query: Query, world: World, *, now_ms: int) -> list[Post]:
        """What a stream rule matches, including retweets."""
        words, match = self._feeds.words, query.match
        return self._feeds.feed(
            ("rule", query.text, names_of(world)),
            lambda post: match(words(post, world)),
            world=world,
            now_ms=now_ms,
        )

    def query(self, text: str, world: World, dialect: Dialect = "recent") -> Query:
        """The query of a search; raises Invalid."""
        try:
            return read_query(text, world, dialect)
        except BadQuery as bad:
            message = f"There were errors processing your request: {bad}"
            raise Invalid([("query", [text], message)]) from bad

    def of_list(self, members: frozenset[int], world: World, *, now_ms: int) -> list[Post]:
        numbers = frozenset(world.number_of[member] for member in members)
        return self._feeds.feed(
            ("list", numbers), lambda post: post.author in numbers, world=world, now_ms=now_ms
        )

    def _author(self, subject: str, world: World, moment: Moment) -> int:
        """The number of an author whose posts X shows."""
        author, host = world.people_by_id.get(int(subject)), self._settings.problem_host
        if author is None:
            raise Refused(problems.user_not_found(subject, "id", host))
        state = world.author_state(author, moment)
        if state == "suspended":
            raise Refused(problems.user_suspended(subject, "id", host))
        if state == "protected":
            raise Refused(problems.user_not_authorized(subject, "id", host))
        return world.number_of[author.id]

    def _floor(self, listed: list[Post], visible: Any, ask: PageAsk) -> int:
        """The id below which the listing does not go; hidden posts do not count."""
        depth = SORTS[ask.endpoint].depth
        if depth and "replies" in ask.exclude:
            depth = DEPTH_WITHOUT_REPLIES
        if depth is None or len(listed) <= depth:
            return -1
        last = next(islice(visible(reversed(listed)), depth - 1, None), None)
        return last.id - 1 if last else -1


def names_of(world: World) -> tuple[object, ...]:
    """All that a query's names and lists are resolved by."""
    return (*world.names.items(), *world.lists.items())


def _is_excluded(post: Post, ask: PageAsk) -> bool:
    if not ask.exclude:
        return False
    return (post.kind == "reply" and "replies" in ask.exclude) or (
        post.kind == "retweet" and "retweets" in ask.exclude
    )


def _meta(
    ask: PageAsk, posts: list[Post], listing: int, place: Place | None, *, more: bool
) -> bytes:
    meta: dict[str, Any] = {"result_count": len(posts)}
    if posts and ask.endpoint != LIST_TWEETS:
        meta |= {"newest_id": str(posts[0].id), "oldest_id": str(posts[-1].id)}
    if posts and more:
        meta["next_token"] = write_token(Place(posts[-1].id, False), listing=listing)
    if posts and place and ask.endpoint not in _SEARCHES:
        meta["previous_token"] = write_token(Place(posts[0].id, True), listing=listing)
    return orjson.dumps(meta)


def _place(token: str | None, listing: int) -> Place | None:
    """Where a page begins; raises Invalid if the token is not of this listing."""
    place = read_token(token, listing=listing) if token else None
    if token and place is None:
        message = f"The `pagination_token` query parameter value [{token}] is not valid"
        raise Invalid([("pagination_token", [token], message)])
    return place


def _name(ask: PageAsk | CountsAsk, world: World) -> int:
    """A 64-bit name of the listing, the same in every process with the same world."""
    text = f"{ask.endpoint} {ask.subject}".encode()
    return mix((zlib.crc32(text) << 32 ^ zlib.adler32(text) ^ world.seed) & MASK)
