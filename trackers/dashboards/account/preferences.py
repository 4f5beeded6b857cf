"""How a person wants pages: the theme, how close rows are, and which page is the first."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.tokens import acts
from trackers.tokens.models import Preferences


class PagesForm(ModelForm):
    class Meta:
        model = Preferences
        fields = ("theme", "density", "start")
        labels = {"density": "Rows", "start": "First page"}
        help_texts = {
            "start": "What you see after logging in, and when you press the name at the top left."
        }


@require_http_methods(["GET", "HEAD", "POST"])
def pages(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    now = Preferences.objects.filter(user=user).first() or Preferences(user=user)
    form = PagesForm(request.POST or None, instance=now)
    if request.method == "POST" and form.is_valid():
        show_message(request, acts.set_preferences(user, on_page(user), **form.cleaned_data))
        return redirect("account")
    return render(request, "dashboards/account/pages.html", {"form": form})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """The button in the menu, whose script has changed the page already."""
    wanted = request.POST.get("theme", "")
    if wanted not in Preferences.Theme.values:
        raise SuspiciousOperation("There is no such theme.")
    acts.set_theme(cast(User, request.user), wanted)
    return HttpResponse(status=204)
