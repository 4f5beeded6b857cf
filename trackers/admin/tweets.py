"""Tweets and their authors: look at them, and pause, resume, refresh or untrack them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from trackers import history
from trackers.admin import many_tweets
from trackers.admin.estimate import EstimatingPaginator
from trackers.admin.readonly import MachineMade
from trackers.ingest.files.track_lines import track_lines
from trackers.tweets.finding.finder import SEARCH_TAKES, Finder, Finds
from trackers.tweets.finding.way import Way
from trackers.tweets.models import METRICS, Author, Tweet
from tweetwatch.bounded import TookTooLong, bounded

REJECTED_SHOWN = 500
SEARCHED_MOST = 500
NOT_ALL = "There may be older matches: not all tweets were searched."


class PasteForm(forms.Form):
    lines = forms.CharField(
        label="Ids or links, one per line",
        widget=forms.Textarea(
            attrs={"rows": 14, "class": "track", "spellcheck": "false", "autofocus": True}
        ),
        help_text="Commas work too. Invalid lines are reported; all others are tracked.",
        max_length=2_400_000,
        strip=False,
    )


@admin.register(Tweet)
class TweetAdmin(MachineMade):
    list_display = (
        "id", "author", "created_at", "measured_until", "impressions", "likes", "retweets",
        "paused", "missing_because", "on_its_page",
    )  # fmt: skip
    list_select_related = ("author",)
    list_display_links = ("id",)
    list_filter = ("paused", ("gone_at", admin.EmptyFieldListFilter), "missing_because")
    search_fields = ("=id",)
    search_help_text = (
        f"An id, the link of a tweet, @author, or words; the newest {SEARCHED_MOST} are listed."
    )
    ordering = ("-id",)
    show_full_result_count = False
    paginator = EstimatingPaginator
    fields = (
        "id", "author", "created_at", "tracked_at", "came_from", "paused",
        "missing_since", "missing_because", "gone_at", "unclear_since", "unclear_because",
        "taken_at", "measured_until", "measurements", *METRICS,
    )  # fmt: skip
    actions = ("refresh_now", "pause", "resume", "untrack")
    change_list_template = "admin/trackers/tweet/change_list.html"

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet[Any], words: str
    ) -> tuple[QuerySet[Any], bool]:
        if not words.strip():
            return rows, False
        try:
            with bounded(SEARCH_TAKES) as deadline:
                found = Finder(deadline, SEARCHED_MOST).find(words.replace("\0", "")[:200], Way())
        except TookTooLong:
            found = Finds(note="This search took too long and was stopped. Add more words.")
        if note := found.note or (found.until and NOT_ALL):
            self.message_user(request, note, messages.WARNING)
        return rows.filter(pk__in=found.ids), False

    @admin.display(description="curve")
    def on_its_page(self, tweet: Tweet) -> str:
        return format_html('<a href="{}">curve</a>', reverse("tweet", args=[tweet.pk]))

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.change_tweet")

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.delete_tweet")

    def has_track_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.add_tweet")

    @admin.action(description="Refresh now", permissions=["act"])
    def refresh_now(self, request: HttpRequest, chosen: QuerySet[Tweet]) -> HttpResponse | None:
        return many_tweets.act(self, request, chosen, many_tweets.REFRESH)

    @admin.action(description="Pause", permissions=["act"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Tweet]) -> HttpResponse | None:
        return many_tweets.act(self, request, chosen, many_tweets.PAUSE)

    @admin.action(description="Resume", permissions=["act"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Tweet]) -> HttpResponse | None:
        return many_tweets.act(self, request, chosen, many_tweets.RESUME)

    @admin.action(description="Untrack: remove with the whole history", permissions=["end"])
    def untrack(self, request: HttpRequest, chosen: QuerySet[Tweet]) -> HttpResponse | None:
        return many_tweets.act(self, request, chosen, many_tweets.UNTRACK)

    def get_urls(self) -> list[URLPattern]:
        track = path("track/", self.admin_site.admin_view(self.track), name="trackers_tweet_track")
        return [track, *super().get_urls()]

    def track(self, request: HttpRequest) -> HttpResponse:
        """The paste view: counts, and every rejected line with its number."""
        if not self.has_track_permission(request):
            raise PermissionDenied
        form = PasteForm(request.POST or None)
        done = None
        if request.method == "POST" and form.is_valid():
            done = track_lines(
                form.cleaned_data["lines"].splitlines(), came_from=f"pasted by {request.user}"
            )
            history.record_many(
                request.user,
                Tweet,
                done.tracked,
                f"Pasted {done.read:,} lines: {done.tracked:,} tracked, {done.already:,} already.",
                flag=history.ADDITION,
            )
            form = PasteForm()
        return render(
            request,
            "admin/trackers/tweet/track.html",
            {
                **self.admin_site.each_context(request),
                "title": "Track tweets",
                "opts": self.opts,
                "form": form,
                "done": done,
                "rejected": done.rejected[:REJECTED_SHOWN] if done else [],
                "warnings": done.odd[:REJECTED_SHOWN] if done else [],
                "rejected_count": len(done.rejected) if done else 0,
                "more_rejected": max(0, len(done.rejected) - REJECTED_SHOWN) if done else 0,
            },
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        given = {"may_track": self.has_track_permission(request), **(extra_context or {})}
        return super().changelist_view(request, given)


@admin.register(Author)
class AuthorAdmin(MachineMade):
    list_display = ("id", "username", "name", "protected", "checked_at")
    search_fields = ("=id", "username__istartswith")
    show_full_result_count = False
    paginator = EstimatingPaginator
    ordering = ("-id",)
