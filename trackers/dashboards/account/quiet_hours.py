"""When a person wants to be sent nothing."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers.channels.models import QuietHours
from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.tokens import acts

_CLOCK = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")


class QuietForm(forms.Form):
    begins = forms.TimeField(label="From", required=False, widget=_CLOCK)
    ends = forms.TimeField(
        label="Until",
        required=False,
        widget=_CLOCK,
        help_text="By your own clock, every day. From 22:00 until 07:00 goes past midnight. "
        "Leave both empty for no quiet hours.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        begins, ends = cleaned.get("begins"), cleaned.get("ends")
        if not self.errors and (begins is None) != (ends is None):
            raise ValidationError("Enter both, or neither.")
        if begins is not None and begins == ends:
            raise ValidationError("Quiet hours last less than a day.")
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
def quiet(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    row = QuietHours.objects.filter(user=user).first()
    start = {"begins": row.begins, "ends": row.ends} if row else {}
    form = QuietForm(request.POST or None, initial=start)
    if request.method == "POST" and form.is_valid():
        show_message(request, acts.set_quiet_hours(user, on_page(user), **form.cleaned_data))
        return redirect("account")
    return render(request, "dashboards/account/quiet.html", {"form": form, "row": row})
