"""The page of all shares, the form that makes one, and what a person does with them."""

from __future__ import annotations

from typing import cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.acts import Done
from trackers.dashboards.access import needs
from trackers.dashboards.page_acts import act_on, form_page, show_message
from trackers.history import on_page
from trackers.shares import acts
from trackers.shares.models import MAX_TITLE_LENGTH, Share
from trackers.shares.terms import MAKE, is_sharing_on, why_hidden

VIEW_SHARES = "trackers.view_share"
_SHOWN = 200
_OPEN_FOR = [(7, "a week"), (30, "a month"), (90, "three months"), (365, "a year")]


class ShareForm(forms.Form):
    title = forms.CharField(
        label="Title (empty: whose it is)", max_length=MAX_TITLE_LENGTH, required=False
    )
    days = forms.TypedChoiceField(label="Open for", choices=_OPEN_FOR, initial=30, coerce=int)
    with_notes = forms.BooleanField(label="Show the notes, too", required=False)
    kind = forms.CharField(widget=forms.HiddenInput)
    of = forms.CharField(widget=forms.HiddenInput)
    query = forms.CharField(widget=forms.HiddenInput, required=False, max_length=300)


@require_safe
@needs(VIEW_SHARES)
def share_list(request: HttpRequest) -> HttpResponse:
    """The newest first, those that have ended last."""
    now = timezone.now()
    rows = list(Share.objects.select_related("made_by").order_by("-pk")[:_SHOWN])
    live = [share for share in rows if share.ended_at is None and share.ends_at > now]
    return form_page(
        request,
        "dashboards/shares/list.html",
        ShareForm(),
        now=now,
        live=[(share, why_hidden(share), request.build_absolute_uri(share.address))
              for share in live],
        ended=[share for share in rows if share not in live],
        is_on=is_sharing_on(),
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@needs(MAKE)
def share_new(request: HttpRequest) -> HttpResponse:
    """Of the thing that the address names, as its page shows it."""
    is_sent = request.method == "POST"
    named = {name: request.GET.get(name, "")[:300] for name in ("kind", "of", "query")}
    form = ShareForm(request.POST) if is_sent else ShareForm(initial=named)
    if is_sent and form.is_valid():
        asked = form.cleaned_data
        try:
            made = acts.share(
                asked["kind"], asked["of"], on_page(request.user), cast(User, request.user),
                query=asked["query"], title=asked["title"], with_notes=asked["with_notes"],
                days=asked["days"],
            )  # fmt: skip
        except ValidationError as wrong:
            _add_faults(form, wrong)
        else:
            show_message(request, Done(f"Shared: {request.build_absolute_uri(made.address)}", 1))
            return redirect(f"{reverse('shares')}#share-{made.pk}")
    elif named["kind"] not in Share.Kind.values and not is_sent:
        raise Http404("Choose what to share on its own page.")
    return form_page(
        request,
        "dashboards/shares/form.html",
        form,
        is_on=is_sharing_on(),
        is_tweet=(form["kind"].value() or "") == Share.Kind.TWEET,
    )


def _add_faults(form: ShareForm, wrong: ValidationError) -> None:
    faults = wrong.message_dict if hasattr(wrong, "error_dict") else {"": wrong.messages}
    for name, sentences in faults.items():
        is_shown = name in ("title", "days", "with_notes")
        for sentence in sentences:
            form.add_error(name if is_shown else None, sentence)


def _get_share(id: int) -> Share:
    try:
        return Share.objects.get(pk=id)
    except (Share.DoesNotExist, OverflowError):
        raise Http404(f"There is no share {id}.") from None


@require_POST
@needs(acts.END)
def share_act(request: HttpRequest, id: int, act: str) -> HttpResponse:
    response = act_on(
        request, acts.SHARE_ACTS, act, find=_get_share, id=id,
        page="share",
    )  # fmt: skip
    return response


@require_safe
@needs(VIEW_SHARES)
def share_row(request: HttpRequest, id: int) -> HttpResponse:
    """In the list."""
    return redirect(f"{reverse('shares')}#share-{_get_share(id).pk}")


@require_POST
@needs(acts.SWITCH)
def sharing_switch(request: HttpRequest) -> HttpResponse:
    is_on = request.POST.get("is_on") == "yes"
    show_message(request, acts.switch_sharing(is_on, on_page(request.user)))
    return redirect("shares")
