"""What a person may do with one tweet from its page: a POST, one task, and back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.carry_out import Act, carry_out
from trackers.dashboards.tweets.detail_views import find
from trackers.schedule import steer

CHANGE = "trackers.change_tweet"

ACTS = {
    "refresh": Act(
        steer.refresh_now,
        "It will be checked next.",
        "Not refreshed: it is paused, or being checked right now.",
        CHANGE,
    ),
    "pause": Act(
        steer.pause,
        "Paused. It will not be checked until it is resumed.",
        "It was already paused.",
        CHANGE,
    ),
    "resume": Act(steer.resume, "Resumed.", "It was not paused.", CHANGE),
    "untrack": Act(
        steer.untrack,
        "No longer tracked. Its history has been deleted.",
        "It was not tracked.",
        permission="trackers.delete_tweet",
        leaves=True,
        asks="Stop tracking this tweet and remove its whole history?",
    ),
}


@require_POST
@needs(TWEETS)
def act_on_tweet(request: HttpRequest, id: int, act: str) -> HttpResponse:
    return carry_out(request, ACTS, act, find=find, id=id, what="tweet")
