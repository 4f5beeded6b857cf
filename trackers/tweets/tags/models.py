"""Tags: names that people give to tweets, to find them again.

A tag that is removed, or merged into another one, disappears from every list at once. Its rows are
moved or deleted in pieces (`ending`); the tag itself is deleted after the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Lower

from trackers.tweets.lookups import LookupsCounted

if TYPE_CHECKING:
    from typing import Self

MAX_NAME_LENGTH = 40


class TagQuerySet(models.QuerySet["Tag"]):
    def live(self) -> Self:
        return self.filter(ended_at=None)

    def called(self, name: str) -> Self:
        """Tags of this name, ignoring case, like the constraint and its index."""
        return self.live().alias(low=Lower("name")).filter(low=Lower(Value(name)))

    def by_name(self) -> Self:
        return self.order_by(Lower("name"))


class Tag(LookupsCounted):
    """A person's word for tweets."""

    name = models.CharField(
        max_length=MAX_NAME_LENGTH, help_text=f"Up to {MAX_NAME_LENGTH} characters, without commas."
    )
    # Since when it is being removed, or merged.
    ended_at = models.DateTimeField(null=True, editable=False)
    # What it is merged into; null while it is in use, or is being removed.
    into = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects = TagQuerySet.as_manager()

    class Meta:
        constraints = [
            # Ignores case; the name of an ended tag is free.
            models.UniqueConstraint(Lower("name"), condition=Q(ended_at=None), name="tag_once"),
        ]

    def __str__(self) -> str:
        return self.name


class TweetTag(models.Model):
    """A tweet that has a tag. The list of a tag is read in the order of the key."""

    pk = models.CompositePrimaryKey("tag_id", "tweet_id")
    # Deleted in pieces, never by Django.
    tag = models.ForeignKey(Tag, on_delete=models.DO_NOTHING, related_name="tweets", db_index=False)
    tweet_id = models.BigIntegerField()

    class Meta:
        indexes = [
            # "which tags does this tweet have?"
            models.Index(fields=["tweet_id"], name="tweettag_of_tweet"),
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id} has tag {self.tag_id}"
