"""Where the figures of what a page shows are: the page of that set."""

from __future__ import annotations

from django.template import Library
from django.urls import NoReverseMatch, reverse

from trackers.listing.query import TweetQuery
from trackers.sets.kinds import ALL_KEY, SetKind

register = Library()


@register.simple_tag
def set_of(kind: str, key: object) -> str:
    """The address of the page of a set; empty for a key that no address can have."""
    try:
        return reverse("set", args=[kind, str(key)])
    except NoReverseMatch:
        return ""


@register.simple_tag
def set_asked_for(query: TweetQuery) -> str:
    """The set that a list of tweets is narrowed to, by the first filter that is one; all of them
    without a filter, and empty where the filters are none."""
    for name, value in query.named:
        if name in (SetKind.HASHTAG, SetKind.DOMAIN):
            return set_of(name, value)
    if query.tag:
        return set_of(SetKind.TAG, f"#{query.tag}")
    if query.author:
        is_id = query.author.isdigit()
        return set_of(SetKind.AUTHOR, query.author if is_id else f"@{query.author.lstrip('@')}")
    if query.source:
        return set_of(SetKind.SOURCE, query.source)
    if query.lang:
        return set_of(SetKind.LANGUAGE, query.lang)
    return "" if query.narrowed else set_of(SetKind.ALL, ALL_KEY)
