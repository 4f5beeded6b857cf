"""All tweets that match an address, as one query: to count them, and to act on them.

It has the filters of the page (`narrow`), but not its order. Unlike the page's queries, it may read
everything, so the caller must bound its time.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from trackers.ingest.sources.models import SourceTweet
from trackers.listing.narrow import Narrow
from trackers.listing.wanted import Wanted
from trackers.tweets.finding import names, words
from trackers.tweets.finding.finder import AN_ID, of_version
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.models import TweetTag
from trackers.updater import states

SAID = f"text ILIKE ALL (%s::text[]) AND {words.WORDS.format('text')} @@ %s::tsquery"


def matching(wanted: Wanted, *, now: datetime) -> QuerySet[Tweet]:
    """The matching tweets, whatever order and page the address asks for."""
    narrow = Narrow.of(wanted, now=now)
    tweets: QuerySet[Tweet] = Tweet.objects.filter(pk__gte=narrow.low, pk__lt=narrow.high)
    if wanted.state:
        tweets = states.in_state(tweets, wanted.state)
    if narrow.authors is not None:
        tweets = tweets.filter(author__in=narrow.authors)
    if narrow.tag is not None:
        theirs = TweetTag.objects.filter(tag=narrow.tag)
        tweets = tweets.filter(pk__in=theirs.values("tweet_id"))
    if wanted.source:
        brought = SourceTweet.objects.filter(source=wanted.source)
        tweets = tweets.filter(pk__in=brought.values("tweet_id"))
    if wanted.lang:
        texts = TweetText.objects.filter(lang=wanted.lang)
        tweets = tweets.filter(pk__in=texts.values("pk"), gone_at=None)
    for metric, least in wanted.least:
        tweets = tweets.filter(**{f"{metric}__gte": least})
    return tweets.filter(said(wanted.words)) if wanted.words else tweets


def said(typed: str) -> Q:
    """The condition for what was typed, as `Finder` reads it: an id or link, @author, or words."""
    whole = typed.strip()
    if found := AN_ID.fullmatch(whole):
        id = min(int(found[1]), LARGEST_ID)
        return Q(pk__in=[id, *of_version(id)])
    if len(whole) > 1 and whole.startswith("@") and " " not in whole:
        return Q(author__in=names.called(whole[1:]).ids)
    search = words.read(typed.lstrip())
    if search is None:
        return Q(pk__in=[])
    given = [list(search.patterns), search.exact]
    test = RawSQL(SAID, given, output_field=BooleanField())  # noqa: S611
    texts = TweetText.objects.filter(test)
    found_texts = Q(pk__in=texts.values("pk"), gone_at=None)
    authors = names.named(whole, search).ids if search.is_bare else []
    return found_texts | Q(author__in=authors) if authors else found_texts
