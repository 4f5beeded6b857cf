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
from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.finding.words import Search, parse_search
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.pieces import Deadline
from tweetwatch.time_limits import enforce_deadline

# The limit for a whole search; most take a few hundredths of it.
SEARCH_TIMEOUT = timedelta(seconds=1)
# How many candidates are searched, in growing steps. The first steps show whether words are
# frequent.
FIRST_STEPS = (200, 1800)
LAST_STEPS = (8000,)
# The most matches that a step returns for frequent words, even if the caller keeps few of them.
_MAX_MATCHES = 500

ID_OR_LINK = re.compile(r"(?:https?://\S+/status(?:es)?/)?(\d{1,19})(?:[/?#]\S*)?")

_NO_WORD = "It contains no word to search for."
_NAMES_TOO_MANY = (
    f"More than {names.MAX_AUTHORS} authors have this name. Enter @name for the tweets of one."
)
_FIRST_AUTHORS = (
    f"More than {names.MAX_AUTHORS} names start like this; these are tweets of the first "
    f"{names.MAX_AUTHORS}."
)


class TooMany(Exception):
    """Not all matches can be found, and the caller wants all or none."""


Source = Callable[[Direction, int], FoundIds]
Sieve = Callable[[list[int]], list[int]]


@dataclass(frozen=True, slots=True)
class Finds:
    """Ids in the order of the direction, at most as many as requested."""

    ids: list[int] = field(default_factory=list)
    until: int | None = None  # as in `FoundIds`
    note: str = ""


def of_version(id: int) -> list[int]:
    """The tweet that this id is a version of."""
    return list(TweetVersion.objects.filter(pk=id).values_list("tweet_id", flat=True))


def _keep_all(ids: list[int]) -> list[int]:
    return ids


def _start_unchanged(direction: Direction) -> Direction:
    return direction


def _are_too_many(matched: int) -> bool:
    """Whether words with this many matches by the end of the first steps are too frequent to be
    rare, and not all texts are searched by the last step."""
    looked = sum(FIRST_STEPS)
    if texts.may_be_rare(matched, looked=looked):
        return False
    return texts.estimate_texts() > looked + sum(LAST_STEPS)


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for tweets that the sieve keeps."""

    deadline: Deadline
    most: int  # so many
    sieve: Sieve = _keep_all
    few: Source | None = None  # a source with fewer candidates than there are texts
    # Gives the point from which the sieve keeps most.
    start: Callable[[Direction], Direction] = _start_unchanged
    all_or_none: bool = False  # raise TooMany once it is clear that not all will be found

    def find(self, typed: str, direction: Direction) -> Finds:
        """By id or link, by @author, or by words of the text or the author's name."""
        whole = typed.strip()
        if match := ID_OR_LINK.fullmatch(whole):
            id = min(int(match[1]), LARGEST_ID)
            return Finds(direction.in_order(self.sieve([id, *of_version(id)])))
        if len(whole) > 1 and whole.startswith("@") and " " not in whole:
            return self.by_username(whole[1:], direction)
        return self.by_words(typed.lstrip(), direction)

    def among(self, typed: str, ids: list[int]) -> list[int]:
        """The ids that `find` would find, in the given order."""
        whole = typed.strip()
        if match := ID_OR_LINK.fullmatch(whole):
            wanted = min(int(match[1]), LARGEST_ID)
            return [id for id in ids if id in (wanted, *of_version(wanted))]
        if len(whole) > 1 and whole.startswith("@") and " " not in whole:
            kept, authors = set(), names.authors_called(whole[1:]).ids
        else:
            words = parse_search(typed.lstrip())
            if words is None:
                return []
            kept = set(texts.matching_ids(ids, words))
            authors = names.authors_matching(whole, words).ids if words.is_bare else []
        if authors:
            theirs = Tweet.objects.filter(id__among=ids, author__in=authors)
            kept |= set(theirs.values_list("pk", flat=True))
        return [id for id in ids if id in kept]

    def by_username(self, name: str, direction: Direction) -> Finds:
        authors = names.authors_called(name)
        note = _FIRST_AUTHORS if authors.more else ""
        return replace(self.by_authors(authors.ids, direction), note=note)

    def by_words(self, typed: str, direction: Direction) -> Finds:
        words = parse_search(typed)
        if words is None:
            return Finds(note=_NO_WORD)
        enforce_deadline(self.deadline)
        authors = (
            names.authors_matching(typed.strip(), words) if words.is_bare else names.Authors([])
        )
        finds = self.by_texts(words, direction)
        if authors.more:
            return replace(finds, note=_NAMES_TOO_MANY)
        if not authors.ids:
            return finds
        return self.merged(direction, finds, self.by_authors(authors.ids, direction))

    def by_texts(self, words: Search, direction: Direction) -> Finds:
        """Search the next texts; if few match, query the index for all that have the words."""
        if self.few:
            return self.through(
                self.few, lambda ids: self.sieve_present(texts.matching_ids(ids, words)), direction
            )
        matched = 0

        def next_texts(direction: Direction, looked: int) -> FoundIds:
            nonlocal matched
            look = texts.search_next_texts(words, direction, looked=looked, most=_MAX_MATCHES)
            matched += len(look.ids)
            if self.all_or_none and look.until is not None and _are_too_many(matched):
                raise TooMany
            return look

        finds = self.through(next_texts, self.sieve_present, direction, FIRST_STEPS)
        if finds.until is None or len(finds.ids) == self.most:
            return finds
        enforce_deadline(self.deadline)
        if texts.may_be_rare(matched, looked=sum(FIRST_STEPS)):
            every = texts.all_matches(words)
            if every is not None:
                return Finds(self.sieve_present(direction.in_order(every))[: self.most])
        return self.further(finds, next_texts, self.sieve_present, direction)

    def by_candidates(self, source: Source, direction: Direction) -> Finds:
        """What the sieve keeps, whatever the text."""
        finds = self.through(source, self.sieve, direction, FIRST_STEPS)
        if finds.until is None or len(finds.ids) == self.most:
            return finds
        return self.further(finds, source, self.sieve, direction)

    def further(self, finds: Finds, source: Source, sieve: Sieve, direction: Direction) -> Finds:
        """Continue where more is expected (`start`); if nothing is there, where the search ended.

        So a few matches may be skipped, but never all of them.
        """
        assert finds.until is not None
        here = direction.on_from(finds.until)
        there = self.start(here)
        more = Finds()
        if there != here:
            more = self.through(source, sieve, there)
        if not more.ids:
            more = self.through(source, sieve, here, LAST_STEPS)
        return Finds([*finds.ids, *more.ids][: self.most], more.until)

    def by_authors(self, authors: Sequence[int], direction: Direction) -> Finds:
        def tweets(direction: Direction, looked: int) -> FoundIds:
            return names.of_authors(authors, direction, most=looked)

        return self.through(tweets, self.sieve, direction)

    def through(
        self,
        source: Source,
        sieve: Sieve,
        direction: Direction,
        steps: Sequence[int] = (),
    ) -> Finds:
        kept: list[int] = []
        for step in steps or (*FIRST_STEPS, *LAST_STEPS):
            enforce_deadline(self.deadline)
            look = source(direction, step)
            kept += sieve(look.ids) if look.ids else []
            if look.until is None:
                return Finds(kept[: self.most])
            direction = direction.on_from(look.until)
            if len(kept) >= self.most:
                break
        return Finds(kept[: self.most], direction.beyond)

    def sieve_present(self, ids: list[int]) -> list[int]:
        """Leave out tweets that are gone, whose texts may still be there, and sieve the rest."""
        tweets = Tweet.objects.filter(id__among=ids, gone_at=None)
        present = set(tweets.values_list("pk", flat=True))
        return self.sieve([id for id in ids if id in present])

    def merged(self, direction: Direction, first: Finds, other: Finds) -> Finds:
        """Merge both, up to where both have searched."""
        known = [self.known_until(finds) for finds in (first, other)]
        until = direction.nearest([id for id in known if id is not None])
        ids = direction.in_order([*first.ids, *other.ids])
        if until is not None:
            ids = [id for id in ids if not direction.on_from(until).leads_to(id)]
        return Finds(ids[: self.most], until)

    def known_until(self, finds: Finds) -> int | None:
        return finds.ids[-1] if len(finds.ids) == self.most else finds.until
