"""Tags merged and removed.

marked as ended ─> out of every list ─> its rows moved or deleted in pieces ─> the tag is gone
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now

from trackers.tweets.tags.models import Tag
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

# Rows per transaction.
PIECE = 5000

# The limit is a literal: if the planner did not know it, it would plan for all rows. An array,
# since for a join the planner would scan the whole table. The target is locked as in `tagging`, so
# it is not ended meanwhile. An ended tag can no longer be put on a tweet.
SWEEP = f"""
    WITH target AS MATERIALIZED (
        SELECT id FROM trackers_tag WHERE id = %(into)s AND ended_at IS NULL FOR SHARE
    ),
    gone AS (
        DELETE FROM trackers_tweettag WHERE tag_id = %(tag)s AND tweet_id = ANY(ARRAY(
            SELECT tweet_id FROM trackers_tweettag WHERE tag_id = %(tag)s
            ORDER BY tweet_id LIMIT {PIECE} FOR UPDATE))
        RETURNING tweet_id
    ),
    held AS MATERIALIZED (
        SELECT held.id FROM (SELECT tweet_id FROM gone ORDER BY tweet_id) gone
        CROSS JOIN LATERAL (
            SELECT id FROM trackers_tweet WHERE id = gone.tweet_id FOR KEY SHARE) held
    ),
    moved AS (
        INSERT INTO trackers_tweettag (tag_id, tweet_id)
        SELECT target.id, held.id FROM target CROSS JOIN held
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM gone
"""
# Both are bounded: larger numbers need not be exact. Ordered, or the planner would scan the table
# for the rows of a tag that it assumes to be frequent.
LEFT = """
    SELECT count(*) FROM trackers_tag tag CROSS JOIN LATERAL (
        SELECT FROM trackers_tweettag WHERE tag_id = tag.id ORDER BY tweet_id LIMIT 100000) of
    WHERE tag.ended_at IS NOT NULL
"""
COUNTED_MOST = 10_000
ON_TWEETS = """
    SELECT count(*) FROM (
        SELECT FROM trackers_tweettag WHERE tag_id = %(tag)s
        ORDER BY tweet_id LIMIT %(most)s + 1) counted
"""


def end(tags: Sequence[Tag], *, into: Tag | None = None) -> int:
    """Remove tags, or merge them into another one; return how many. `sweep` does the rest. Does
    nothing if the other one is ended itself."""
    ids = {tag.pk for tag in tags}
    with transaction.atomic():
        live = Tag.objects.live().select_for_update(no_key=True).order_by("pk")
        ended = {tag.pk for tag in live.filter(pk__in=ids | ({into.pk} if into else set()))}
        if into:
            if into.pk not in ended:
                return 0
            ended.remove(into.pk)
        # Tags that were being merged into one of these now go into the same target.
        Tag.objects.filter(into__in=ended).update(into=into)
        Tag.objects.filter(pk__in=ended).update(ended_at=Now(), into=into)
    return len(ended)


def sweep(*, deadline: Deadline) -> Worked:
    """Move or delete the rows of ended tags, and then the tags."""

    def piece() -> int | None:
        tag = Tag.objects.exclude(ended_at=None).order_by("pk").first()
        if tag is None:
            return None
        with cursor() as db:
            found = db.execute(SWEEP, {"tag": tag.pk, "into": tag.into_id}).fetchone()
        assert found is not None
        if not found[0]:
            tag.delete()
        return int(found[0])

    return in_pieces("ended tags", piece, left=left, deadline=deadline)


def left() -> int:
    """About how many rows wait; at least one while an ended tag exists."""
    return max(count(LEFT, {}), Tag.objects.exclude(ended_at=None).count())


def on_tweets(tag: Tag, most: int = COUNTED_MOST) -> int:
    """How many tweets have the tag, up to one more than `most`."""
    return count(ON_TWEETS, {"tag": tag.pk, "most": most})
