"""What anybody may see who has the link: the curve and figures of a tweet, or of a set.

off until an owner turns it on ─> an operator makes a `Share` ─> /s/<key>/, until its end
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import get_random_string

if TYPE_CHECKING:
    from typing import Self

# 131 bits: nobody guesses it.
_KEY_LENGTH = 22
_KEPT_AFTER_END = timedelta(days=90)
MAX_TITLE_LENGTH, MAX_OF_LENGTH = 120, 150


def new_share_key() -> str:
    return get_random_string(_KEY_LENGTH)


class Sharing(models.Model):
    """Whether anything is shared at all: one row, or none while nobody turned it on."""

    is_on = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "sharing"

    def __str__(self) -> str:
        return "on" if self.is_on else "off"


class ShareQuerySet(models.QuerySet["Share"]):
    def live(self, *, now: datetime) -> Self:
        """Those that were not ended, and have not run out."""
        return self.filter(ended_at=None, ends_at__gt=now)

    def long_over(self, *, now: datetime) -> Self:
        """Those that nobody could open for so long that their figures are of no use."""
        before = now - _KEPT_AFTER_END
        return self.filter(Q(ended_at__lt=before) | Q(ends_at__lt=before))


class Share(models.Model):
    """A link to one thing, read by strangers."""

    class Kind(models.TextChoices):
        TWEET = "tweet", "a tweet"
        SET = "set", "a set"
        COMPARISON = "comparison", "a comparison"

    key = models.CharField(max_length=_KEY_LENGTH, unique=True, default=new_share_key)
    kind = models.CharField(max_length=10, choices=Kind)
    # The id of a tweet, or the kind and key of a set, as in "hashtag/moon"; of a comparison several
    # of the one or the other, with commas.
    of = models.CharField(max_length=MAX_OF_LENGTH)
    # What its page shows of it: the query of the page that was shared.
    query = models.CharField(max_length=300, blank=True)
    title = models.CharField(max_length=MAX_TITLE_LENGTH, blank=True)
    with_notes = models.BooleanField(default=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made_at = models.DateTimeField(db_default=Now())
    ends_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(null=True)
    # How often its page was opened, and when last.
    seen = models.BigIntegerField(db_default=0)
    seen_at = models.DateTimeField(null=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.title or f"{self.kind} {self.of}"

    @property
    def address(self) -> str:
        return f"/s/{self.key}/"

    @property
    def tweet_ids(self) -> list[int]:
        """Those that it names; none of sets."""
        return [] if "/" in self.of else [int(id) for id in self.of.split(",")]

    @property
    def set_addresses(self) -> list[str]:
        """Such as "hashtag/moon"; none of tweets."""
        return self.of.split(",") if "/" in self.of else []

    def count_reader(self, *, now: datetime) -> None:
        """One more opened its page."""
        seen = models.F("seen") + 1
        Share.objects.filter(pk=self.pk).update(seen=seen, seen_at=now)
