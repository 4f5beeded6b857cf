"""An action on tweets that were chosen in a list: at once, or, of many, by the workers.

chosen ─ up to a thousand ─> done, and said
   └──── more, or for ever ─> the number, and "sure?" ─> done, or a BulkAct that shows how far it is
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html

from trackers.admin.outcome import report
from trackers.admin.readonly import MachineMade
from trackers.schedule import bulk, steer
from trackers.schedule.bulk import ACTS, PIECE
from trackers.schedule.models import BulkAct
from tweetwatch.bounded import TookTooLong, bounded

# Somebody waits for the number.
COUNT_TAKES = timedelta(seconds=5)
Act = BulkAct.Act


@dataclass(frozen=True, slots=True)
class Choice:
    """`done` is a sentence with a place for the number, `nothing` what is said if there are none,
    `sure` a question with a place for the tweets; `asks`: even for a few."""

    act: str
    button: str
    done: str
    nothing: str
    sure: str
    asks: bool = False


REFRESH = Choice(
    Act.REFRESH,
    "Refresh now",
    "Looking up next: {}.",
    "Nothing to look up: paused or isolated. Choose Resume, or retry the isolated ones.",
    "Look up {} now?",
)
PAUSE = Choice(
    Act.PAUSE,
    "Pause",
    "Paused {}.",
    "Nothing to pause: already paused. Choose Resume to continue.",
    "Pause {}? They will not be looked up until they are resumed.",
)
RESUME = Choice(
    Act.RESUME,
    "Resume",
    "Resumed {}.",
    "Nothing to resume: not paused. Choose Refresh now to look up at once.",
    "Resume {}?",
)
RETRY = Choice(
    Act.RETRY,
    "Retry",
    "Looking up again: {}.",
    "Nothing to retry: no longer isolated. Reload this list.",
    "Look up {} again?",
)
UNTRACK = Choice(
    Act.UNTRACK,
    "Untrack",
    "No longer tracked: {}.",
    "Nothing to untrack: not tracked any more. Reload this list.",
    "Stop tracking {} and remove the whole history? This cannot be undone.",
    asks=True,
)


def act(
    listed: admin.ModelAdmin, request: HttpRequest, chosen: QuerySet[Any], choice: Choice
) -> HttpResponse | None:
    """Do it to them, or ask first; the list is shown again where there is no page."""
    few = list(chosen.order_by().values_list("pk", flat=True)[: PIECE + 1])
    is_many, is_sure = len(few) > PIECE, request.POST.get("sure") == "yes"
    if not is_sure and (is_many or choice.asks):
        return ask(listed, request, chosen, choice, count=None if is_many else len(few))
    if is_many:
        row = bulk.begin(choice.act, chosen.values_list("pk"), by=request.user.get_username())
        return redirect("admin:trackers_bulkact_change", row.pk)
    done = first_act(choice)(few)
    report(listed, request, done, done=choice.done, nothing=choice.nothing)
    return None


def first_act(choice: Choice) -> Any:
    """A person waits for these few, so their refresh comes before a backlog."""
    return steer.refresh_now if choice.act == Act.REFRESH else ACTS[choice.act]


def ask(
    listed: admin.ModelAdmin,
    request: HttpRequest,
    chosen: QuerySet[Any],
    choice: Choice,
    *,
    count: int | None,
) -> HttpResponse:
    """The page with the number. It names only ticked tweets: for all in the list the address says
    which."""
    across = request.POST.get("select_across") == "1"
    ticked = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)
    given = {
        "title": f"{choice.button}?",
        "opts": listed.opts,
        "question": choice.sure.format(tweets(counted(chosen) if count is None else count)),
        "choice": choice,
        "action": request.POST["action"],
        "across": across,
        "ticked": ticked[:1] if across else ticked,
        "back": request.get_full_path(),
        "by_workers": count is None,
    }
    context = {**listed.admin_site.each_context(request), **given}
    return render(request, "admin/trackers/many_tweets.html", context)


def counted(chosen: QuerySet[Any]) -> int | None:
    """How many; None where that takes too long to wait for."""
    try:
        with bounded(COUNT_TAKES):
            return chosen.order_by().count()
    except TookTooLong:
        return None


def tweets(count: int | None) -> str:
    if count is None:
        return "all tweets in this list (too many to count here)"
    return f"{count:,} tweet" if count == 1 else f"{count:,} tweets"


@admin.register(BulkAct)
class BulkActAdmin(MachineMade):
    """What was begun with many tweets, and how far it is."""

    list_display = ("what", "by", "begun_at", "progress", "finished_at", "was_stopped")
    list_display_links = ("what",)
    fields = (
        "what", "by", "progress", "done", "begun_at", "touched_at", "finished_at", "was_stopped",
        "of_source",
    )  # fmt: skip
    readonly_fields = ("what", "progress", "of_source")
    actions = ("stop",)
    show_full_result_count = False

    @admin.display(description="what")
    def what(self, row: BulkAct) -> str:
        return str(row)

    @admin.display(description="progress")
    def progress(self, row: BulkAct) -> str:
        return f"{row.seen:,} of {row.tweets:,} ({row.percent}%)"

    @admin.display(description="removed with them")
    def of_source(self, row: BulkAct) -> str:
        if row.source is None:
            return "-"
        address = reverse("source", args=[row.source])
        return format_html('<a href="{}">source {}</a>', address, row.source)

    def has_view_permission(self, request: HttpRequest, obj: BulkAct | None = None) -> bool:
        """Those who may begin one see how far it is."""
        theirs = ("trackers.view_bulkact", "trackers.change_tweet", "trackers.delete_tweet")
        return any(map(request.user.has_perm, theirs))

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.change_tweet")

    @admin.action(description="Stop: leave the rest as it is", permissions=["act"])
    def stop(self, request: HttpRequest, chosen: QuerySet[BulkAct]) -> None:
        count = bulk.stop(chosen.values_list("pk", flat=True))
        nothing = "Nothing to stop: already finished or stopped."
        report(self, request, count, done="Stopped {}.", nothing=nothing)
