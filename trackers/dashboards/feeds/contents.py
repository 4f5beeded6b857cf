"""What a feed holds: the newest tweets of a home, a source or a view, as Atom or JSON Feed 1.1.

Neither contains its own address: that is a secret, and feeds get passed on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape

from trackers.ingest.sources.models import Source, SourceTweet
from trackers.listing.saved import newest_matches
from trackers.saved_views.models import SavedView
from trackers.timelines import homes
from trackers.timelines.models import Follower
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at

_MAX_ENTRIES = 50
# Of a source's tweets this many are looked at, however many of them are deleted.
_MAX_TWEETS_READ = 500
# Of a view's matches, likewise.
_MAX_MATCHES_READ = 100
_MAX_TITLE_LENGTH = 80
_ATOM = "application/atom+xml; charset=utf-8"
_JSON = "application/feed+json"
# XML cannot represent these at all, and tweets may contain them.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    url: str  # X's own and independent of this program's address, so it is also the id
    author: str
    text: str
    published: datetime
    updated: datetime  # when it was last edited; `published` if never

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
    of: int  # 0: the home; a source by its id, a saved view by its negated one
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


def view_contents(view: SavedView, *, now: datetime) -> FeedContents:
    """TookTooLong after a second."""
    newest = newest_matches(view.query, now=now, most=_MAX_MATCHES_READ)
    there = Tweet.objects.filter(pk__in=newest.ids, gone_at=None).order_by("-pk")
    ids = list(there.values_list("pk", flat=True)[:_MAX_ENTRIES])
    return FeedContents(view.name, -view.pk, _feed_entries(ids))


def _feed_entries(ids: Sequence[int]) -> list[Entry]:
    """In the order of the ids, without those deleted or untracked meanwhile."""
    tweets = Tweet.objects.filter(gone_at=None).select_related("author", "tweettext").in_bulk(ids)
    return [_feed_entry(tweets[id]) for id in ids if id in tweets]


def _feed_entry(tweet: Tweet) -> Entry:
    text = getattr(tweet, "tweettext", None)
    published = tweet.created_at or born_at(tweet.pk)
    return Entry(
        url=f"https://x.com/i/status/{tweet.pk}",
        author=_author_words(tweet),
        text=text.text if text else f"Tweet {tweet.pk}, whose text is not known yet.",
        published=published,
        # The ids of versions tell when X made them.
        updated=born_at(tweet.newest) if tweet.newest else published,
    )


def _author_words(tweet: Tweet) -> str:
    who = tweet.author
    if who is None:
        return "Author not known"
    handle = f"@{who.username}" if who.username else f"author {who.pk}"
    return f"{who.name} ({handle})" if who.name else handle


class AtomFeed(Atom1Feed):
    """Dated by its last change, and a deletion counts as one."""

    def __init__(self, *args: Any, changed_at: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.changed_at = changed_at

    def latest_post_date(self) -> datetime:
        return self.changed_at


def _atom_feed(contents: FeedContents, *, id: UUID, changed_at: datetime, link: str) -> bytes:
    feed = AtomFeed(
        title=_xml_text(contents.title),
        link=link,
        description=None,
        feed_guid=id.urn,
        changed_at=changed_at,
    )
    for entry in contents.entries:
        feed.add_item(
            title=_xml_text(entry.title),
            link=entry.url,
            description=_xml_text(escape(entry.text).replace("\n", "<br>")),
            unique_id=entry.url,
            author_name=_xml_text(entry.author),
            pubdate=entry.published,
            updateddate=entry.updated,
        )
    return feed.writeString("utf-8").encode()


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub("", text)


def _json_feed(contents: FeedContents, *, id: UUID, changed_at: datetime, link: str) -> bytes:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": contents.title,
        "home_page_url": link,
        "items": [_json_item(entry) for entry in contents.entries],
    }
    return json.dumps(feed, ensure_ascii=False).encode()


def _json_item(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.url,
        "url": entry.url,
        "content_text": entry.text,
        "date_published": entry.published.isoformat(),
        "date_modified": entry.updated.isoformat(),
        "authors": [{"name": entry.author}],
    }


WRITERS = {"atom": (_ATOM, _atom_feed), "json": (_JSON, _json_feed)}
