"""Credentials for X, and the request windows that its headers described."""

from __future__ import annotations

from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from trackers.credentials import sentences
from trackers.credentials.secrets import EncryptedJSONField
from trackers.money.models import App, Project
from trackers.outbox.models import ALERTS_TOPIC
from trackers.outbox.publish import NewEvent, publish_events
from trackers.xapi.endpoints import endpoints_closed_to, is_of_a_plan
from trackers.xapi.results import WindowSeen
from tweetwatch.clock_times import clock_time

# The fields that describe a credential's renewal, saved together with its secrets.
RENEWAL = ["expires_at", "refreshing_until", "renewals_failed", "renewal_problem", "scopes"]
_REFUSALS = ["refused", "refused_since", "refused_reason", "retry_at"]


class CredentialQuerySet(models.QuerySet["Credential"]):
    def enabled(self) -> CredentialQuerySet:
        return self.filter(disabled_at=None)

    def for_lists(self) -> CredentialQuerySet:
        """With windows, app and project, and without the secrets.

        These are not even read, so that a lost field key breaks no page.
        """
        return (
            self.defer("secrets")
            .select_related("app__project")
            .prefetch_related("windows", "app__windows")
        )


class Credential(models.Model):
    """One set of keys to X. Its secrets are encrypted at rest and shown to nobody."""

    class Kind(models.TextChoices):
        BEARER = "bearer", "Bearer token (app only)"
        OAUTH1 = "oauth1", "OAuth 1.0a (user)"
        OAUTH2 = "oauth2", "OAuth 2.0 (user)"

    class Api(models.TextChoices):
        V2 = "v2", "v2"
        V1 = "v1.1", "v1.1"

    name = models.CharField(max_length=60, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    api = models.CharField(max_length=4, choices=Api, default=Api.V2)
    app = models.ForeignKey(
        App,
        on_delete=models.PROTECT,
        related_name="credentials",
        help_text="The X app that the keys belong to. X allows one app per use case, so several "
        "credentials are tokens of several users, or belong to separate projects.",
    )
    secrets = EncryptedJSONField()
    app_owner = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="The numeric id of the account at X that owns the app, where these are that "
        "account's tokens: X bills less for its posts and its mentions then. Leave empty "
        "otherwise.",
    )

    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, editable=False)
    refused = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="Consecutive refusals by X."
    )
    refused_since = models.DateTimeField(null=True, editable=False)
    refused_reason = models.CharField(max_length=300, blank=True, db_default="", editable=False)
    retry_at = models.DateTimeField(
        null=True, editable=False, help_text="X refused its keys: nothing is asked before then."
    )
    disabled_at = models.DateTimeField(null=True, editable=False)
    disabled_reason = models.CharField(max_length=300, blank=True, editable=False)

    # OAuth 2.0 only: its tokens expire, and one worker at a time renews them.
    expires_at = models.DateTimeField(
        null=True, editable=False, help_text="When the access token expires; null: X did not say."
    )
    refreshing_until = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Not used before then: its tokens are being renewed or, after a failure, will be "
        "renewed then.",
    )
    renewals_failed = models.PositiveSmallIntegerField(default=0, editable=False)
    renewal_problem = models.CharField(max_length=300, blank=True, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=40),
        null=True,
        blank=True,
        editable=False,
        help_text="What the user allowed at sign-in, as X named it with the last tokens; null: "
        "not known until the next renewal.",
    )

    objects = CredentialQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["bearer", "oauth1", "oauth2"]), name="credential_kind"
            ),
            models.CheckConstraint(condition=Q(api__in=["v2", "v1.1"]), name="credential_api"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def project(self) -> Project:
        return self.app.project

    @property
    def state(self) -> str:
        if self.disabled_at:
            return "disabled"
        # Until X answers again: its project has neither credits nor posts left.
        if self.project.depleted_reason:
            return "depleted"
        # Of its keys, or at one of its endpoints; until X accepts it again.
        return "refused" if self.refused or self.refused_at else "ready"

    @property
    def reason(self) -> str:
        """Why it is unusable, or is in places, or soon may be; empty when all is well."""
        because = self.disabled_reason or self.renewal_problem or self.project.depleted_reason
        if because or not self.refused:
            return because or self.refused_at or self.not_allowed or self.not_in_plan
        return f"{self.refused_keys} {_not_before(self.retry_at)}".rstrip()

    @property
    def refused_keys(self) -> str:
        if not self.refused or self.disabled_at:
            return ""
        times = "" if self.refused == 1 else f" {self.refused} times in a row"
        if self.refused_since:
            times += f" since {clock_time(self.refused_since, now=timezone.now(), seconds=False)}"
        because = f": {self.refused_reason.rstrip('.')}" if self.refused_reason else ""
        return f"X refused its keys{times}{because}. Correct them in the admin."

    @property
    def refused_at(self) -> str:
        """The endpoints at which X refuses it, and what X says; empty when there are none."""
        refusals = [
            f"refused at {window.endpoint}: {window.refused_reason.rstrip('.')}. "
            f"{_not_before(window.cooldown_until)}"
            for window in self.own_windows()
            if window.refused and not is_of_a_plan(window.endpoint)
        ]
        return " ".join(refusals).rstrip()

    @property
    def not_in_plan(self) -> str:
        """The endpoints that its plan does not have, by X's refusal; empty when there are none."""
        return " ".join(
            sentences.not_in_plan(self.name, window.endpoint, window.refused_reason)
            for window in self.own_windows()
            if window.refused and is_of_a_plan(window.endpoint)
        )

    @property
    def not_allowed(self) -> str:
        """What its user did not allow, and what cannot be read with it; empty if nothing."""
        if self.scopes is None:
            return ""
        closed = endpoints_closed_to(self.scopes)
        return sentences.not_allowed(closed) if closed else ""

    def own_windows(self) -> list[Window]:
        """Its windows by endpoint; those of its app for a bearer token."""
        if self.kind == self.Kind.BEARER:
            windows = [window for window in self.app.windows.all() if window.credential_id is None]
        else:
            windows = [window for window in self.windows.all() if window.app_id == self.app_id]
        return sorted(windows, key=lambda window: window.endpoint)

    def reported_windows(self) -> list[WindowSeen]:
        """The windows that X has reported, by endpoint."""
        return [seen for window in self.own_windows() if (seen := window.reported())]

    def clear_renewals(self) -> None:
        """Reset the renewal state, as new tokens do; saves nothing."""
        self.expires_at = self.refreshing_until = self.scopes = None
        self.renewals_failed, self.renewal_problem = 0, ""

    def disable(self, reason: str, *, now: datetime) -> None:
        """Disable it, and alert the subscribers unless it was disabled already."""
        alert = NewEvent(
            ALERTS_TOPIC,
            "create",
            url="/operations/",
            data={"credential": self.name, "what": reason[:300]},
        )
        events = [] if self.disabled_at else [alert]
        self.disabled_at, self.disabled_reason = now, reason[:300]
        with transaction.atomic():
            self.save(update_fields=["disabled_at", "disabled_reason"])
            publish_events(events)

    def enable(self) -> None:
        self.disabled_at, self.disabled_reason = None, ""
        self._clear_refusals()
        self.save(update_fields=["disabled_at", "disabled_reason", *_REFUSALS])

    def _clear_refusals(self) -> None:
        self.refused, self.refused_reason = 0, ""
        self.refused_since = self.retry_at = None

    def clear_rejections(self) -> None:
        """Let it be tried again at once, at every endpoint: with new keys, or as a person wants.

        Not while its own row is locked: a selection locks the window first.
        """
        windows = Window.objects.filter(pk__in=[window.pk for window in self.own_windows()])
        with transaction.atomic():
            # In the order of ids, as everything that settles several.
            list(windows.order_by("pk").select_for_update(no_key=True).values_list("pk"))
            windows.update(
                limited=0,
                refused=0,
                refused_since=None,
                refused_reason="",
                rejected_at=None,
                cooldown_until=None,
                cooldown_reason="",
            )
            self._clear_refusals()
            self.save(update_fields=_REFUSALS)

    def clean(self) -> None:
        from trackers.credentials.secrets import check_secrets

        check_secrets(self.kind, self.secrets)
        if self.kind == self.Kind.OAUTH2 and self.api != self.Api.V2:
            raise ValidationError("X accepts OAuth 2.0 tokens only at its v2 API.")
        if self.app_owner is not None:
            self._check_owner()

    def _check_owner(self) -> None:
        """An access token of OAuth 1.0a begins with the id of its account."""
        if self.kind == self.Kind.BEARER:
            raise ValidationError({"app_owner": "A bearer token is an app's, and no account's."})
        account, dash, _ = self.secrets.get("access_token", "").partition("-")
        if self.kind == self.Kind.OAUTH1 and dash and account != str(self.app_owner):
            raise ValidationError({"app_owner": "The access token belongs to another account."})


def _not_before(at: datetime | None) -> str:
    # At most an hour ahead, so without a date.
    return f"Not asked before {clock_time(at, now=at)}." if at else ""


class Window(models.Model):
    """The tightest window at one endpoint: what X's headers last said, and what is under way.

    X counts the requests of each user's tokens separately, and those of an app's bearer tokens
    together: for these `credential` is null.

    Room is what X said is left, less the requests that it may not have counted yet.
    """

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="windows")
    credential = models.ForeignKey(
        Credential, on_delete=models.CASCADE, related_name="windows", null=True
    )
    endpoint = models.CharField(max_length=60)

    # As X reported it, by X's clock; null until it did.
    limit = models.IntegerField(null=True)
    remaining = models.IntegerField(null=True)
    resets_at = models.DateTimeField(null=True)
    limit_a_day = models.IntegerField(
        null=True, help_text="Requests in 24 hours, where X limits these as well."
    )
    # X's clock and ours when it did: they give the difference of the two clocks.
    seen_at = models.DateTimeField(null=True)
    learned_at = models.DateTimeField(null=True)

    # The reservation times of requests without a reply yet, and of those whose reply reported
    # nothing: X may have counted them, or may yet.
    under_way = ArrayField(models.DateTimeField(), default=list)
    lost = ArrayField(models.DateTimeField(), default=list)

    # X asked to be left alone, with a 429 or a Retry-After. By our clock.
    cooldown_until = models.DateTimeField(null=True)
    cooldown_reason = models.CharField(max_length=300, blank=True, db_default="")
    limited = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="Consecutive 429s; those of concurrent requests count once.",
    )
    refused = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Consecutive 403s, which concern this endpoint only."
    )
    refused_since = models.DateTimeField(null=True)
    refused_reason = models.CharField(max_length=300, blank=True, db_default="")
    # When X last rejected a request; replies to anything sent before then say nothing new.
    rejected_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["app", "credential", "endpoint"],
                name="window_of_a_token",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        whose = self.credential_id or self.app_id
        return f"{whose} {self.endpoint}: {self.remaining} of {self.limit}"

    def reported(self) -> WindowSeen | None:
        """What X last said of it; None if nothing yet."""
        limit, remaining = self.limit, self.remaining
        resets_at, seen_at = self.resets_at, self.seen_at
        if limit is None or remaining is None or resets_at is None:
            return None
        return WindowSeen(self.endpoint, limit, remaining, resets_at, seen_at, self.limit_a_day)


class AppDay(models.Model):
    """What X left of an app's 24 hours at one endpoint, which all its tokens share."""

    pk = models.CompositePrimaryKey("app_id", "endpoint")
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="days")
    endpoint = models.CharField(max_length=60)
    remaining = models.IntegerField()
    resets_at = models.DateTimeField()
    # X's clock and ours when it said so, as of `Window`.
    seen_at = models.DateTimeField()
    learned_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.app_id} {self.endpoint}: {self.remaining} left until {self.resets_at}"
