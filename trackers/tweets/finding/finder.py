"""Finding tweets by what a person types: search a few thousand, and report how far that went.

Each source of candidates yields them in the order of ids, by an index: the texts, some authors'
tweets, or what the caller gives. What is found among them is a page, however short; the next page
continues where it ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from trackers.tweets.finding import names, texts
from trackers.tweets.finding.way import Look, Way
from trackers.tweets.finding.words import Search, read
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.bounded import enforce
from tweetwatch.pieces import Deadline

# The limit for a whole search; most take a few hundredths of it.
SEARCH_TAKES = timedelta(seconds=1)
# How many candidates are searched, in growing steps. The first steps show whether words are
# frequent.
FIRST_STEPS = (200, 1800)
LAST_STEPS = (8000,)
# The most matches that a step returns for frequent words, even if the caller keeps few of them.
MATCHES_MOST = 500

AN_ID = re.compile(r"(?:https?://\S+/status(?:es)?/)?(\d{1,19})(?:[/?#]\S*)?")

NO_WORD = "It contains no word to search for."
NAMES_TOO_MANY = (
    f"More than {names.AUTHORS_MOST} authors have this name. Enter @name for the tweets of one."
)
FIRST_AUTHORS = (
    f"More than {names.AUTHORS_MOST} names start like this; these are tweets of the first "
    f"{names.AUTHORS_MOST}."
)


class TooMany(Exception):
    """Not all matches can be found, and the caller wants all or none."""


Source = Callable[[Way, int], Look]
Sieve = Callable[[list[int]], list[int]]


@dataclass(frozen=True, slots=True)
class Finds:
    """Ids in the order of the way, at most as many as requested. `until` as in `Look`."""

    ids: list[int] = field(default_factory=list)
    until: int | None = None
    note: str = ""


def of_version(id: int) -> list[int]:
    """The tweet that this id is a version of."""
    return list(TweetVersion.objects.filter(pk=id).values_list("tweet_id", flat=True))


def all_of_them(ids: list[int]) -> list[int]:
    return ids


def from_where_it_begins(way: Way) -> Way:
    return way


def are_too_many(matched: int) -> bool:
    """Whether words with this many matches by the end of the first steps are too frequent to be
    rare, and not all texts are searched by the last step."""
    looked = sum(FIRST_STEPS)
    if texts.may_be_rare(matched, looked=looked):
        return False
    return texts.at_all() > looked + sum(LAST_STEPS)


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for `most` tweets that the sieve keeps.

    `few`: a source with fewer candidates than there are texts. `start`: gives the point from which
    the sieve keeps most. `all_or_none`: raise TooMany once it is clear that not all will be found.
    """

    deadline: Deadline
    most: int
    sieve: Sieve = all_of_them
    few: Source | None = None
    start: Callable[[Way], Way] = from_where_it_begins
    all_or_none: bool = False

    def find(self, typed: str, way: Way) -> Finds:
        """By id or link, by @author, or by words of the text or the author's name."""
        whole = typed.strip()
        if found := AN_ID.fullmatch(whole):
            id = min(int(found[1]), LARGEST_ID)
            return Finds(way.in_order(self.sieve([id, *of_version(id)])))
        if len(whole) > 1 and whole.startswith("@") and " " not in whole:
            return self.by_username(whole[1:], way)
        return self.by_words(typed.lstrip(), way)

    def among(self, typed: str, ids: list[int]) -> list[int]:
        """The ids that `find` would find, in the given order."""
        whole = typed.strip()
        if found := AN_ID.fullmatch(whole):
            one = min(int(found[1]), LARGEST_ID)
            return [id for id in ids if id in (one, *of_version(one))]
        if len(whole) > 1 and whole.startswith("@") and " " not in whole:
            kept, authors = set(), names.called(whole[1:]).ids
        else:
            words = read(typed.lstrip())
            if words is None:
                return []
            kept = set(texts.among(ids, words))
            authors = names.named(whole, words).ids if words.is_bare else []
        if authors:
            theirs = Tweet.objects.filter(id__among=ids, author__in=authors)
            kept |= set(theirs.values_list("pk", flat=True))
        return [id for id in ids if id in kept]

    def by_username(self, name: str, way: Way) -> Finds:
        authors = names.called(name)
        note = FIRST_AUTHORS if authors.more else ""
        return replace(self.by_authors(authors.ids, way), note=note)

    def by_words(self, typed: str, way: Way) -> Finds:
        words = read(typed)
        if words is None:
            return Finds(note=NO_WORD)
        enforce(self.deadline)
        authors = names.named(typed.strip(), words) if words.is_bare else names.Authors([])
        found = self.by_texts(words, way)
        if authors.more:
            return replace(found, note=NAMES_TOO_MANY)
        if not authors.ids:
            return found
        return self.merged(way, found, self.by_authors(authors.ids, way))

    def by_texts(self, words: Search, way: Way) -> Finds:
        """Search the next texts; if few match, query the index for all that have the words."""
        if self.few:
            return self.through(self.few, lambda ids: self.said(texts.among(ids, words)), way)
        matched = 0

        def next_texts(way: Way, looked: int) -> Look:
            nonlocal matched
            look = texts.in_texts(words, way, looked=looked, most=MATCHES_MOST)
            matched += len(look.ids)
            if self.all_or_none and look.until is not None and are_too_many(matched):
                raise TooMany
            return look

        found = self.through(next_texts, self.said, way, FIRST_STEPS)
        if found.until is None or len(found.ids) == self.most:
            return found
        enforce(self.deadline)
        if texts.may_be_rare(matched, looked=sum(FIRST_STEPS)):
            every = texts.all_of(words)
            if every is not None:
                return Finds(self.said(way.in_order(every))[: self.most])
        return self.further(found, next_texts, self.said, way)

    def by_candidates(self, source: Source, way: Way) -> Finds:
        """What the sieve keeps, whatever the text."""
        found = self.through(source, self.sieve, way, FIRST_STEPS)
        if found.until is None or len(found.ids) == self.most:
            return found
        return self.further(found, source, self.sieve, way)

    def further(self, found: Finds, source: Source, sieve: Sieve, way: Way) -> Finds:
        """Continue where more is expected (`start`); if nothing is there, where the search ended.

        So a few matches may be skipped, but never all of them.
        """
        assert found.until is not None
        here = way.on_from(found.until)
        there = self.start(here)
        more = Finds()
        if there != here:
            more = self.through(source, sieve, there)
        if not more.ids:
            more = self.through(source, sieve, here, LAST_STEPS)
        return Finds([*found.ids, *more.ids][: self.most], more.until)

    def by_authors(self, authors: Sequence[int], way: Way) -> Finds:
        def tweets(way: Way, looked: int) -> Look:
            return names.of_authors(authors, way, most=looked)

        return self.through(tweets, self.sieve, way)

    def through(
        self,
        source: Source,
        sieve: Sieve,
        way: Way,
        steps: Sequence[int] = (),
    ) -> Finds:
        kept: list[int] = []
        for step in steps or (*FIRST_STEPS, *LAST_STEPS):
            enforce(self.deadline)
            look = source(way, step)
            kept += sieve(look.ids) if look.ids else []
            if look.until is None:
                return Finds(kept[: self.most])
            way = way.on_from(look.until)
            if len(kept) >= self.most:
                break
        return Finds(kept[: self.most], way.beyond)

    def said(self, ids: list[int]) -> list[int]:
        """Leave out tweets that are gone, whose texts may still be there, and sieve the rest."""
        found = Tweet.objects.filter(id__among=ids, gone_at=None)
        shown = set(found.values_list("pk", flat=True))
        return self.sieve([id for id in ids if id in shown])

    def merged(self, way: Way, one: Finds, other: Finds) -> Finds:
        """Merge both, up to where both have searched."""
        known = [self.known_until(found) for found in (one, other)]
        until = way.nearest([id for id in known if id is not None])
        ids = way.in_order([*one.ids, *other.ids])
        if until is not None:
            ids = [id for id in ids if not way.on_from(until).leads_to(id)]
        return Finds(ids[: self.most], until)

    def known_until(self, found: Finds) -> int | None:
        return found.ids[-1] if len(found.ids) == self.most else found.until
