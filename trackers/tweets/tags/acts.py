"""Tags merged and removed, by whom, which is in the history.

marked as ended ─> out of every list ─> its rows moved or deleted in pieces ─> the tag is gone
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models.functions import Now

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.jobs import ordinary
from trackers.notes.models import Note, drop_notes, move_notes
from trackers.tweets.tags.models import Tag
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count
from tweetwatch.statements import statement

_SWEEP_TASK = "trackers.tasks.sweep_tags"
# Rows per transaction.
_ROWS_PER_SWEEP = 5000

SWEEP = statement(
    __file__,
    "sweep",
    piece=_ROWS_PER_SWEEP,
    uncounted=noting_uncounted("SELECT tweet_id AS id FROM gone"),
)
# Both are bounded: larger numbers need not be exact. Ordered, or the planner would scan the table
# for the rows of a tag that it assumes to be frequent.
SWEEP_LEFT = """
    SELECT count(*) FROM trackers_tag tag CROSS JOIN LATERAL (
        SELECT FROM trackers_tweettag WHERE tag_id = tag.id ORDER BY tweet_id LIMIT 100000) of
    WHERE tag.ended_at IS NOT NULL
"""
MAX_COUNTED = 10_000
_COUNT_TAGGED = """
    SELECT count(*) FROM (
        SELECT FROM trackers_tweettag WHERE tag_id = %(tag)s
        ORDER BY tweet_id LIMIT %(most)s + 1) counted
"""


def merge_tags(tags: Sequence[Tag], actor: Actor, *, into: Tag) -> Done:
    """Give the tweets of these tags the one `into`, and remove the others."""
    count = end_tags(tags, into=into)
    ordinary.run_soon(_SWEEP_TASK)
    if not count:
        return Done("Nothing was merged: the tags are gone. Reload this list.", is_done=False)
    history.record(actor, tags, f"Merged into “{into}”")
    return Done(
        f"Merged {count:,} into “{into}”. Their tweets are moved within a minute or so.", count
    )


def remove_tags(tags: Sequence[Tag], actor: Actor) -> Done:
    """Take them off all tweets, and remove them."""
    count = end_tags(tags)
    ordinary.run_soon(_SWEEP_TASK)
    if not count:
        return Done("Nothing to remove: removed already. Reload this list.", is_done=False)
    history.record(actor, tags, "Removed from all tweets", flag=history.DELETION)
    return Done(f"Removed {count:,}; the tweets stay.", count)


def end_tags(tags: Sequence[Tag], *, into: Tag | None = None) -> int:
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
        if into:
            move_notes(Note.Kind.TAG, ended, into=into.pk)
            _move_alerts(ended, into=into.pk)
        else:
            drop_notes(Note.Kind.TAG, ended)
    return len(ended)


def _move_alerts(ended: set[int], *, into: int) -> None:
    """Rules and digests about these are about that one from now on."""
    # By their names: alerts stand above tags.
    rules: Any = apps.get_model("trackers", "AlertRule").objects
    rules.filter(about="tag", of__in=ended).update(of=into)
    digests: Any = apps.get_model("trackers", "AlertDigest").objects
    digests.filter(report__in=[f"tag/{id}" for id in ended]).update(report=f"tag/{into}")


def sweep_ended(*, deadline: Deadline) -> PieceWork:
    """Move or delete the rows of ended tags, and then the tags."""

    def piece() -> int | None:
        tag = Tag.objects.exclude(ended_at=None).order_by("pk").first()
        if tag is None:
            return None
        with cursor() as db:
            row = db.execute(SWEEP, {"tag": tag.pk, "into": tag.into_id}).fetchone()
        assert row is not None
        if not row[0]:
            tag.delete()
        return int(row[0])

    return in_pieces("ended tags", piece, left=_rows_left, deadline=deadline)


def _rows_left() -> int:
    """About how many rows wait; at least one while an ended tag exists."""
    return max(select_count(SWEEP_LEFT, {}), Tag.objects.exclude(ended_at=None).count())


def count_tagged(tag: Tag, most: int = MAX_COUNTED) -> int:
    """How many tweets have the tag, up to one more than `most`."""
    return select_count(_COUNT_TAGGED, {"tag": tag.pk, "most": most})
