"""What is done to tags, by whom: each act is in the history."""

from __future__ import annotations

from collections.abc import Sequence

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.jobs import ordinary
from trackers.tweets.tags import ending
from trackers.tweets.tags.models import Tag

_SWEEP_TASK = "trackers.tasks.sweep_tags"


def merge_tags(tags: Sequence[Tag], actor: Actor, *, into: Tag) -> Done:
    """Give the tweets of these tags the one `into`, and remove the others."""
    count = ending.end_tags(tags, into=into)
    ordinary.run_soon(_SWEEP_TASK)
    if not count:
        return Done("Nothing was merged: the tags are gone. Reload this list.", is_done=False)
    history.record(actor, tags, f"Merged into “{into}”")
    return Done(
        f"Merged {count:,} into “{into}”. Their tweets are moved within a minute or so.", count
    )


def remove_tags(tags: Sequence[Tag], actor: Actor) -> Done:
    """Take them off all tweets, and remove them."""
    count = ending.end_tags(tags)
    ordinary.run_soon(_SWEEP_TASK)
    if not count:
        return Done("Nothing to remove: removed already. Reload this list.", is_done=False)
    history.record(actor, tags, "Removed from all tweets", flag=history.DELETION)
    return Done(f"Removed {count:,}; the tweets stay.", count)
