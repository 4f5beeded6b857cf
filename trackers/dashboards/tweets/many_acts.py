"""What a person does to many tweets of the list: at once, or, of many, by the workers.

the list ─ ticked, or all that match ─> their number, and what to do ─ POST ─┬─> done, and said
                                                                              └─> a BulkAct
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from trackers.acts import Act
from trackers.dashboards.access import demand, needs
from trackers.dashboards.tweets.acts import tag_for
from trackers.dashboards.tweets.chosen import Chosen, chosen, how_many
from trackers.dashboards.tweets.list_acts import back
from trackers.dashboards.words import counted
from trackers.history import on_page
from trackers.schedule import acts, bulk
from trackers.schedule.bulk import PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import TagName
from tweetwatch.bounded import TookTooLong, bounded

# For recording which of millions they are.
CHOOSE_TAKES = timedelta(seconds=20)
TOO_MANY = (
    "Finding all tweets that match took too long, and nothing was done. Choose an author, a "
    "source, a tag or a period as well, and do it for each."
)
NONE = "No tweets were chosen. Tick some, or choose all that match."


@require_POST
@needs(acts.CHANGE)
def act_on_many(request: HttpRequest) -> HttpResponse:
    asked, name = chosen(request.POST), request.POST.get("act", "")
    act = acts.ACTS.get(name)
    if act is None:
        raise Http404(f"There is no action {name[:40]!r} for tweets.")
    demand(request, act.permission)
    if not (asked.ids or asked.is_all):
        messages.error(request, NONE)
        return back(asked.query)
    now, _ = current()
    if act.asks and request.POST.get("sure") != "yes":
        return ask(request, asked, name, act, now=now)
    also: dict[str, Tag] = {}
    try:
        if name in acts.WITH_TAG:
            also["tag"] = tag_for(name, request.POST.get("tag", ""))
    except TagName as wrong:
        messages.error(request, str(wrong))
        return redirect(f"{reverse('tweets-many')}?{asked.address}")
    try:
        with bounded(CHOOSE_TAKES):
            return do(request, asked, name, also, now=now)
    except TookTooLong:
        messages.error(request, TOO_MANY)
        return back(asked.query)


def do(
    request: HttpRequest, asked: Chosen, name: str, also: dict[str, Tag], *, now: datetime
) -> HttpResponseRedirect:
    actor, tweets = on_page(request.user), asked.tweets(now=now).order_by()
    few = list(tweets.only("pk")[: PIECE + 1])
    if len(few) > PIECE:
        begun = acts.begin(name, tweets.values_list("pk"), actor, **also)
        return redirect("tweets-progress", begun.pk)
    done = acts.ACTS[name].do(few, actor, **also)
    (messages.success if done.is_done else messages.warning)(request, done.said)
    return back(asked.query)


def ask(request: HttpRequest, asked: Chosen, name: str, act: Act, *, now: datetime) -> HttpResponse:
    """The page that makes sure, with the number."""
    count = how_many(asked.tweets(now=now))
    assert act.asks is not None
    shown = {
        "now": now,
        "asked": asked,
        "act": name,
        "choice": act,
        "question": act.asks(of_tweets(count)),
        "by_workers": count is None or count > PIECE,
    }
    return render(request, "dashboards/tweets/sure.html", shown)


@require_POST
@needs(acts.CHANGE)
def stop_act(request: HttpRequest, id: int) -> HttpResponseRedirect:
    done = acts.stop(find_begun(id), on_page(request.user))
    (messages.success if done.is_done else messages.warning)(request, done.said)
    return redirect("tweets-progress", id)


def find_begun(id: int) -> BulkAct:
    begun = bulk.find(id)
    if begun is None:
        raise Http404(f"There is no bulk action {id}. Those that ended a month ago are gone.")
    return begun


def of_tweets(count: int | None) -> str:
    if count is None:
        return "all tweets that match, which are too many to count while you wait,"
    return f"{counted(count)} tweet{'' if count == 1 else 's'}"
