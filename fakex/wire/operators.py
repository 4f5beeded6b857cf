"""What each operator of X's query language matches, and where X takes it.

The list is X's own: x-api/posts/search/integrate/operators and
x-api/posts/filtered-stream/integrate/operators in xdevplatform/docs (2.167, 2026-08-22). Of the
operators that only rules have (a biography, a sample, counts of followers …) none is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from fakex.world.feeds import Words
from fakex.world.seeded import World

Dialect = Literal["recent", "archive", "rule"]  # of a query, by where it is used
Match = Callable[[Words], bool]


class Term(NamedTuple):
    match: Match
    stands_alone: bool = True
    is_keyed: bool = False  # matches words, tags or links
    is_timed: bool = False  # depends on what changes: counts and media


CASHTAG = re.compile(r"\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)\b")
_NUMBER = r"-?\d+(?:\.\d+)?"
# By name: the dialects in which X has it not, by the tables of those pages.
_NOT_IN: Mapping[str, frozenset[Dialect]] = {
    "entity": frozenset({"archive"}),
    "list": frozenset({"rule"}),
    "quotes_of_tweet_id": frozenset({"rule"}),
    "min_likes": frozenset({"rule"}),
    "min_replies": frozenset({"rule"}),
    "min_reposts": frozenset({"rule"}),
}
_COUNTED = {"min_likes": "likes", "min_replies": "replies", "min_reposts": "retweets"}
# No post here has a place or an annotation, so that these match nothing.
_UNMATCHED = {
    "context": re.compile(r"\d+\.(\d+|\*)\Z"),
    "entity": re.compile(r".+\Z"),
    "place": re.compile(r".+\Z"),
    "place_country": re.compile(r"[A-Za-z]{2}\Z"),
    "point_radius": re.compile(rf"\[{_NUMBER} {_NUMBER} \d+(?:\.\d+)?(?:km|mi)\]\Z"),
    "bounding_box": re.compile(rf"\[{_NUMBER} {_NUMBER} {_NUMBER} {_NUMBER}\]\Z"),
}
# What a media key begins with, by X's media objects.
_IMAGE, _VIDEOS = "3_", ("7_", "13_")


def operator(name: str, value: str, world: World, dialect: Dialect) -> Term | None:
    """The term of `name:value`, or None if X has no such operator there."""
    if dialect in _NOT_IN.get(name, ()):
        return None
    if name in _COUNTED and value.isdigit():
        return Term(_reaching(_COUNTED[name], int(value)), is_timed=True)
    if name in _UNMATCHED and _UNMATCHED[name].match(value):
        return Term(lambda words: False)
    if name in _OF_POSTS and value.isdigit():
        return Term(_OF_POSTS[name](int(value)))
    if name in _OF_PEOPLE:
        return Term(_OF_PEOPLE[name](author_of(world, value.removeprefix("@"))))
    if name == "url":
        return Term(linking(value), is_keyed=True)
    if name == "list" and value.isdigit():
        members = {world.number_of[one] for one in world.lists.get(int(value), ())}
        return Term(lambda words: words.post.author in members)
    if name == "lang":
        lang = value.lower()
        return Term(lambda words: words.content.lang == lang, stands_alone=False)
    return _narrowing(f"{name}:{value}", world)


def _narrowing(text: str, world: World) -> Term | None:
    if text == "is:verified":
        people = world.people
        return Term(lambda words: people[words.post.author].verified, stands_alone=False)
    if text in _OF_MEDIA:
        media = _OF_MEDIA[text]
        return Term(lambda words: any(map(media, words.media)), stands_alone=False, is_timed=True)
    narrowing = _NARROWING.get(text)
    return Term(narrowing, stands_alone=False) if narrowing else None


_NARROWING: Mapping[str, Match] = {
    "is:retweet": lambda words: words.post.kind == "retweet",
    "is:reply": lambda words: words.post.kind == "reply",
    "is:quote": lambda words: words.post.kind == "quote",
    # Nobody promotes posts here.
    "is:nullcast": lambda words: False,
    "has:hashtags": lambda words: bool(words.content.tags),
    "has:cashtags": lambda words: bool(CASHTAG.search(words.content.text)),
    "has:links": lambda words: bool(words.content.links),
    "has:mentions": lambda words: bool(words.content.mentions),
    "has:geo": lambda words: False,
}
# "-is:nullcast: must be negated" (the operators of searches and of rules alike).
ONLY_NEGATED = frozenset({"is:nullcast"})
_OF_MEDIA: Mapping[str, Callable[[str], bool]] = {
    "has:media": bool,
    "has:images": lambda key: key.startswith(_IMAGE),
    "has:video_link": lambda key: key.startswith(_VIDEOS),
}
_OF_POSTS: Mapping[str, Callable[[int], Match]] = {
    "conversation_id": lambda post: lambda words: post in (words.content.thread, words.post.id),
    "in_reply_to_tweet_id": lambda post: _about("reply", post),
    "retweets_of_tweet_id": lambda post: _about("retweet", post),
    "quotes_of_tweet_id": lambda post: _about("quote", post),
}
_OF_PEOPLE: Mapping[str, Callable[[int | None], Match]] = {
    "from": lambda author: lambda words: words.post.author == author,
    "to": lambda author: lambda words: author is not None and words.content.to == author,
    # A shared post's author is the first whom the text names: "RT @name: …".
    "retweets_of": lambda author: (
        lambda words: words.post.kind == "retweet" and words.content.mentions[:1] == (author,)
    ),
}


def author_of(world: World, who: str) -> int | None:
    """The number of an author, by present name or by id."""
    author = world.people_by_username.get(who.lower())
    if author is None and who.isascii() and who.isdigit():
        author = world.people_by_id.get(int(who))
    return world.number_of[author.id] if author else None


def linking(url: str) -> Match:
    wanted = url.casefold()

    def links(words: Words) -> bool:
        return any(wanted in link.casefold() for link in words.content.links)

    return links


def cashtag(tag: str) -> Match:
    wanted = tag.casefold()

    def names(words: Words) -> bool:
        return wanted in map(str.casefold, CASHTAG.findall(words.content.text))

    return names


def _about(kind: str, post: int) -> Match:
    return lambda words: words.post.kind == kind and words.content.about == post


def _reaching(metric: str, least: int) -> Match:
    return lambda words: words.figures is not None and getattr(words.figures, metric) >= least
