"""Credentials: their secrets go in here and never come out again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from trackers.xapi.check import check
from trackers.xapi.models import Credential, Window
from trackers.xapi.secrets import NEEDS, SecretUnreadableError

NAMES = tuple(dict.fromkeys(name for names in NEEDS.values() for name in names))


class SecretField(forms.CharField):
    """Goes in and never comes out: not even what was just typed is shown again."""

    def __init__(self) -> None:
        given = {"autocomplete": "new-password", "size": 60}
        widget = forms.PasswordInput(render_value=False, attrs=given)
        super().__init__(required=False, widget=widget)


class CredentialForm(forms.ModelForm):
    """The fields of secrets are always empty; what is left empty stays as it is."""

    bearer_token = SecretField()
    consumer_key = SecretField()
    consumer_secret = SecretField()
    access_token = SecretField()
    access_token_secret = SecretField()

    class Meta:
        model = Credential
        fields = ("name", "kind", "api", "app", "project")

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.kept, unreadable = stored(self.instance)
        for name in NAMES:
            state = "set; leave empty to keep it" if name in self.kept else "not set"
            self.fields[name].help_text = (
                "cannot be decrypted with FIELD_KEYS: enter it anew" if unreadable else state
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        needed = NEEDS.get(cleaned.get("kind", ""), ())
        given = {name: cleaned[name] for name in NAMES if cleaned.get(name)}
        for name in given:
            if name not in needed:
                self.add_error(name, f"A {cleaned.get('kind')} credential has no {name}.")
        # The model's own clean() tells what is missing, by name and never by value.
        merged = {**self.kept, **given}
        self.instance.secrets = {name: merged[name] for name in needed if name in merged}
        return cleaned


def stored(credential: Credential) -> tuple[dict[str, str], bool]:
    """The secrets that are there, and whether they are there but unreadable."""
    if credential.pk is None:
        return {}, False
    try:
        return dict(credential.secrets or {}), False
    except SecretUnreadableError:
        return {}, True


class WindowInline(admin.TabularInline):
    model = Window
    extra = 0
    fields = readonly_fields = ("endpoint", "limit", "remaining", "resets_at", "seen_at")
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


@admin.register(Credential)
class CredentialAdmin(admin.ModelAdmin):
    form = CredentialForm
    list_display = ("name", "kind", "api", "app", "project", "state", "disabled_because", "used_at")
    readonly_fields = ("state", "disabled_because", "used_at", "created_at")
    fieldsets = (
        (None, {"fields": ("name", "kind", "api", "app", "project")}),
        ("Secrets of a bearer token", {"fields": NEEDS["bearer"]}),
        ("Secrets of OAuth 1.0a", {"fields": NEEDS["oauth1"]}),
        ("Now", {"fields": ("state", "disabled_because", "used_at", "created_at")}),
    )
    inlines = (WindowInline,)
    actions = ("enable", "disable", "ask")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Credential]:
        # Read only where they are used: a lost field key must not take the list away.
        return super().get_queryset(request).defer("secrets")

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, chosen: QuerySet[Credential]) -> None:
        for credential in chosen:
            credential.enable()
        self.message_user(request, f"Enabled {len(chosen)}.", messages.SUCCESS)

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, chosen: QuerySet[Credential]) -> None:
        for credential in chosen:
            credential.disable(f"disabled by {request.user}", now=timezone.now())
        self.message_user(request, f"Disabled {len(chosen)}.", messages.SUCCESS)

    @admin.action(description="Check: ask X for one tweet", permissions=["change"])
    def ask(self, request: HttpRequest, chosen: QuerySet[Credential]) -> None:
        for credential in chosen:
            try:
                verdict = check(
                    credential,
                    base_url=settings.X_API_BASE_URL,
                    timeout=settings.REQUEST_TIMEOUT,
                )
            except SecretUnreadableError as error:
                self.message_user(request, f"{credential}: {error}", messages.ERROR)
            else:
                level = messages.SUCCESS if verdict.ok else messages.ERROR
                self.message_user(request, f"{credential}: {verdict.sentence()}", level)
