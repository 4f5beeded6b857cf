"""What X says of an import's tweets: until all are looked up, and for two months in all."""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.ingest.files.models import Import
from trackers.tweets.lookups import Lookups, counting_tweets, known_lookups, update_counts
from tweetwatch.pieces import Deadline

COUNT = counting_tweets("trackers_sourcetweet", "source_id")
# X does not show a tweet again and again: what is found after this is in the list of tweets.
_FOLLOWED_FOR = timedelta(days=60)


def lookups_of(report: Import) -> Lookups | None:
    """As last counted; None where that is still to come."""
    return known_lookups(COUNT, report, tweets=report.tracked + report.already)


def update_lookups(*, now: datetime, deadline: Deadline) -> int:
    """Count the imports that are followed and whose count is old; returns how many."""
    followed = Import.objects.filter(ended_at__gt=now - _FOLLOWED_FOR)
    return update_counts(COUNT, followed, now=now, deadline=deadline)
