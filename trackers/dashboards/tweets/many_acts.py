"""What a person does to many tweets of the list: at once, or, of many, by the workers.

the list ─ ticked, or all that match ─> their number, and what to do ─ POST ─┬─> done, and said
                                                                              └─> a BulkAct
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import demand, needs
from trackers.dashboards.tweets.acts import CHANGE
from trackers.dashboards.tweets.chosen import Chosen, chosen, how_many
from trackers.dashboards.tweets.list_acts import back
from trackers.dashboards.words import counted
from trackers.schedule import bulk, steer
from trackers.schedule.bulk import PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import TagName, made, named
from tweetwatch.bounded import TookTooLong, bounded

# For recording which of millions they are.
CHOOSE_TAKES = timedelta(seconds=20)
TOO_MANY = (
    "Finding all tweets that match took too long, and nothing was done. Choose an author, a "
    "source, a tag or a period as well, and do it for each."
)
NONE = "No tweets were chosen. Tick some, or choose all that match."
Do = BulkAct.Act


@dataclass(frozen=True, slots=True)
class Choice:
    """`done` and `nothing` are what is said then, with places for the tweets and the tag; `sure`
    is asked before it is done."""

    button: str
    done: str
    nothing: str
    permission: str = CHANGE
    takes_tag: bool = False
    sure: str = ""


CHOICES = {
    Do.TAG: Choice(
        "Add the tag", "{tweets} tagged “{tag}”.", "All of them are tagged “{tag}” already.",
        takes_tag=True,
    ),
    Do.UNTAG: Choice(
        "Remove the tag", "Removed the tag “{tag}” from {tweets}.",
        "None of them has the tag “{tag}”.", takes_tag=True,
    ),
    Do.REFRESH: Choice(
        "Refresh now", "{tweets} will be looked up next.",
        "Nothing to look up: they are paused, or being looked up right now.",
    ),
    Do.PAUSE: Choice(
        "Pause", "{tweets} paused. They are not looked up until they are resumed.",
        "All of them are paused already.",
    ),
    Do.RESUME: Choice("Resume", "{tweets} resumed.", "None of them is paused."),
    Do.UNTRACK: Choice(
        "Untrack", "{tweets} no longer tracked; their history is gone with them.",
        "None of them is tracked any more.", permission="trackers.delete_tweet",
        sure="Stop tracking {tweets} and remove the whole history? This cannot be undone.",
    ),
}  # fmt: skip


@require_POST
@needs(CHANGE)
def act_on_many(request: HttpRequest) -> HttpResponse:
    asked, act = chosen(request.POST), request.POST.get("act", "")
    choice = CHOICES.get(act)  # type: ignore[call-overload]
    if choice is None:
        raise Http404(f"There is no action {act[:40]!r} for tweets.")
    demand(request, choice.permission)
    if not (asked.ids or asked.is_all):
        messages.error(request, NONE)
        return back(asked.query)
    now, _ = current()
    if choice.sure and request.POST.get("sure") != "yes":
        return ask(request, asked, act, choice, now=now)
    try:
        tag = tag_for(act, request.POST.get("tag", "")) if choice.takes_tag else None
    except TagName as wrong:
        messages.error(request, str(wrong))
        return redirect(f"{reverse('tweets-many')}?{asked.address}")
    try:
        with bounded(CHOOSE_TAKES):
            return do(request, asked, act, choice, tag, now=now)
    except TookTooLong:
        messages.error(request, TOO_MANY)
        return back(asked.query)


def tag_for(act: str, typed: str) -> Tag:
    """A tag to be added is created; one to be removed must exist. TagName otherwise."""
    tag = made(typed) if act == Do.TAG else named(typed)
    if tag is None:
        raise TagName(f"There is no tag “{typed[:60]}”. Choose one of the list.")
    return tag


def do(
    request: HttpRequest, asked: Chosen, act: str, choice: Choice, tag: Tag | None, *, now: datetime
) -> HttpResponseRedirect:
    tweets = asked.tweets(now=now).order_by()
    few = list(tweets.values_list("pk", flat=True)[: PIECE + 1])
    about = f" “{tag}”" if tag else ""
    if len(few) > PIECE:
        row = bulk.begin(
            act,
            tweets.values_list("pk"),
            by=request.user.get_username(),
            tag=tag.pk if tag else None,
        )
        told = f"{choice.button}{about}: begun, on the page of tweets."
        history.record_many(request.user, Tweet, row.tweets, told)
        return redirect("tweets-progress", row.pk)
    # A person waits for these few, so their refresh comes before a backlog.
    acts = steer.refresh_now if act == Do.REFRESH else bulk.to_do(act, tag.pk if tag else None)
    if done := acts(few):
        flag = history.DELETION if act == Do.UNTRACK else history.CHANGE
        told = f"{choice.button}{about}, on the page of tweets."
        history.record_many(request.user, Tweet, done, told, flag=flag)
        messages.success(request, choice.done.format(tweets=of_tweets(done), tag=tag))
    else:
        messages.warning(request, choice.nothing.format(tag=tag))
    return back(asked.query)


def ask(
    request: HttpRequest, asked: Chosen, act: str, choice: Choice, *, now: datetime
) -> HttpResponse:
    """The page that makes sure, with the number."""
    count = how_many(asked.tweets(now=now))
    shown = {
        "now": now,
        "asked": asked,
        "act": act,
        "choice": choice,
        "question": choice.sure.format(tweets=of_tweets(count)),
        "by_workers": count is None or count > PIECE,
    }
    return render(request, "dashboards/tweets/sure.html", shown)


@require_POST
@needs(CHANGE)
def stop_act(request: HttpRequest, id: int) -> HttpResponseRedirect:
    if bulk.stop([id]):
        messages.success(request, "Stopped. What is already done stays done.")
    else:
        messages.warning(request, "It had already ended.")
    return redirect("tweets-progress", id)


def of_tweets(count: int | None) -> str:
    if count is None:
        return "all tweets that match, which are too many to count while you wait,"
    return f"{counted(count)} tweet{'' if count == 1 else 's'}"
