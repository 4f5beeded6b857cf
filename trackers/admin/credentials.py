"""Credentials: their secrets go in here and never come out again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from trackers.acts import Done
from trackers.admin import x_sign_in
from trackers.admin.actions import ActingAdmin
from trackers.credentials import acts
from trackers.credentials.models import RENEWAL, Credential, Window
from trackers.credentials.secrets import MAY_HAVE, NEEDS, SecretUnreadableError
from trackers.history import in_admin
from trackers.money.models import App
from tweetwatch.notation import exactly

_EDITABLE_FIELDS = ("name", "kind", "api", "app", "app_owner")
# Which one this request saved.
_SAVED_CREDENTIAL = "trackers.saved_credential"
_STATE_FIELDS = ("state", "reason", "token_expires", "used_at", "created_at", "rate_limits")
# For each kind the form's fields, and the secret that each field sets.
_SECRET_FIELDS = {
    kind: {
        # `access_token` is the field of OAuth 1.0a.
        "user_access_token" if (kind, name) == ("oauth2", "access_token") else name: name
        for name in (*needed, *MAY_HAVE.get(kind, ()))
    }
    for kind, needed in NEEDS.items()
}
_SECRET_OF_FIELD = {
    field: name for names in _SECRET_FIELDS.values() for field, name in names.items()
}


class SecretField(forms.CharField):
    """Can be set but never read: not even what was just typed is shown again."""

    def __init__(self, label: str | None = None) -> None:
        attrs = {"autocomplete": "new-password", "size": 60}
        widget = forms.PasswordInput(render_value=False, attrs=attrs)
        super().__init__(required=False, widget=widget, label=label)


class CredentialForm(forms.ModelForm):
    """The secrets' fields are always shown empty; leaving one empty keeps its value."""

    bearer_token = SecretField()
    consumer_key = SecretField()
    consumer_secret = SecretField()
    access_token = SecretField()
    access_token_secret = SecretField()
    client_id = SecretField(label="Client ID")
    client_secret = SecretField()
    user_access_token = SecretField(label="Access token")
    refresh_token = SecretField()

    class Meta:
        model = Credential
        fields = _EDITABLE_FIELDS
        labels = {"api": "API"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "app" not in self.fields:
            # Somebody who may only look gets no fields.
            return
        self.fields["app"].required = False
        self.fields["app"].help_text += " Leave empty to create one with the credential's name."
        self.stored_secrets, unreadable = _stored_secrets(self.instance)
        self.stored_kind = self.instance.kind
        for kind, names in _SECRET_FIELDS.items():
            for field, name in names.items():
                is_set = name in self.stored_secrets and kind == self.stored_kind
                state = "Set. Leave empty to keep it." if is_set else "Not set."
                self.fields[field].help_text = (
                    "Cannot be decrypted with FIELD_KEYS. Enter it again." if unreadable else state
                )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        kind = cleaned.get("kind", "")
        ours = _SECRET_FIELDS.get(kind, {})
        typed = {field: cleaned[field] for field in _SECRET_OF_FIELD if cleaned.get(field)}
        for field in typed.keys() - ours.keys():
            self.add_error(field, f"A {kind} credential has no {_SECRET_OF_FIELD[field]}.")
        # The model's own clean() says what is missing, by name and never by value.
        self.typed_secrets = {ours[field]: value for field, value in typed.items() if field in ours}
        self.instance.secrets = {
            **(self.stored_secrets if kind == self.stored_kind else {}),
            **self.typed_secrets,
        }
        return cleaned


def _stored_secrets(credential: Credential) -> tuple[dict[str, str], bool]:
    """The stored secrets, and whether there are some that cannot be read."""
    if credential.pk is None:
        return {}, False
    try:
        return dict(credential.secrets or {}), False
    except SecretUnreadableError:
        return {}, True


def _limits_table(windows: Iterable[Window], *, now: datetime) -> str:
    """What X said of each endpoint, as a table; a cool-down that is over is left out."""
    rows = format_html_join(
        "",
        '<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>',
        ((window.endpoint, *_limit_row(window, now=now)) for window in windows),
    )
    return format_html(
        '<table><thead><tr><th scope="col">Endpoint</th><th scope="col">Left</th>'
        '<th scope="col">Resets at</th><th scope="col">Seen at</th>'
        '<th scope="col">Trouble</th></tr></thead><tbody>{}</tbody></table>',
        rows,
    )


def _limit_row(window: Window, *, now: datetime) -> tuple[str, str, str, str]:
    report = window.reported()
    cools_down = window.cooldown_until and window.cooldown_until > now
    trouble = (
        f"not used until {_moment_text(window.cooldown_until)}: {window.cooldown_reason}"
        if cools_down
        else "",
        f"refused since {_moment_text(window.refused_since)}: {window.refused_reason}"
        if window.refused
        else "",
    )
    return (
        f"{report.remaining:,} of {report.limit:,}" if report else "-",
        _moment_text(window.resets_at),
        _moment_text(window.seen_at),
        "; ".join(filter(None, trouble)) or "-",
    )


def _moment_text(moment: datetime | None) -> str:
    return exactly(moment) if moment else "-"


@admin.register(Credential)
class CredentialAdmin(ActingAdmin):
    form = CredentialForm
    list_display = ("name", "kind", "api", "app", "project", "state", "reason", "used_at")
    list_select_related = ("app__project",)
    never_filtered_by = ("secrets",)
    readonly_fields = _STATE_FIELDS
    fieldsets = (
        (None, {"fields": _EDITABLE_FIELDS}),
        # Only those of the chosen kind are shown, by admin.css alone.
        (
            "Secrets of a bearer token",
            {"fields": tuple(_SECRET_FIELDS["bearer"]), "classes": ("of-kind", "of-bearer")},
        ),
        (
            "Secrets of OAuth 1.0a",
            {"fields": tuple(_SECRET_FIELDS["oauth1"]), "classes": ("of-kind", "of-oauth1")},
        ),
        (
            "Secrets of OAuth 2.0",
            {
                "fields": tuple(_SECRET_FIELDS["oauth2"]),
                "classes": ("of-kind", "of-oauth2"),
                "description": "X replaces both tokens every two hours, and the new ones are "
                "stored here, so use them nowhere else. A public client has no "
                "secret.",
            },
        ),
        ("Now", {"fields": _STATE_FIELDS}),
    )
    actions = ("enable", "disable", "ask")
    asks = {
        "disable": "Disable {}? X will be asked with the other credentials only, or not at all "
        "if there are none."
    }

    @admin.display(description="access token expires")
    def token_expires(self, credential: Credential) -> datetime | str:
        """Those of OAuth 2.0 do; the others stay valid until they are revoked at X."""
        if credential.kind != Credential.Kind.OAUTH2:
            return "does not expire"
        return credential.expires_at or "X did not say when"

    @admin.display(description="rate limits")
    def rate_limits(self, credential: Credential) -> str:
        windows = credential.own_windows()
        if not windows:
            return "X has not reported any yet."
        return _limits_table(windows, now=timezone.now())

    def get_urls(self) -> list[URLPattern]:
        ours = [
            ("sign-in/", x_sign_in.begin_sign_in, "x-sign-in"),
            ("<int:id>/sign-in/", x_sign_in.begin_sign_in, "x-sign-in-again"),
            ("signed-in/", x_sign_in.returned_from_x, "x-signed-in"),
        ]
        views = [path(at, self.admin_site.admin_view(view), name=name) for at, view, name in ours]
        return [*views, *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: Credential | None = None) -> Any:
        """Secrets are fields of the form only, and are never shown."""
        sets = super().get_fieldsets(request, obj)
        if obj is None:
            # Nothing is known of it yet.
            sets = [(title, options) for title, options in sets if title != "Now"]
        if self.has_change_permission(request, obj) if obj else self.has_add_permission(request):
            return sets
        return [(title, options) for title, options in sets if not title or title == "Now"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Credential]:
        # Read only where they are used: a lost field key must not break the list.
        rows = super().get_queryset(request).defer("secrets")
        return rows.prefetch_related("windows", "app__windows")

    def save_model(
        self, request: HttpRequest, obj: Credential, form: CredentialForm, change: bool
    ) -> None:
        if obj.app_id is None:
            obj.app = App.objects.named(obj.name)
        if not change:
            obj.save()
            acts.try_again(obj)
            request.META[_SAVED_CREDENTIAL] = obj.pk
            return
        fields = [*_EDITABLE_FIELDS]
        # Written only then: a worker may have saved new tokens since this page was loaded.
        if form.typed_secrets or obj.kind != form.stored_kind:
            acts.try_again(obj)
            obj.clear_renewals()
            fields += ["secrets", *RENEWAL]
        obj.save(update_fields=fields)
        request.META[_SAVED_CREDENTIAL] = obj.pk

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, chosen: QuerySet[Credential]) -> Done:
        return acts.enable(list(chosen), in_admin(request.user))

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, chosen: QuerySet[Credential]) -> Done:
        reason = f"disabled by {request.user}"
        return acts.disable(list(chosen), in_admin(request.user), reason=reason)

    @admin.action(description="Check: ask X for one tweet", permissions=["change"])
    def ask(self, request: HttpRequest, chosen: QuerySet[Credential]) -> None:
        for credential in chosen:
            self.ask_x(request, credential)

    def ask_x(self, request: HttpRequest, credential: Credential) -> None:
        """Ask for one tweet, and say what came of it."""
        verdict = acts.check(credential)
        level = messages.SUCCESS if verdict.ok else messages.ERROR
        self.message_user(request, f"{credential}: {verdict.sentence()}", level)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """“Save and check” asks X after the save, when no transaction is open any more."""
        may = self.has_change_permission(request)
        context = {"may_check": may, **(extra_context or {})}
        answer = super().changeform_view(request, object_id, form_url, context)
        saved = request.META.get(_SAVED_CREDENTIAL)
        if saved is None or "_check" not in request.POST or not may:
            return answer
        self.ask_x(request, Credential.objects.get(pk=saved))
        return redirect("admin:trackers_credential_change", saved)
