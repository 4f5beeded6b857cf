"""Removes the home of a deleted watcher, mostly deleted with a user or a team.

deleted: follows, what is built, the watcher ─> commit ─> the timeline of the home
Django deletes the rows in cascade, follows first, as an unfollow does. The timeline is dropped
right after the commit, each by itself: the names of several watchers in one transaction need not
ascend (`locks`). If the process is killed in between, `forget_left` does it. A signal, since
Django's admin deletes users.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from trackers.timelines import store
from trackers.timelines.feeds.cache import name_of
from trackers.timelines.models import Watcher
from tweetwatch.database import cursor

# Names are ordered by code points, where ";" follows ":". A scalar subquery: each watcher is looked
# up by its key. CASE, so that no other name is cast to a number.
LEFT = """
    SELECT name FROM trackers_timeline t
    WHERE name > 'home:' AND name < 'home;' AND live
      AND CASE WHEN name ~ '^home:[0-9]{1,18}$' THEN
          (SELECT id FROM trackers_watcher WHERE id = substr(t.name, 6)::bigint) IS NULL END
    ORDER BY name
"""


@receiver(post_delete, sender=Watcher)
def drop_home(instance: Watcher, **_: object) -> None:
    transaction.on_commit(partial(store.drop, name_of(instance.pk)), robust=True)


def forget_left() -> int:
    """Drop the remaining homes of deleted watchers; return how many."""
    with cursor() as db:
        names = [name for (name,) in db.execute(LEFT)]
    for name in names:
        store.drop(name)
    return len(names)
