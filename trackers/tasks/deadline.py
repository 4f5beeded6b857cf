"""How long a chore may take."""

from __future__ import annotations

from django.conf import settings

from tweetwatch.pieces import Deadline


def time_for_a_chore() -> Deadline:
    """Half of a task's time; the other half is for the longest single piece of a chore."""
    return Deadline.after(settings.TASK_TIMEOUT / 2)
