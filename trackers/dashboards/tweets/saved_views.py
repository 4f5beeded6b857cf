"""Saved views of the tweets: saved, renamed, ordered, shared with a team, removed, had back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.listing.query import parse_id, parse_query
from trackers.roles import gives_access, teams_of
from trackers.saved_views import acts
from trackers.saved_views.models import SavedView

_SALT = "saved view"
# In the session: the view that was just removed, for the page that is shown next.
_REMOVED_VIEW = "removed_view"
_MAX_QUERY_LENGTH = 2000


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_TWEETS)
def saved_views(request: HttpRequest) -> HttpResponse:
    """The person's own to arrange, then those of their teams; an owner removes any of a team."""
    if request.method == "POST":
        try:
            acts.arrange(on_page(request.user), **_arranged(request.POST))
        except ValidationError as wrong:
            messages.error(request, " ".join(wrong.messages))
        return redirect("saved-views")
    views = SavedView.objects.seen_or_changed_by(request.user)
    context = {
        "saved": [view for view in views if view.is_own],
        "others": [view for view in views if not view.is_own],
        "teams": teams_of(request.user),
        "removes_any": gives_access(request.user),
        **removed_view(request),
    }
    return render(request, "dashboards/tweets/saved_views.html", context)


def _arranged(form: Mapping[str, str]) -> dict[str, Any]:
    names, teams = {}, {}
    for field, text in form.items():
        what, _, id = field.partition("-")
        if (view := parse_id(id)) is None:
            continue
        if what == "name":
            names[view] = text
        elif what == "team":
            # An unknown one is refused.
            teams[view] = (parse_id(text) or 0) if text else None
    return {"names": names, "teams": teams, "up": parse_id(form.get("up", ""))}


@require_POST
@needs(VIEW_TWEETS)
def save_view(request: HttpRequest) -> HttpResponseRedirect:
    """Under a name that is taken already, the view is replaced."""
    query = parse_query(QueryDict(request.POST.get("query", "")[:_MAX_QUERY_LENGTH])).address()
    try:
        view = acts.save(request.POST.get("name", ""), query, on_page(request.user))
    except ValidationError as wrong:
        messages.error(request, " ".join(wrong.messages))
    else:
        messages.success(request, f"“{view}” is saved.")
    return redirect(f"{reverse('tweets')}?{query}")


@require_POST
@needs(VIEW_TWEETS)
def remove_view(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """At once: the next page can bring it back."""
    view = SavedView.objects.changed_by(request.user).filter(pk=id).first()
    if view is None:
        raise Http404(f"You have no saved view {id}.")
    request.session[_REMOVED_VIEW] = acts.undoing(view)
    acts.remove(view, on_page(request.user))
    return redirect("saved-views" if "arrange" in request.POST else "tweets")


@require_POST
@needs(VIEW_TWEETS)
def undo_removal(request: HttpRequest) -> HttpResponseRedirect:
    try:
        signed = request.POST.get("removed", "")[:20_000]
        removed = signing.loads(signed, salt=_SALT, max_age=86400)
    except signing.BadSignature:
        messages.error(request, "It is too late to undo that.")
    else:
        show_message(request, acts.restore(removed, on_page(request.user)))
    return redirect("tweets")


def removed_view(request: HttpRequest) -> dict[str, str]:
    """The name of the one that was just removed, and what brings it back; only once."""
    removed = request.session.pop(_REMOVED_VIEW, None)
    if removed is None:
        return {}
    return {"removed": removed["name"], "undoes": signing.dumps(removed, salt=_SALT)}
