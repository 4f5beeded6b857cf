"""What may be shown to strangers, by X's terms: xdevplatform/docs of 2026-08-22,
developer-terms/policy and developer-terms/display-requirements.

What X does not show (deleted, protected, suspended) is shown to nobody else, and what only one
person's rights let us read is nobody else's either: that is the protected author again. Third
parties get no texts in bulk and no data sets, so a share has figures and a curve.
"""

from __future__ import annotations

from datetime import datetime

from trackers.sets.kinds import SetKind
from trackers.shares.models import Share, Sharing
from trackers.tweets.models import Author, Tweet

MAKE = "trackers.add_share"


def is_sharing_on() -> bool:
    return Sharing.objects.filter(is_on=True).exists()


def find_share(key: str, *, now: datetime) -> Share | None:
    """The share whose page is open to everybody; None once anything has ended it."""
    share = Share.objects.live(now=now).select_related("made_by").filter(key=key).first()
    if share is None or not is_sharing_on() or why_hidden(share):
        return None
    # It ends with the role of the person who made it.
    return share if share.made_by.is_active and share.made_by.has_perm(MAKE) else None


def why_hidden(share: Share) -> str:
    """Why nobody may see it now, as a sentence; empty: anybody may."""
    if ids := share.tweet_ids:
        tweets = Tweet.objects.select_related("author").in_bulk(ids)
        return next((why for id in ids if (why := _why_hidden_tweet(tweets.get(id)))), "")
    sets = (address.partition("/") for address in share.set_addresses)
    authors = [int(key) for kind, _, key in sets if kind == SetKind.AUTHOR]
    if Author.objects.filter(pk__in=authors, protected=True).exists():
        return "The author's posts are protected."
    return ""


def _why_hidden_tweet(tweet: Tweet | None) -> str:
    if tweet is None:
        return "The tweet is not tracked."
    if tweet.missing_since or tweet.gone_at:
        return "X does not show the tweet."
    # A post is shown with its author's @name.
    if tweet.author is None or not tweet.author.username:
        return "It is not known yet who wrote the tweet."
    return "The author's posts are protected." if tweet.author.protected else ""
