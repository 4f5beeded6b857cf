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

_MAX_ENTRIES = 50
# Of a source's tweets this many are looked at, however many of them are deleted.
_MAX_TWEETS_READ = 500
_MAX_TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Entry:
    url: str  # X's own and independent of this program's address, so it is also the id
    author: str
    text: str
    published: datetime

    @property
    def title(self) -> str:
        first = " ".join(self.text.split())
        short = (
            first
            if len(first) <= _MAX_TITLE_LENGTH
            else first[: _MAX_TITLE_LENGTH - 1].rstrip() + "…"
        )
        return f"{self.author}: {short}"


@dataclass(frozen=True, slots=True)
class FeedContents:
    title: str
    source_id: int  # 0: the home
    entries: Sequence[Entry]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.title, self.entries)).encode()).hexdigest()


def home_contents(follower: Follower) -> FeedContents:
    ids = homes.home_page(follower.pk, limit=_MAX_ENTRIES).ids
    return FeedContents(f"Home of {follower}", 0, _feed_entries(ids))


def source_contents(source: Source) -> FeedContents:
    newest = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    ids = list(newest.values_list("tweet_id", flat=True)[:_MAX_TWEETS_READ])
    there = Tweet.objects.filter(pk__in=ids, gone_at=None).order_by("-pk")
    return FeedContents(
        str(source),
        source.pk,
        _feed_entries(list(there.values_list("pk", flat=True)[:_MAX_ENTRIES])),
    )


def _feed_entries(ids: Sequence[int]) -> list[Entry]:
    """In the order of the ids, without those deleted or untracked meanwhile."""
    tweets = Tweet.objects.filter(gone_at=None).select_related("author", "tweettext").in_bulk(ids)
    return [_feed_entry(tweets[id]) for id in ids if id in tweets]


def _feed_entry(tweet: Tweet) -> Entry:
    text = getattr(tweet, "tweettext", None)
    return Entry(
        url=f"https://x.com/i/status/{tweet.pk}",
        author=_author_words(tweet),
        text=text.text if text else f"Tweet {tweet.pk}, not looked up yet.",
        published=tweet.created_at or born_at(tweet.pk),
    )


def _author_words(tweet: Tweet) -> str:
    who = tweet.author
    if who is None:
        return "Author not known"
    handle = f"@{who.username}" if who.username else f"author {who.pk}"
    return f"{who.name} ({handle})" if who.name else handle
