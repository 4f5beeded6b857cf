"""The admin: a module per part. Stock Django, so that it obeys the content security policy."""

from __future__ import annotations

from django.contrib import admin

from trackers.admin import (
    credentials,
    intervals,
    isolated,
    namespaces,
    projects,
    sources,
    tweets,
    workers,
)

__all__ = [
    "credentials",
    "intervals",
    "isolated",
    "namespaces",
    "projects",
    "sources",
    "tweets",
    "workers",
]

admin.site.site_header = "tweetwatch"
admin.site.site_title = "tweetwatch"
admin.site.index_title = "What is watched, how often, and with which keys"
