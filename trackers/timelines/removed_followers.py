"""Removes the home of a deleted follower, mostly deleted with a user or a team.

deleted: follows, what is built, the follower ─> commit ─> the timeline of the home
Django deletes the rows in cascade, follows first, as an unfollow does. The timeline is dropped
right after the commit, each by itself: the names of several followers in one transaction need not
ascend (`locks`). If the process is killed in between, `prune_removed_homes` does it. A signal,
since Django's admin deletes users.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from trackers.timelines import store
from trackers.timelines.homes.cache import timeline_name
from trackers.timelines.models import Follower
from tweetwatch.database import cursor

# Names are ordered by code points, where ";" follows ":". A scalar subquery: each follower is
# looked up by its key. CASE, so that no other name is cast to a number.
_LEFT = """
    SELECT name FROM trackers_timeline t
    WHERE name > 'home:' AND name < 'home;' AND live
      AND CASE WHEN name ~ '^home:[0-9]{1,18}$' THEN
          (SELECT id FROM trackers_follower WHERE id = substr(t.name, 6)::bigint) IS NULL END
    ORDER BY name
"""


@receiver(post_delete, sender=Follower)
def drop_home(instance: Follower, **_: object) -> None:
    transaction.on_commit(partial(store.drop, timeline_name(instance.pk)), robust=True)


def prune_removed_homes() -> int:
    """Drop the remaining homes of deleted followers; return how many."""
    with cursor() as db:
        names = [name for (name,) in db.execute(_LEFT)]
    for name in names:
        store.drop(name)
    return len(names)
