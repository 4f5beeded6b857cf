"""All tweets that match an address, as one query: to count them, and to act on them.

It has the filters of the page (`narrow`), but not its order. Unlike the page's queries, it may read
everything, so the caller must bound its time.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from trackers.ingest.sources.models import SourceTweet
from trackers.listing.filters import Filters, metric_conditions, text_conditions
from trackers.listing.query import TweetQuery
from trackers.tweets.finding import names, words
from trackers.tweets.finding.finder import ID_OR_LINK, of_version
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.presence import is_in
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.models import TweetTag
from trackers.updater import states

_TEXT_MATCHES = f"text ILIKE ALL (%s::text[]) AND {words.TEXT_WORDS.format('text')} @@ %s::tsquery"


def matching_tweets(query: TweetQuery, *, now: datetime) -> QuerySet[Tweet]:
    """The matching tweets, whatever order and page the address asks for."""
    filters = Filters.of(query, now=now)
    tweets: QuerySet[Tweet] = Tweet.objects.filter(pk__gte=filters.low, pk__lt=filters.high)
    if query.state:
        tweets = states.in_state(tweets, query.state)
    if query.presence:
        tweets = tweets.filter(is_in(query.presence))
    if filters.authors is not None:
        tweets = tweets.filter(author__in=filters.authors)
    if filters.tag is not None:
        theirs = TweetTag.objects.filter(tag=filters.tag)
        tweets = tweets.filter(pk__in=theirs.values("tweet_id"))
    if query.source:
        brought = SourceTweet.objects.filter(source=query.source)
        tweets = tweets.filter(pk__in=brought.values("tweet_id"))
    if of_text := text_conditions(query):
        texts = TweetText.objects.filter(**of_text)
        tweets = tweets.filter(pk__in=texts.values("pk"), gone_at=None)
    tweets = tweets.filter(*metric_conditions(query))
    return tweets.filter(_words_condition(query.words)) if query.words else tweets


def _words_condition(typed: str) -> Q:
    """The condition for what was typed, as `Finder` reads it: an id or link, @author, or words."""
    whole = typed.strip()
    if match := ID_OR_LINK.fullmatch(whole):
        id = min(int(match[1]), LARGEST_ID)
        return Q(pk__in=[id, *of_version(id)])
    if len(whole) > 1 and whole.startswith("@") and " " not in whole:
        return Q(author__in=names.authors_called(whole[1:]).ids)
    search = words.parse_search(typed.lstrip())
    if search is None:
        return Q(pk__in=[])
    params = [list(search.patterns), search.exact]
    test = RawSQL(_TEXT_MATCHES, params, output_field=BooleanField())  # noqa: S611
    texts = TweetText.objects.filter(test)
    found_texts = Q(pk__in=texts.values("pk"), gone_at=None)
    authors = names.authors_matching(whole, search).ids if search.is_bare else []
    return found_texts | Q(author__in=authors) if authors else found_texts
