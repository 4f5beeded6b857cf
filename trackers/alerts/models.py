"""Rules that people add, what they raised, and the e-mails about it.

AlertRule ─ every minute ─> observations ─> outbox.findings ─ news ─> AlertNotice
AlertNotice ─> AlertMail, and ChannelMessage of trackers.channels
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from trackers.alerts.rhythm import Every, Weekday
from trackers.channels.models import Channel
from trackers.roles import Person
from trackers.scores.models import STANDS_OUT
from trackers.tweets.gains.models import Window
from trackers.tweets.models import METRICS

if TYPE_CHECKING:
    from typing import Self

# So that a minute's work is bounded.
RULES_MOST = 500
ADDRESSES_MOST = 10
# In a digest, and where it goes.
VIEWS_MOST, DIGEST_CHANNELS_MOST = 5, 10
LEAST_REST, MOST_REST = timedelta(minutes=1), timedelta(days=30)
VIEW = "trackers.view_alertrule"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


class AlertRuleQuerySet(models.QuerySet["AlertRule"]):
    def seen_by(self, person: Person) -> Self:
        """Everybody's, and the person's own: those that every door shows."""
        return self.filter(Q(owner=None) | Q(owner=person.pk or 0))

    def judged(self) -> Self:
        """Those switched on, but no person's own who may not see alerts any more."""
        people = User.objects.with_perm(VIEW, backend=_BACKEND)
        return self.filter(Q(owner=None) | Q(owner__in=people), enabled=True)


class AlertRule(models.Model):
    """What a person wants to know at once. Which fields count depends on the kind (`alerts.kinds`).

    A tweet, author, source, tag or saved view is stored only as an id: it may be gone tomorrow, and
    the rule then says so.
    """

    class Kind(models.TextChoices):
        VELOCITY = "velocity", "It grows fast"
        MILESTONE = "milestone", "It reaches a milestone"
        USUAL = "usual", "It does far better than usual"
        FELL = "fell", "One of its metrics falls"
        WAVE = "wave", "It has a second wave"
        GONE = "gone", "It is deleted, hidden or edited"
        WORDS = "words", "A new tweet has certain words"
        QUIET = "quiet", "An author or a source is quiet"
        LATENESS = "lateness", "Checks are late"
        CREDENTIAL = "credential", "A credential fails"
        SOURCE = "source", "A source leaks or is hidden"
        BUDGET = "budget", "A budget runs dry today or tomorrow"
        TROUBLE = "trouble", "Requests, the stream or deliveries keep failing"

    class About(models.TextChoices):
        ANY = "any", "all"
        TWEET = "tweet", "one tweet"
        AUTHOR = "author", "one author's tweets"
        SOURCE = "source", "one source"
        TAG = "tag", "the tweets with a tag"
        VIEW = "view", "the tweets of a saved view"

    name = models.CharField(max_length=80, help_text="The subject of the e-mails.")
    kind = models.CharField(max_length=10, choices=Kind)
    about = models.CharField(max_length=6, choices=About, default=About.ANY)
    of = models.BigIntegerField(
        "id",
        null=True,
        blank=True,
        help_text="The number of the tweet, author, source, tag or saved view.",
    )

    metric = models.CharField(
        max_length=11, blank=True, choices=[(one, one) for one in METRICS], default=""
    )
    minutes = models.SmallIntegerField("measured over", choices=Window, default=Window.HOUR)
    at = models.BigIntegerField(
        "at least",
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(10**15)],
        help_text="For fast growth: the gain per hour. For tweets above the usual: those with "
        "fewer than this are ignored.",
    )
    times = models.FloatField(
        "times the usual",
        default=3.0,
        validators=[MinValueValidator(STANDS_OUT), MaxValueValidator(1000)],
        help_text="How many times as much as the author's earlier posts usually have at that age: "
        "the score, from 2 on.",
    )
    late_by = models.DurationField(
        "later than",
        default=timedelta(minutes=5),
        help_text="How late the most overdue tweet may be.",
    )
    lasting = models.DurationField(
        "for at least", default=timedelta(minutes=5), help_text="How long it must be that late."
    )

    words = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="Whole words, in any case; several in quotes are a phrase, and -word excludes.",
    )
    any_word = models.BooleanField("one of them is enough", default=False, db_default=False)

    rest = models.DurationField(
        "pause after an alert",
        default=timedelta(hours=1),
        validators=[MinValueValidator(LEAST_REST), MaxValueValidator(MOST_REST)],
        help_text="After an alert, the rule is silent about the same thing for this long.",
    )
    to = ArrayField(
        models.EmailField(),
        size=ADDRESSES_MOST,
        default=list,
        blank=True,
        verbose_name="e-mail to",
        help_text="Addresses, separated by commas. Leave empty for no e-mails.",
    )
    channels = models.ManyToManyField(
        Channel,
        blank=True,
        related_name="rules",
        help_text="Chats, rooms and topics that get a message.",
    )
    by_event = models.BooleanField(
        "also as an event", default=True, help_text="For subscribers to the topic alerts."
    )
    enabled = models.BooleanField(default=True)
    # Whose own it is, for nobody else to see; null: everybody's. It tells its person alone: by the
    # account's address, and by channels of their own. Without a constraint, which would have locked
    # the table when this came.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        editable=False,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    to_owner = models.BooleanField("e-mail to me", default=False, db_default=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False
    )
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = AlertRuleQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(owner=None, to_owner=False)
                | Q(owner__isnull=False, to=[], by_event=False),
                name="alertrule_tells_its_owner",
            ),
            models.CheckConstraint(
                condition=Q(about="any", of=None) | (~Q(about="any") & Q(of__isnull=False)),
                name="alertrule_of_what_it_is_about",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_own(self) -> bool:
        return self.owner_id is not None

    @property
    def addresses(self) -> list[str]:
        """Where its e-mails go now."""
        if self.owner is None:
            return self.to
        return [self.owner.email] if self.to_owner and self.owner.email else []

    def told_channels(self) -> models.QuerySet[Channel]:
        """Without their addresses."""
        chosen = self.channels.all() if self.owner is None else self.channels.own_of(self.owner)
        return chosen.defer("address")


class AlertNoticeQuerySet(models.QuerySet["AlertNotice"]):
    def seen_by(self, person: Person) -> Self:
        """All but what rules of other people's own raised, and other people's own e-mails."""
        own = Q(owner=None) | Q(owner=person.pk or 0)
        theirs = Q(kind=AlertNotice.Kind.DIGEST) & ~Q(digest__user=person.pk or 0)
        return self.filter(own).exclude(theirs).defer("html")


class AlertNotice(models.Model):
    """What a rule raised in one minute; or a test, or a digest. Kept for a while as the log."""

    class Kind(models.TextChoices):
        ALERT = "alert"
        TEST = "test"
        DIGEST = "digest"

    kind = models.CharField(max_length=6, choices=Kind, default=Kind.ALERT)
    rule = models.ForeignKey(AlertRule, on_delete=models.SET_NULL, null=True)
    # Empty for what tweetwatch checks by itself.
    rule_name = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField()
    # The first few: [{"what", "url", "state", "kind", "of"}]; with "muted" nobody is sent that one.
    lines = models.JSONField(default=list)
    # How many follow.
    more = models.IntegerField(default=0)
    # Of a digest: its text, and the same as HTML with pictures.
    body = models.TextField(blank=True)
    html = models.TextField(blank=True, default="", db_default="")
    # Without a constraint, which would have locked the table when this came.
    digest = models.ForeignKey(
        "AlertDigest",
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    # Of what a rule of a person's own raised: whose; also when the rule is gone.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )

    objects = AlertNoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        # "which are old enough to be deleted?"
        indexes = [models.Index(fields=["at"], name="alertnotice_at")]

    def __str__(self) -> str:
        return f"{self.rule_name or self.kind} at {self.at:%Y-%m-%d %H:%M}"

    @property
    def heard(self) -> list[dict[str, Any]]:
        """The lines that people are sent: those not muted."""
        return [line for line in self.lines if not line.get("muted")]


class AlertMute(models.Model):
    """Until when nobody is sent what a rule raises, or what any rule raises about a tweet."""

    rule = models.OneToOneField(AlertRule, on_delete=models.CASCADE, null=True)
    tweet = models.BigIntegerField(null=True, unique=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(rule=None, tweet__isnull=False) | Q(rule__isnull=False, tweet=None),
                name="alertmute_of_a_rule_or_a_tweet",
            ),
        ]

    def __str__(self) -> str:
        return f"rule {self.rule_id}" if self.rule_id else f"tweet {self.tweet}"


class AlertMail(models.Model):
    """One e-mail to one address. waiting ─> sent, or given up."""

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        GIVEN_UP = "given_up", "given up"

    notice = models.ForeignKey(AlertNotice, on_delete=models.CASCADE, related_name="mails")
    to = models.EmailField()
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    made_at = models.DateTimeField()
    # When it is tried next; the claim moves it ahead, so if its process dies, another one tries it
    # later.
    next_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    # It was made in quiet hours: what waited through them for one address comes as one e-mail.
    held = models.BooleanField(default=False, db_default=False)
    # Why not yet, or not at all.
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            # "which is to be sent next?"
            models.Index(
                fields=["next_at"], name="alertmail_waiting", condition=Q(state="waiting")
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="sent", sent_at__isnull=False)
                | (~Q(state="sent") & Q(sent_at=None)),
                name="alertmail_sent_at",
            ),
        ]

    def __str__(self) -> str:
        return f"to {self.to}, {self.get_state_display()}"


class AlertPicture(models.Model):
    """A picture of an e-mail that is not sent yet; deleted once it is, or was given up."""

    mail = models.ForeignKey(AlertMail, on_delete=models.CASCADE, related_name="pictures")
    # As the e-mail's HTML names it.
    name = models.CharField(max_length=40)
    png = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.name} of {self.mail_id}"


class AlertDigest(models.Model):
    """A person's regular e-mail, to the address of the account, by the account's clock."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    every = models.CharField(
        "how often", max_length=7, choices=Every, default=Every.DAY, db_default=Every.DAY
    )
    # Of what comes once a week.
    weekday = models.PositiveSmallIntegerField(
        choices=Weekday, default=Weekday.MONDAY, db_default=Weekday.MONDAY
    )
    hour = models.PositiveSmallIntegerField(default=7, validators=[MaxValueValidator(23)])
    # Figures of which set, as `TweetSet.address`; empty: of none.
    report = models.CharField(
        "with a report on", max_length=120, blank=True, default="all/all", db_default="all/all"
    )
    # Saved views, whose strongest posts it has; one that is gone says so.
    views = ArrayField(models.IntegerField(), size=VIEWS_MOST, null=True, blank=True)
    # Channels that get it as text; one that is gone, or not offered any more, gets nothing.
    channels = ArrayField(models.IntegerField(), size=DIGEST_CHANNELS_MOST, null=True, blank=True)
    when_quiet = models.BooleanField("also when nothing was alerted", default=False)
    # Of the account's zone, on which the last one was made, or could have been before it began.
    day = models.DateField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(hour__lte=23), name="alertdigest_hour"),
            models.CheckConstraint(condition=Q(weekday__lte=6), name="alertdigest_weekday"),
        ]

    def __str__(self) -> str:
        if self.every == Every.WEEK:
            return f"every {self.get_weekday_display()} at {self.hour:02}:00"
        return f"{self.get_every_display()} at {self.hour:02}:00"


class AlertsRead(models.Model):
    """How far a person has read the log: one place, however much is in it. Without a row, to where
    it was when the account was made.

    By ids: one process at a time raises alerts, so none with a lower id comes later.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="alerts_read",
    )
    # The id of the newest notice that was read.
    place = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.user} to {self.place}"
