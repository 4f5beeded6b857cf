"""Every hour: tweets in a live share are looked up at least once a day, also those that rest.

X's terms ask that what is displayed is what X shows now; what is missing hides the share at once.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from trackers.schedule.tweet_changes import check_in_turn
from trackers.shares.models import Share
from trackers.shares.terms import is_sharing_on
from trackers.tweets.models import Tweet

# With the hour until the next run: a day.
_CHECKED_WITHIN = timedelta(hours=23)


def look_up_shared(*, now: datetime) -> int:
    """How many are looked up for that; a live share names six at the most."""
    if not is_sharing_on():
        return 0
    shared = Share.objects.live(now=now).exclude(kind=Share.Kind.SET)
    ids = {id for share in shared for id in share.tweet_ids}
    stale = Q(measured_until=None) | Q(measured_until__lt=now - _CHECKED_WITHIN)
    waiting = Tweet.objects.filter(stale, pk__in=ids, gone_at=None, paused=False)
    due = list(waiting.values_list("pk", flat=True))
    return check_in_turn(due) if due else 0
