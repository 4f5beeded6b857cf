"""What a person may do with one tweet from its page: a POST, one task, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers import tasks
from trackers.dashboards.access import staff_only
from trackers.dashboards.tweet import find


@dataclass(frozen=True, slots=True)
class Act:
    do: Callable[[Iterable[int]], int]
    done: str
    undone: str
    permission: str = "trackers.change_tweet"
    leads_to: str = "tweet"


ACTS = {
    "refresh": Act(tasks.refresh_now, "It is looked up next.", "It cannot be looked up now."),
    "pause": Act(tasks.pause, "Paused. Nobody looks it up until it is resumed.", "It was paused."),
    "resume": Act(tasks.resume, "Resumed.", "It was not paused."),
    "untrack": Act(
        tasks.untrack,
        "Not tracked any more; its history is gone with it.",
        "It was not tracked.",
        permission="trackers.delete_tweet",
        leads_to="tweets",
    ),
}


@require_POST
@staff_only
def act_on_tweet(request: HttpRequest, id: int, act: str) -> HttpResponseRedirect:
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"Nobody can {act} a tweet.")
    if not request.user.has_perm(chosen.permission):
        raise PermissionDenied
    tweet = find(id)
    done = chosen.do([tweet.pk])
    messages.success(request, f"{tweet.pk}: {chosen.done if done else chosen.undone}")
    return redirect("tweets") if chosen.leads_to == "tweets" else redirect("tweet", id=id)
