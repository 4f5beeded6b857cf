"""When django-q2's own scheduler, which looks every half minute, next runs one of our tasks."""

from __future__ import annotations

from django.db.models.functions import Now
from django_q.models import Schedule


def run_soon(task: str) -> None:
    """Have it run at the scheduler's next look, whatever its schedule says. However often it is
    asked for, that is one run. One that a person has switched off, or removed, stays so."""
    Schedule.objects.filter(func=task).exclude(repeats=0).update(next_run=Now())
