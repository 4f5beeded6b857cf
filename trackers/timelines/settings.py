"""The one row of settings, and what a change of it entails."""

from __future__ import annotations

from django.db import transaction

from trackers.timelines.models import HomeSettings
from trackers.timelines.rebuilding import rebuild_all
from tweetwatch.database import cursor

# When one of these changes, homes are rebuilt.
_REBUILD_ON = ("strategy", "bucket_days", "bucket_size", "fanout_limit", "embed")

# A follower that comes into reach has missed what was delivered so far, so no home can be read
# until it is rebuilt. Locks: marks in the order of origins, then built homes, as everywhere.
_UNREADABLE = """
    UPDATE trackers_builthome f SET built_at = NULL
    FROM (SELECT follower_id, strategy FROM trackers_builthome
          ORDER BY strategy, follower_id FOR NO KEY UPDATE) held
    WHERE f.follower_id = held.follower_id AND f.strategy = held.strategy
"""
_REACH = """
    UPDATE trackers_deliverymark m SET reach = (
        SELECT follower_id FROM trackers_follow f WHERE f.origin_id = m.origin_id
        ORDER BY follower_id OFFSET coalesce(%(limit)s::int, 2147483647) - 1 LIMIT 1)
    FROM (SELECT origin_id FROM trackers_deliverymark ORDER BY origin_id FOR UPDATE) held
    WHERE m.origin_id = held.origin_id
"""


def home_settings() -> HomeSettings:
    """The current settings; the defaults until they are first saved."""
    return HomeSettings.objects.filter(pk=1).first() or HomeSettings(pk=1)


def save_home_settings(settings: HomeSettings) -> None:
    """Check and save them. Homes that must change are rebuilt, and until then are read from
    the sources.

    ValidationError, with a sentence for each field, if they are invalid.
    """
    settings.pk = 1
    settings.full_clean()
    with transaction.atomic():
        before = home_settings()
        settings.save()
        changed = {name for name in _REBUILD_ON if getattr(before, name) != getattr(settings, name)}
        with cursor() as db:
            if "fanout_limit" in changed:
                db.execute(_REACH, {"limit": settings.fanout_limit})
                db.execute(_UNREADABLE)
        if changed:
            rebuild_all(settings)
