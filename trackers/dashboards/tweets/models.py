"""Views of the tweets page that a person has saved under a name."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """`query` is what `Wanted.address` made of an address."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=60)
    query = models.TextField()

    class Meta:
        ordering = ("name", "id")
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="savedview_once")]

    def __str__(self) -> str:
        return self.name
