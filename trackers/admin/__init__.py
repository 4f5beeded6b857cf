"""The admin: a module per part. Stock Django, which keeps to the content security policy."""

from __future__ import annotations

from django.contrib import admin

from trackers.admin import (
    alerts,
    api_tokens,
    credentials,
    followers,
    homes,
    intervals,
    people,
    projects,
    queues,
    readonly,
    sources,
    subscribers,
    tags,
    tweets,
)

__all__ = [
    "alerts",
    "api_tokens",
    "credentials",
    "followers",
    "homes",
    "intervals",
    "people",
    "projects",
    "queues",
    "readonly",
    "sources",
    "subscribers",
    "tags",
    "tweets",
]

admin.site.site_header = "tweetwatch"
admin.site.site_title = "tweetwatch"
admin.site.index_title = "What is watched, how often, and with which keys"
