"""What a person may do with one tweet from its page: a POST, one act, and back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.carry_out import act_on
from trackers.dashboards.tweets.detail_views import find
from trackers.schedule.acts import ACTS, CHANGE, WITH_TAG, Do
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import TagName, made, named


@require_POST
@needs(TWEETS)
def act_on_tweet(request: HttpRequest, id: int, act: str) -> HttpResponse:
    if act in WITH_TAG:
        raise Http404(f"There is no action {act}.")
    return act_on(request, ACTS, act, find=alone, id=id, page="tweet")


@require_POST
@needs(CHANGE)
def tag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return with_tag(request, Do.TAG, id)


@require_POST
@needs(CHANGE)
def untag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return with_tag(request, Do.UNTAG, id)


def with_tag(request: HttpRequest, act: str, id: int) -> HttpResponse:
    try:
        tag = tag_for(act, request.POST.get("tag", ""))
    except TagName as wrong:
        messages.error(request, str(wrong))
        return redirect("tweet", id=id)

    def also() -> dict[str, Any]:
        return {"tag": tag}

    return act_on(request, ACTS, act, find=alone, id=id, page="tweet", also=also)


def tag_for(act: str, typed: str) -> Tag:
    """A tag to be added is created; one to be removed must exist. TagName otherwise."""
    tag = made(typed) if act == Do.TAG else named(typed)
    if tag is None:
        raise TagName(f"There is no tag “{typed[:60]}”. Choose one of the list.")
    return tag


def alone(id: int) -> list[Tweet]:
    return [find(id)]
