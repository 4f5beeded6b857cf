"""What X says of the tweets that have a tag, which come and go."""

from __future__ import annotations

from datetime import datetime

from trackers.tweets.lookups import Lookups, counting_tweets, known_lookups, update_counts
from trackers.tweets.tags.acts import count_tagged
from trackers.tweets.tags.models import Tag
from tweetwatch.pieces import Deadline

COUNT = counting_tweets("trackers_tweettag", "tag_id")


def lookups_of_tag(tag: Tag) -> Lookups | None:
    """As last counted; None where that is still to come."""
    return known_lookups(COUNT, tag, tweets=count_tagged(tag))


def update_lookups_of_tags(*, now: datetime, deadline: Deadline) -> int:
    """Count the tags whose count is old; returns how many."""
    return update_counts(COUNT, Tag.objects.live(), now=now, deadline=deadline)
