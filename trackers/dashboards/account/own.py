"""What a person does to their own account: name, address, what lets somebody in, a copy of what is
stored, and the end of it."""

from __future__ import annotations

from typing import Any, cast

import orjson
from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers import roles
from trackers.acts import Done
from trackers.channels.browsers import browsers_of, end_browser
from trackers.dashboards.access import permission_givers
from trackers.dashboards.page_acts import show_message
from trackers.history import Actor, on_page
from trackers.jobs import ordinary
from trackers.shares.acts import SHARE_ACTS
from trackers.shares.models import Share
from trackers.tokens import acts
from trackers.tokens.address_mail import address_to_confirm
from trackers.tokens.stored import stored_about
from tweetwatch.tables import file_headers


class PersonForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.EMAIL_SERVER is None:
            self.fields["email"].disabled = True
            self.fields[
                "email"
            ].help_text = (
                f"No e-mail can be sent from here. {permission_givers()} can enter it in the admin."
            )
        else:
            self.fields["email"].help_text = (
                "A new one counts once you have opened the link that is sent to it. Empty: no "
                "e-mails."
            )


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    # A form writes into its row, also where it is not saved.
    form = PersonForm(request.POST or None, instance=User.objects.get(pk=user.pk))
    if request.method == "POST" and form.is_valid():
        _save_person(request, user, form.cleaned_data)
        return redirect("account")
    return render(request, "dashboards/account/person.html", {"form": form})


def _save_person(request: HttpRequest, user: User, typed: dict[str, str]) -> None:
    actor, email = on_page(user), typed.pop("email")
    if (user.first_name, user.last_name) != (typed["first_name"], typed["last_name"]):
        show_message(request, acts.set_name(user, actor, **typed))
    if email == user.email:
        return
    if not email:
        show_message(request, acts.set_address(user, actor, email=""))
        return
    ordinary.enqueue("trackers.tasks.send_address_link", user.pk, email)
    until = f"Until you open it, e-mails go to {user.email}." if user.email else ""
    messages.success(request, f"A link is on its way to {email}. {until}".strip())


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_address(request: HttpRequest, signed: str) -> HttpResponse:
    """Asks, since mailboxes open links by themselves."""
    user = cast(User, request.user)
    email = address_to_confirm(signed, user)
    if email and request.method == "POST":
        show_message(request, acts.set_address(user, on_page(user), email=email))
        return redirect("account")
    return render(request, "dashboards/account/confirm_address.html", {"email": email})


@require_POST
def end_one(request: HttpRequest, what: str, id: int) -> HttpResponse:
    """One of the person's own logins, tokens, feed addresses or shares."""
    end = _ENDS.get(what)
    if end is None:
        raise Http404(f"An account has no {what[:20]}.")
    user = cast(User, request.user)
    show_message(request, end(user, on_page(user), id))
    return redirect("account")


def _end_login(user: User, actor: Actor, id: int) -> Done:
    return acts.end_login(user, actor, id=id)


def _end_token(user: User, actor: Actor, id: int) -> Done:
    return acts.revoke_tokens(list(user.api_tokens.filter(pk=id)), actor)


def _end_feed(user: User, actor: Actor, id: int) -> Done:
    own = user.feed_addresses.select_related("follower").filter(pk=id)
    return acts.revoke_addresses(list(own), actor)


def _end_share(user: User, actor: Actor, id: int) -> Done:
    """One's own, also where the role to make them is gone."""
    share = Share.objects.filter(made_by=user, pk=id).first()
    return SHARE_ACTS["end"].do(share, actor) if share else Done("It is gone.", is_done=False)


def _end_browser(user: User, actor: Actor, id: int) -> Done:
    is_done = end_browser(user, actor, id)
    return Done("It is told nothing any more." if is_done else "It is gone.", is_done=is_done)


_ENDS = {
    "browsers": _end_browser,
    "logins": _end_login,
    "tokens": _end_token,
    "feeds": _end_feed,
    "shares": _end_share,
}


def opened_by(user: User) -> dict[str, Any]:
    """What lets programs and strangers in on behalf of this person."""
    return {
        "tokens": user.api_tokens.filter(revoked_at=None),
        "feeds": user.feed_addresses.select_related("follower__user", "follower__team"),
        "browsers": browsers_of(user).defer("address"),
        "shares": Share.objects.live(now=timezone.now()).filter(made_by=user),
    }


@require_POST
def stored(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    body = orjson.dumps(stored_about(user), option=orjson.OPT_INDENT_2)
    headers = file_headers(f"account {user.get_username()}", "json")
    return HttpResponse(body, content_type="application/json", headers=headers)


@require_http_methods(["GET", "HEAD", "POST"])
def close(request: HttpRequest) -> HttpResponseBase:
    """Says what will happen, or why it cannot be; the button asks for the password again."""
    user = cast(User, request.user)
    is_last = roles.is_last_giver(user)
    if request.method == "POST" and request.POST.get("name") == user.get_username() and not is_last:
        return _close(request)
    is_wrong = request.method == "POST" and not is_last
    context = {"is_last": is_last, "is_wrong": is_wrong}
    return render(request, "dashboards/account/close.html", context)


@reauthentication_required(app="allauth.socialaccount")
def _close(request: HttpRequest) -> HttpResponseBase:
    user = cast(User, request.user)
    try:
        acts.close_account(user, on_page(user))
    except ValidationError as error:
        raise PermissionDenied(" ".join(error.messages)) from None
    logout(request)
    return redirect("account_closed")


@require_safe
@login_not_required
def closed(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/account/closed.html")
