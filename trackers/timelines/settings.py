"""The one row of settings, and what follows from a change of it."""

from __future__ import annotations

from django.db import transaction

from trackers.timelines.homes import FeedSettings
from trackers.timelines.rebuilding import rebuild_all
from tweetwatch.database import cursor

# After a change of these, homes are laid out anew.
LAID_OUT_BY = ("strategy", "bucket_days", "bucket_size", "fanout_limit", "embed")

# Whoever comes into reach missed what was delivered until now, so no home can be read until it is
# laid out anew. In the order of origins, as everyone who locks marks.
UNREADABLE = """
    UPDATE trackers_feed f SET built_at = NULL
    FROM (SELECT watcher_id, strategy FROM trackers_feed
          ORDER BY strategy, watcher_id FOR NO KEY UPDATE) held
    WHERE f.watcher_id = held.watcher_id AND f.strategy = held.strategy
"""
REACH = """
    UPDATE trackers_feedmark m SET reach = (
        SELECT watcher_id FROM trackers_follow f WHERE f.origin_id = m.origin_id
        ORDER BY watcher_id OFFSET coalesce(%(limit)s::int, 2147483647) - 1 LIMIT 1)
    FROM (SELECT origin_id FROM trackers_feedmark ORDER BY origin_id FOR UPDATE) held
    WHERE m.origin_id = held.origin_id
"""


def current() -> FeedSettings:
    """As they are now; the defaults while nobody has saved any."""
    return FeedSettings.objects.filter(pk=1).first() or FeedSettings(pk=1)


def save(settings: FeedSettings) -> None:
    """Check and save them; what is laid out otherwise is laid out anew, and read until then.

    ValidationError, with a sentence for each field, when something is wrong with them.
    """
    settings.pk = 1
    settings.full_clean()
    with transaction.atomic():
        before = current()
        settings.save()
        changed = {name for name in LAID_OUT_BY if getattr(before, name) != getattr(settings, name)}
        with cursor() as db:
            if "fanout_limit" in changed:
                db.execute(REACH, {"limit": settings.fanout_limit})
                db.execute(UNREADABLE)
        if changed:
            rebuild_all(settings)
