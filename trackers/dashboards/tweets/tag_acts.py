"""A tag put on one tweet from its page, or removed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import needs
from trackers.dashboards.tweets.acts import CHANGE
from trackers.dashboards.tweets.detail_views import find
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import TagName, made, named


@require_POST
@needs(CHANGE)
def tag_tweet(request: HttpRequest, id: int) -> HttpResponseRedirect:
    tweet = find(id)
    try:
        tag = made(request.POST.get("tag", ""))
    except TagName as wrong:
        messages.error(request, str(wrong))
        return redirect("tweet", id=id)
    if tagging.put(tag.pk, [tweet.pk]):
        history.record(request.user, [tweet], f"Tagged “{tag}”, on its page.")
        messages.success(request, f"{tweet}: tagged “{tag}”.")
    else:
        messages.error(request, f"{tweet} has the tag “{tag}” already.")
    return redirect("tweet", id=id)


@require_POST
@needs(CHANGE)
def untag_tweet(request: HttpRequest, id: int) -> HttpResponseRedirect:
    tweet, tag = find(id), named(request.POST.get("tag", ""))
    if tag and tagging.take(tag.pk, [tweet.pk]):
        history.record(request.user, [tweet], f"Removed the tag “{tag}”, on its page.")
        messages.success(request, f"{tweet}: removed the tag “{tag}”.")
    else:
        messages.error(request, f"{tweet} does not have this tag any more.")
    return redirect("tweet", id=id)
