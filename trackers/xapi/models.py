"""Credentials of X and the request windows that its headers told us of."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from trackers.xapi.secrets import EncryptedJSONField


class CredentialQuerySet(models.QuerySet["Credential"]):
    def enabled(self) -> CredentialQuerySet:
        return self.filter(disabled_at=None)


class Credential(models.Model):
    """One set of keys to X. Its secrets are encrypted at rest and shown to nobody."""

    class Kind(models.TextChoices):
        BEARER = "bearer", "Bearer token (app only)"
        OAUTH1 = "oauth1", "OAuth 1.0a (user)"

    class Api(models.TextChoices):
        V2 = "v2", "v2"
        V1 = "v1.1", "v1.1"

    name = models.CharField(max_length=60, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    api = models.CharField(max_length=4, choices=Api, default=Api.V2)
    app = models.CharField(
        max_length=60, blank=True, help_text="The X app the keys belong to; the name when empty."
    )
    project = models.CharField(
        max_length=60, blank=True, help_text="The X project of the app; the app when empty."
    )
    secrets = EncryptedJSONField()

    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, editable=False)
    refused = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="Refusals by X in a row."
    )
    refused_since = models.DateTimeField(null=True, editable=False)
    disabled_at = models.DateTimeField(null=True, editable=False)
    disabled_because = models.CharField(max_length=300, blank=True, editable=False)

    objects = CredentialQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["bearer", "oauth1"]), name="credential_kind"
            ),
            models.CheckConstraint(condition=Q(api__in=["v2", "v1.1"]), name="credential_api"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        return "disabled" if self.disabled_at else "ready"

    def disable(self, reason: str, *, now: datetime) -> None:
        self.disabled_at, self.disabled_because = now, reason[:300]
        self.save(update_fields=["disabled_at", "disabled_because"])

    def enable(self) -> None:
        self.disabled_at, self.disabled_because = None, ""
        self.refused, self.refused_since = 0, None
        self.save(update_fields=["disabled_at", "disabled_because", "refused", "refused_since"])

    def clean(self) -> None:
        from trackers.xapi.secrets import check_secrets

        check_secrets(self.kind, self.secrets)


class Window(models.Model):
    """What X's headers last said of one credential's window at one endpoint."""

    credential = models.ForeignKey(Credential, on_delete=models.CASCADE, related_name="windows")
    endpoint = models.CharField(max_length=60)
    limit = models.IntegerField()
    remaining = models.IntegerField()
    resets_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["credential", "endpoint"], name="window_of_a_credential"
            )
        ]

    def __str__(self) -> str:
        return f"{self.credential_id} {self.endpoint}: {self.remaining} of {self.limit}"
