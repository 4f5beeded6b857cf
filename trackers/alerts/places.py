"""How far rules have read what comes in an order; one row each."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class HappeningPlace(models.Model):
    """How far the rules about happenings have read them; one row."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    # All up to this id were read; and of later ones, these.
    reached = models.BigIntegerField()
    handled = ArrayField(models.BigIntegerField())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="happeningplace_is_one")]

    def __str__(self) -> str:
        return f"{self.reached}"


class AlertPlace(models.Model):
    """How far the rules about milestones have read the live feed; one row."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    place = models.BigIntegerField(default=0)
    nth = models.IntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="alertplace_is_one")]

    def __str__(self) -> str:
        return f"{self.place}-{self.nth}"
