"""What a feed holds: the newest tweets of a home, or of a source, as entries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from trackers.ingest.sources.models import Source, SourceTweet
from trackers.timelines import homes
from trackers.timelines.models import Follower
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at

ENTRIES = 50
# Of a source's tweets this many are looked at, however many of them are deleted.
LOOKED_AT = 500
TITLE_LETTERS = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """`url` is X's own and independent of this program's address, so it is also the id."""

    url: str
    author: str
    text: str
    published: datetime

    @property
    def title(self) -> str:
        first = " ".join(self.text.split())
        short = first if len(first) <= TITLE_LETTERS else first[: TITLE_LETTERS - 1].rstrip() + "…"
        return f"{self.author}: {short}"


@dataclass(frozen=True, slots=True)
class Held:
    """A feed. `source_id` 0 is the home."""

    title: str
    source_id: int
    entries: Sequence[Entry]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.title, self.entries)).encode()).hexdigest()


def of_home(follower: Follower) -> Held:
    ids = homes.home_page(follower.pk, limit=ENTRIES).ids
    return Held(f"Home of {follower}", 0, entries(ids))


def of_source(source: Source) -> Held:
    newest = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    ids = list(newest.values_list("tweet_id", flat=True)[:LOOKED_AT])
    there = Tweet.objects.filter(pk__in=ids, gone_at=None).order_by("-pk")
    return Held(str(source), source.pk, entries(list(there.values_list("pk", flat=True)[:ENTRIES])))


def entries(ids: Sequence[int]) -> list[Entry]:
    """In the order of the ids, without those deleted or untracked meanwhile."""
    found = Tweet.objects.filter(gone_at=None).select_related("author", "tweettext").in_bulk(ids)
    return [entry(found[id]) for id in ids if id in found]


def entry(tweet: Tweet) -> Entry:
    text = getattr(tweet, "tweettext", None)
    return Entry(
        url=f"https://x.com/i/status/{tweet.pk}",
        author=author(tweet),
        text=text.text if text else f"Tweet {tweet.pk}, not looked up yet.",
        published=tweet.created_at or born_at(tweet.pk),
    )


def author(tweet: Tweet) -> str:
    who = tweet.author
    if who is None:
        return "Author not known"
    handle = f"@{who.username}" if who.username else f"author {who.pk}"
    return f"{who.name} ({handle})" if who.name else handle
