"""Where people are: channels, and what is on its way to them.

AlertNotice ─> ChannelMessage, one for each channel ─> waiting ─> sent, or given up
The messages of a channel that wait are sent as one, so what is claimed, retried and paced is the
channel: its columns say when it is next, and what it is sending.
"""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from trackers.channels.shapes import SHAPES
from trackers.credentials.secrets import EncryptedJSONField
from trackers.roles import Person

if TYPE_CHECKING:
    from typing import Self

# So that a second's look at them is bounded.
CHANNELS_MOST = 200
# After that long nobody needs a message.
GIVEN_UP_AFTER = timedelta(days=1)
MAX_REASON = 300


class ChannelQuerySet(models.QuerySet["Channel"]):
    def seen_by(self, person: Person) -> Self:
        """Everybody's, and the person's own: those that every door shows, and that a rule of this
        person may choose."""
        return self.filter(Q(owner=None) | Q(owner=person.pk or 0))

    def own_of(self, person: Person) -> Self:
        return self.filter(owner=person.pk or 0)


class Channel(models.Model):
    """A chat, a room or a topic at a service, where alerts go."""

    class Kind(models.TextChoices):
        SLACK = "slack", SHAPES["slack"].label
        TEAMS = "teams", SHAPES["teams"].label
        DISCORD = "discord", SHAPES["discord"].label
        TELEGRAM = "telegram", SHAPES["telegram"].label
        NTFY = "ntfy", SHAPES["ntfy"].label
        GOOGLE_CHAT = "google_chat", SHAPES["google_chat"].label
        MATTERMOST = "mattermost", SHAPES["mattermost"].label
        MATRIX = "matrix", SHAPES["matrix"].label
        APPRISE = "apprise", SHAPES["apprise"].label
        BROWSER = "browser", SHAPES["browser"].label

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=11, choices=Kind)
    # The parts of its address, by the names in its shape.
    address = EncryptedJSONField(editable=False)
    # What people may see of the address.
    place = models.CharField(max_length=200, editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False
    )
    made_at = models.DateTimeField(db_default=Now(), editable=False)
    # Whose own it is, for nobody else to see; null: everybody's. Without a constraint, which would
    # have locked the table when this came.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        editable=False,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    muted_until = models.DateTimeField(null=True, editable=False)

    # Nothing is sent before then; the claim moves it ahead, so if its process dies, another one
    # tries again later.
    next_at = models.DateTimeField(db_default=Now(), editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    # Who sends to it: of two that do, the later one.
    claim = models.BigIntegerField(null=True, editable=False)
    # What is being sent is waiting messages up to this one, at each attempt the same.
    sending_upto = models.BigIntegerField(null=True, editable=False)

    sent_at = models.DateTimeField(null=True, editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    # Since when nothing is sent, because the service said that it will never work again.
    stopped_at = models.DateTimeField(null=True, editable=False)
    reason = models.CharField(max_length=MAX_REASON, blank=True, editable=False)

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_own(self) -> bool:
        return self.owner_id is not None

    @property
    def state(self) -> str:
        if self.stopped_at:
            return "stopped"
        if self.failing_since:
            return "failing"
        if self.muted_until and self.muted_until > timezone.now():
            return "muted"
        return "working" if self.sent_at else "new"

    def clean_fields(self, exclude: object = None) -> None:
        super().clean_fields(exclude)  # type: ignore[arg-type]
        if not self.name.strip():
            raise ValidationError({"name": "Enter a name."})


class OwnLimits(models.Model):
    """What each person may have of their own, whatever their role: one row."""

    rules = models.PositiveSmallIntegerField(
        "rules a person",
        default=20,
        validators=[MaxValueValidator(500)],
        help_text="Rules of one's own, of the 500 that there may be in all. 0: nobody may add any.",
    )
    channels = models.PositiveSmallIntegerField(
        "channels a person",
        default=5,
        validators=[MaxValueValidator(50)],
        help_text="Chats, rooms and topics of one's own; browsers are not counted. 0: nobody may "
        "add any.",
    )
    messages = models.PositiveIntegerField(
        "messages an hour",
        default=60,
        validators=[MaxValueValidator(10_000)],
        help_text="E-mails and messages that rules of one's own send to a person. What is raised "
        "beyond that in an hour is only in that person's log.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "limits of one's own"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="ownlimits_is_one")]

    def __str__(self) -> str:
        return "what a person may have of their own"


class QuietHours(models.Model):
    """From when until when, by the person's own clock, e-mails of alerts and messages to their own
    channels wait. Past midnight, if it ends earlier than it begins."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="quiet_hours",
    )
    begins = models.TimeField("from")
    ends = models.TimeField("until")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(begins=F("ends")), name="quiethours_end"),
        ]

    def __str__(self) -> str:
        return f"{self.begins:%H:%M} to {self.ends:%H:%M}"

    @property
    def zone(self) -> tzinfo:
        chosen = getattr(self.user, "time_format", None)
        return chosen.notation().zone if chosen else UTC


def own_limits() -> OwnLimits:
    """The current ones; the defaults until they are first saved."""
    return OwnLimits.objects.filter(pk=1).first() or OwnLimits(pk=1)


class PushKey(models.Model):
    """By which push services know this installation: one row, made with the first browser."""

    key = EncryptedJSONField(editable=False)

    def __str__(self) -> str:
        return "the key of Web Push"


class ChannelMessage(models.Model):
    """What a channel is told. waiting ─> sent, or given up."""

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        GIVEN_UP = "given_up", "given up"

    channel = models.ForeignKey(
        Channel, on_delete=models.CASCADE, related_name="messages", db_index=False
    )
    notice = models.ForeignKey(
        "trackers.AlertNotice", on_delete=models.CASCADE, null=True, related_name="messages"
    )
    title = models.CharField(max_length=200)
    # [{"what", "url", "rule", "is_over"}]; addresses without ours before them.
    lines = models.JSONField(default=list)
    # How many follow.
    more = models.IntegerField(default=0)
    # A person waits for the answer: it is sent alone and first, and once only.
    is_test = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    made_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    # Why not yet, or not at all.
    error = models.CharField(max_length=MAX_REASON, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            # "what was it told last?"
            models.Index(fields=["channel", "-id"], name="channelmessage_newest"),
            # "what waits for this channel?"
            models.Index(
                fields=["channel", "id"],
                name="channelmessage_waiting",
                condition=Q(state="waiting"),
            ),
            # "is one of them a test?"
            models.Index(
                fields=["channel", "id"],
                name="channelmessage_tests",
                condition=Q(state="waiting", is_test=True),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="sent", sent_at__isnull=False)
                | (~Q(state="sent") & Q(sent_at=None)),
                name="channelmessage_sent_at",
            ),
        ]

    def __str__(self) -> str:
        return f"to {self.channel_id}, {self.get_state_display()}"
