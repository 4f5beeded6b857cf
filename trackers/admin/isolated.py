"""Tweets that were set aside after four look-ups that never came to an end."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from trackers.admin import many_tweets
from trackers.admin.readonly import MachineMade
from trackers.jobs.models import STRIKES
from trackers.updater.models import IsolatedTweet


@admin.register(IsolatedTweet)
class IsolatedTweetAdmin(MachineMade):
    list_display = ("key", "attempts", "on_its_page")
    list_display_links = None
    actions = ("retry",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[IsolatedTweet]:
        return super().get_queryset(request).filter(attempts__gte=STRIKES)

    @admin.display(description="page")
    def on_its_page(self, isolated: IsolatedTweet) -> str:
        return format_html('<a href="{}">tweet</a>', reverse("tweet", args=[isolated.key]))

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.change_tweet")

    @admin.action(description="Retry: look up again", permissions=["act"])
    def retry(self, request: HttpRequest, chosen: QuerySet[IsolatedTweet]) -> HttpResponse | None:
        return many_tweets.act(self, request, chosen, many_tweets.RETRY)
