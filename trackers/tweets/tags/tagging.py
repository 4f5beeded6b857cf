"""Tags put on tweets and taken off again, and read for the tweets of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models.functions import Lower

from trackers.tweets.finding.way import Look, Way
from trackers.tweets.tags.models import TweetTag
from tweetwatch.database import cursor

# SHARE: ending the tag waits for this, or it is ended already. KEY SHARE, in the order of the ids:
# untracking a tweet meanwhile also deletes its tags, and measuring it does not wait.
# LATERAL: by the primary key, whatever the statistics say.
PUT = """
    WITH tag AS MATERIALIZED (
        SELECT id FROM trackers_tag WHERE id = %(tag)s AND ended_at IS NULL FOR SHARE
    ),
    held AS MATERIALIZED (
        SELECT held.id FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
            SELECT id FROM trackers_tweet WHERE id = asked.id FOR KEY SHARE) held
    )
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT tag.id, held.id FROM tag CROSS JOIN held
    ON CONFLICT DO NOTHING
"""
TAKE = """
    DELETE FROM trackers_tweettag
    WHERE tag_id = %(tag)s AND tweet_id = ANY(%(ids)s::bigint[])
"""


def put(tag: int, ids: Iterable[int]) -> int:
    """Tag these tweets; return how many did not have the tag. 0 if the tag is ended."""
    with cursor() as db:
        return db.execute(PUT, {"tag": tag, "ids": sorted(ids)}).rowcount


def take(tag: int, ids: Iterable[int]) -> int:
    """Remove the tag from these tweets; return how many had it."""
    with cursor() as db:
        return db.execute(TAKE, {"tag": tag, "ids": sorted(ids)}).rowcount


def tags_of(ids: Sequence[int]) -> dict[int, list[str]]:
    """The names of the tags of each tweet that has one, in alphabetical order."""
    rows = TweetTag.objects.filter(tweet_id__in=ids, tag__ended_at=None)
    found: dict[int, list[str]] = defaultdict(list)
    for id, name in rows.order_by(Lower("tag__name")).values_list("tweet_id", "tag__name"):
        found[id].append(name)
    return dict(found)


def tagged(tag: int, way: Way, most: int) -> Look:
    """The next tweets with this tag, by the primary key."""
    rows = TweetTag.objects.filter(tag=tag)
    if way.up:
        rows = rows.filter(tweet_id__gt=way.beyond).order_by("tweet_id")
    else:
        rows = rows.filter(tweet_id__lt=way.beyond).order_by("-tweet_id")
    ids = list(rows.values_list("tweet_id", flat=True)[:most])
    return Look(ids, until=ids[-1] if len(ids) == most else None)


def among(tag: int, ids: set[int]) -> set[int]:
    """Those of these tweets that have the tag."""
    rows = TweetTag.objects.filter(tag=tag, tweet_id__among=ids)
    return set(rows.values_list("tweet_id", flat=True))
