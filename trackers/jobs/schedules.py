"""Bring forward a task of django-q2's own scheduler, which looks every half minute."""

from __future__ import annotations

from django.db.models.functions import Now
from django_q.models import Schedule


def run_soon(task: str) -> None:
    """Have the task run at the scheduler's next look, whatever its schedule says. However often
    this is called, it runs once. A schedule that a person switched off, or removed, stays so."""
    Schedule.objects.filter(func=task).exclude(repeats=0).update(next_run=Now())
