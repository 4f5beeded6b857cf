"""What people ask of the list of tweets, kept under a name: one's own, or shared with a team.

`trackers.listing.saved` finds the tweets that a view asks for: the one place for pages, alerts,
feeds and the API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import BooleanField, Case, ExpressionWrapper, F, Q, Value, When

from trackers.roles import Person, gives_access, teams_of

if TYPE_CHECKING:
    from typing import Self

MAX_NAME_LENGTH = 60


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    """Each: the person's own in their order, then those of others by name."""

    def seen_by(self, person: Person) -> Self:
        """Those of others are shared with a team of the person's."""
        return self._which(_seen_by(person), person)

    def changed_by(self, person: Person) -> Self:
        """Those of others are there for an owner, and shared with any team."""
        return self._which(_changed_by(person), person)

    def seen_or_changed_by(self, person: Person) -> Self:
        return self._which(_seen_by(person) | _changed_by(person), person)

    def _which(self, which: Q, person: Person) -> Self:
        is_own = Q(user=person.pk or 0)
        place = Case(When(is_own, then=F("position")), default=Value(0))
        return (
            self.filter(which)
            .select_related("user", "team")
            .annotate(is_own=ExpressionWrapper(is_own, output_field=BooleanField()))
            .order_by("-is_own", place, "name", "pk")
        )


def _seen_by(person: Person) -> Q:
    return Q(user=person.pk or 0) | Q(team__in=teams_of(person))


def _changed_by(person: Person) -> Q:
    own = Q(user=person.pk or 0)
    return own | Q(team__isnull=False) if gives_access(person) else own  # type: ignore[arg-type]


class SavedView(models.Model):
    """`query` is what `TweetQuery.address` made of an address.

    Columns, rules and feeds name it by its id alone: it may be gone tomorrow, and they say so.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    query = models.TextField()
    position = models.SmallIntegerField(default=0, db_default=0)
    # Its members see it, too.
    team = models.ForeignKey(Group, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = SavedViewQuerySet.as_manager()
    # Of the person for whom it was read.
    is_own: bool

    class Meta:
        ordering = ("position", "name", "id")
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="savedview_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def whose(self) -> str:
        """For somebody else: whose it is, and who else sees it."""
        return f"{self.team}, by {self.user}" if self.team else f"by {self.user}"

    @property
    def title(self) -> str:
        """Its name, as the person knows it for whom it was read."""
        return self.name if self.is_own else f"{self.name} ({self.whose})"
