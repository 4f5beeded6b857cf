"""Tags: renamed, merged and removed."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.tweets.tags import acts
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, clean_name
from tweetwatch.amounts import amount

_NAME_TAKEN = "There is a tag “{}” already. Merge the two, or choose another name."
# For each line of the list, tweets are counted up to this many.
_MAX_TWEETS_COUNTED = 1000


class TagForm(forms.ModelForm):
    class Meta:
        model = Tag
        fields = ("name",)

    def clean_name(self) -> str:
        try:
            name = clean_name(self.cleaned_data["name"])
        except InvalidTagName as wrong:
            raise forms.ValidationError(str(wrong)) from None
        same = Tag.objects.called(name).exclude(pk=self.instance.pk)
        if same.exists():
            raise forms.ValidationError(_NAME_TAKEN.format(same.get()))
        return name


@admin.register(Tag)
class TagAdmin(ActingAdmin):
    form = TagForm
    list_display = ("name", "on", "its_tweets")
    search_fields = ("name__icontains",)
    search_help_text = "A part of the name."
    ordering = ("name",)
    list_per_page = 100
    actions = ("merge", "remove")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        return super().get_queryset(request).filter(ended_at=None)

    def has_delete_permission(self, request: HttpRequest, obj: Tag | None = None) -> bool:
        """Django's own page would list every tweet that has it; use the action instead."""
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.delete_tag")

    @admin.display(description="on")
    def on(self, tag: Tag) -> str:
        return _tweet_count_text(tag, _MAX_TWEETS_COUNTED)

    @admin.display(description="tweets")
    def its_tweets(self, tag: Tag) -> str:
        address = f"{reverse('tweets')}?{urlencode({'tag': tag.name})}"
        return format_html('<a href="{}">list</a>', address)

    @admin.action(description="Merge into one", permissions=["end"])
    def merge(self, request: HttpRequest, chosen: QuerySet[Tag]) -> HttpResponse | Done:
        tags = list(chosen.order_by("name"))
        if len(tags) < 2:
            few = "Merging takes two tags or more. Tick them, and choose Merge again."
            return Done(few, is_done=False)
        into = next((tag for tag in tags if str(tag.pk) == request.POST.get("into")), None)
        if into is None or request.POST.get("sure") != "yes":
            return self.ask(request, "merge", "Merge tags?", tags)
        return acts.merge_tags(tags, in_admin(request.user), into=into)

    @admin.action(description="Remove from all tweets", permissions=["end"])
    def remove(self, request: HttpRequest, chosen: QuerySet[Tag]) -> HttpResponse | Done:
        tags = list(chosen.order_by("name"))
        if request.POST.get("sure") != "yes":
            return self.ask(request, "remove", "Remove tags?", tags)
        return acts.remove_tags(tags, in_admin(request.user))

    def ask(self, request: HttpRequest, action: str, title: str, tags: list[Tag]) -> HttpResponse:
        values = {
            "title": title,
            "opts": self.opts,
            "action": action,
            "tags": [(tag, _tweet_count_text(tag, acts.MAX_COUNTED)) for tag in tags],
        }
        context = {**self.admin_site.each_context(request), **values}
        return render(request, "admin/trackers/tag/end.html", context)


def _tweet_count_text(tag: Tag, most: int) -> str:
    count = acts.count_tagged(tag, most)
    if count > most:
        return f"more than {most:,} tweets"
    return amount(count, "tweet")
