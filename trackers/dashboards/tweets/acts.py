"""What a person may do with one tweet from its page: a POST, one act, and back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.page_acts import act_on
from trackers.dashboards.tweets.detail_views import get_tweet
from trackers.schedule.acts import CHANGE_TWEET, TWEET_ACTS, WITH_TAG, ActName
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, find_tag, get_or_create_tag


@require_POST
@needs(VIEW_TWEETS)
def act_on_tweet(request: HttpRequest, id: int, act: str) -> HttpResponse:
    if act in WITH_TAG:
        raise Http404(f"There is no action {act}.")
    return act_on(request, TWEET_ACTS, act, find=_single_tweet, id=id, page="tweet")


@require_POST
@needs(CHANGE_TWEET)
def tag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return _act_with_tag(request, ActName.TAG, id)


@require_POST
@needs(CHANGE_TWEET)
def untag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return _act_with_tag(request, ActName.UNTAG, id)


def _act_with_tag(request: HttpRequest, act: str, id: int) -> HttpResponse:
    try:
        tag = chosen_tag(act, request.POST.get("tag", ""))
    except InvalidTagName as wrong:
        messages.error(request, str(wrong))
        return redirect("tweet", id=id)

    def also() -> dict[str, Any]:
        return {"tag": tag}

    return act_on(request, TWEET_ACTS, act, find=_single_tweet, id=id, page="tweet", also=also)


def chosen_tag(act: str, typed: str) -> Tag:
    """A tag to be added is created; one to be removed must exist. TagName otherwise."""
    tag = get_or_create_tag(typed) if act == ActName.TAG else find_tag(typed)
    if tag is None:
        raise InvalidTagName(f"There is no tag “{typed[:60]}”. Choose one of the list.")
    return tag


def _single_tweet(id: int) -> list[Tweet]:
    return [get_tweet(id)]
