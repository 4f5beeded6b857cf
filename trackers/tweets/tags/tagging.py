"""Tags put on tweets and taken off again, and read for the tweets of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models.functions import Lower

from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.newcomers import noting_newcomers
from trackers.tweets.tags.models import TweetTag
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.pieces import select_count

# SHARE: ending the tag waits for this, or it is ended already. KEY SHARE, in the order of the ids:
# untracking a tweet meanwhile also deletes its tags, and measuring it does not wait.
# LATERAL: by the primary key, whatever the statistics say.
_TAG_TWEETS = f"""
    WITH tag AS MATERIALIZED (
        SELECT id FROM trackers_tag WHERE id = %(tag)s AND ended_at IS NULL FOR SHARE
    ),
    held AS MATERIALIZED (
        SELECT held.id FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
            SELECT id FROM trackers_tweet WHERE id = asked.id FOR KEY SHARE) held
    ),
    tagged AS (
        INSERT INTO trackers_tweettag (tag_id, tweet_id)
        SELECT tag.id, held.id FROM tag CROSS JOIN held
        ON CONFLICT DO NOTHING
        RETURNING tweet_id AS id
    ),
    uncounted AS ({noting_uncounted("SELECT id FROM tagged")}),
    newcomers AS ({noting_newcomers("SELECT id FROM tagged")})
    SELECT count(*) FROM tagged
"""
_UNTAG_TWEETS = f"""
    WITH untagged AS (
        DELETE FROM trackers_tweettag
        WHERE tag_id = %(tag)s AND tweet_id = ANY(%(ids)s::bigint[])
        RETURNING tweet_id AS id
    ),
    uncounted AS ({noting_uncounted("SELECT id FROM untagged")})
    SELECT count(*) FROM untagged
"""


def tag_tweets(tag: int, ids: Iterable[int]) -> int:
    """Tag these tweets; return how many did not have the tag. 0 if the tag is ended."""
    return select_count(_TAG_TWEETS, {"tag": tag, "ids": sorted(ids)})


def untag_tweets(tag: int, ids: Iterable[int]) -> int:
    """Remove the tag from these tweets; return how many had it."""
    return select_count(_UNTAG_TWEETS, {"tag": tag, "ids": sorted(ids)})


def tags_of(ids: Sequence[int]) -> dict[int, list[str]]:
    """The names of the tags of each tweet that has one, in alphabetical order."""
    rows = TweetTag.objects.filter(tweet_id__in=ids, tag__ended_at=None)
    names_by_tweet: dict[int, list[str]] = defaultdict(list)
    for id, name in rows.order_by(Lower("tag__name")).values_list("tweet_id", "tag__name"):
        names_by_tweet[id].append(name)
    return dict(names_by_tweet)


def candidates_tagged(tag: int, direction: Direction, most: int) -> FoundIds:
    """The next tweets with this tag, by the primary key."""
    rows = TweetTag.objects.filter(tag=tag)
    if direction.up:
        rows = rows.filter(tweet_id__gt=direction.beyond).order_by("tweet_id")
    else:
        rows = rows.filter(tweet_id__lt=direction.beyond).order_by("-tweet_id")
    ids = list(rows.values_list("tweet_id", flat=True)[:most])
    return FoundIds(ids, until=ids[-1] if len(ids) == most else None)


def tagged_among(tag: int, ids: set[int]) -> set[int]:
    """Those of these tweets that have the tag."""
    rows = TweetTag.objects.filter(tag=tag, tweet_id__among=ids)
    return set(rows.values_list("tweet_id", flat=True))
