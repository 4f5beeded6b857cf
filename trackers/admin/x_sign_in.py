"""“Sign in with X” in the admin: who begins it, and what they see when X sends them back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from trackers.credentials import sign_in
from trackers.credentials.acts import end_sign_in
from trackers.credentials.models import Credential
from trackers.credentials.secrets import SecretUnreadableError
from trackers.credentials.sign_in import NOT_BEGUN, SignInError
from trackers.history import in_admin
from trackers.xapi.keys import KEY

SESSION_KEY = "x_sign_in"
_CREDENTIALS_PAGE = "admin:trackers_credential_changelist"
_NOT_A_KEY = "It contains white space, or a character that X's keys never have."


class SignInForm(forms.Form):
    name = forms.CharField(max_length=60, help_text="A name for the credential.")
    app = forms.CharField(
        max_length=60,
        required=False,
        help_text="The X app. Leave empty to use one of the same name.",
    )
    client_id = forms.CharField(max_length=200, label="Client ID")
    client_secret = forms.CharField(
        max_length=200,
        required=False,
        label="Client secret",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Leave empty for a public client, which has none.",
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Credential.objects.filter(name=name).exists():
            raise forms.ValidationError(
                "There is already a credential of this name. Open it to sign in again, or choose "
                "another name."
            )
        return name

    def clean_client_id(self) -> str:
        return _check_key(self.cleaned_data["client_id"])

    def clean_client_secret(self) -> str:
        secret: str = self.cleaned_data["client_secret"]
        return _check_key(secret) if secret else ""


def _check_key(text: str) -> str:
    if not KEY.fullmatch(text):
        raise forms.ValidationError(_NOT_A_KEY)
    return text


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def begin_sign_in(request: HttpRequest, id: int | None = None) -> HttpResponse:
    """The form for a new credential; an existing one uses its own client."""
    again = get_object_or_404(Credential, pk=id, kind=Credential.Kind.OAUTH2) if id else None
    _require_sign_in(request, again)
    form = SignInForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and again:
        return _leave_for_x(request, again.name, again.app.name, dict(again.secrets), again)
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        app = cleaned["app"] or cleaned["name"]
        client = {"client_id": cleaned["client_id"], "client_secret": cleaned["client_secret"]}
        return _leave_for_x(request, cleaned["name"], app, client)
    context = {
        "form": form,
        "credential": again,
        "back": _return_address(request),
        "title": "Sign in with X",
    }
    return _sign_in_response(request, "sign_in", context)


def _leave_for_x(
    request: HttpRequest, name: str, app: str, client: dict[str, str], again: Any = None
) -> HttpResponse:
    """A page with a link to X: our policy allows no form to lead elsewhere."""
    pending = sign_in.begin_sign_in(
        name=name,
        app=app,
        client=client,
        redirect_uri=_return_address(request),
        now=timezone.now(),
        again=again,
    )
    request.session[SESSION_KEY] = pending.sealed()
    address = pending.address(base_url=settings.X_API_BASE_URL)
    return _sign_in_response(request, "go_to_x", {"address": address, "title": "Continue to X"})


@never_cache
@require_safe
def returned_from_x(request: HttpRequest) -> HttpResponse:
    """X sends the user here. The code in the address is spent, and kept in no log."""
    sealed = request.session.pop(SESSION_KEY, None)
    if not (request.user.has_perm(_ADD_CREDENTIAL) or request.user.has_perm(_CHANGE_CREDENTIAL)):
        raise PermissionDenied
    try:
        if not isinstance(sealed, str):
            raise SignInError(NOT_BEGUN)
        ended = end_sign_in(sealed, request.GET.dict(), in_admin(request.user))
    except SignInError as error:
        messages.error(request, str(error))
        return redirect(_CREDENTIALS_PAGE)
    messages.success(request, ended.message)
    return redirect(_CREDENTIALS_PAGE)


_ADD_CREDENTIAL, _CHANGE_CREDENTIAL = "trackers.add_credential", "trackers.change_credential"


def _require_sign_in(request: HttpRequest, again: Credential | None) -> None:
    if not request.user.has_perm(_CHANGE_CREDENTIAL if again else _ADD_CREDENTIAL):
        raise PermissionDenied
    if again:
        try:
            dict(again.secrets)
        except SecretUnreadableError as error:
            raise PermissionDenied(str(error)) from None


def _return_address(request: HttpRequest) -> str:
    """The address to which X sends the user back, and which has to be entered at X."""
    return request.build_absolute_uri(reverse("admin:x-signed-in"))


def _sign_in_response(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    values = {**admin.site.each_context(request), "opts": Credential._meta, **context}
    return render(request, f"admin/trackers/credential/{name}.html", values)
