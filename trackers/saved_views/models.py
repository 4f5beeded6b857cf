"""What people ask of the list of tweets, kept under a name.

`trackers.listing.saved` finds the tweets that a view asks for: the one place for pages, alerts,
feeds and the API.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """`query` is what `TweetQuery.address` made of an address."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=60)
    query = models.TextField()
    position = models.SmallIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ("position", "name", "id")
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="savedview_once")]

    def __str__(self) -> str:
        return self.name
