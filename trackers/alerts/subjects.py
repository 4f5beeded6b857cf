"""What a rule is about, as a person names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db.models import Model, QuerySet

from trackers.alerts.models import AlertRule
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.naming import meant_source, username
from trackers.ingest.tweet_ids import id_of
from trackers.roles import Person
from trackers.saved_views.models import SavedView
from trackers.tweets.finding.names import authors_called, is_known
from trackers.tweets.models import Author, Tweet
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import find_tag

About = AlertRule.About
_THERE: dict[str, type[Model]] = {
    About.TWEET: Tweet, About.AUTHOR: Author, About.SOURCE: Source, About.TAG: Tag,
    About.VIEW: SavedView,
}  # fmt: skip
# How a person names one.
NAME_OF: dict[str, Callable[[Any], str]] = {
    About.AUTHOR: str,
    About.SOURCE: lambda source: source.of,
    About.TAG: lambda tag: tag.name,
    About.VIEW: lambda view: view.name,
}
# The page of one, in an address of ours.
_OUR_PAGE = re.compile(
    r"/(?P<page>tweet|author|source|sets/tag|sets/view)s?/(?P<id>[0-9]{1,18})/?(?:[?#]|$)"
)
# Longer ones name nothing.
_NUMBER = re.compile(r"[0-9]{1,18}")


def subject_id(about: str, text: str, reader: Person) -> int | None:
    """None where it names nothing that is known here. `reader`: whose views have their names."""
    ours = _OUR_PAGE.search(text)
    if ours and about == ours["page"].removeprefix("sets/"):
        return int(ours["id"])
    if about in (About.TAG, About.VIEW):
        named = (
            find_tag(text)
            if about == About.TAG
            else SavedView.objects.seen_by(reader).filter(name__iexact=text).first()
        )
        return named.pk if named else int(text) if _NUMBER.fullmatch(text) else None
    if about == About.TWEET:
        return id_of(text)
    if _NUMBER.fullmatch(text):
        return int(text)
    if about == About.AUTHOR:
        try:
            name = username(text)
        except ValueError:
            return None
        return next(iter(authors_called(name).ids), None) if is_known(name) else None
    meant = meant_source(text)
    sources = (
        Source.objects.filter(kind=meant.kind, of__iexact=meant.of)
        if meant
        else Source.objects.filter(of__iexact=" ".join(text.split()))
    )
    return sources.order_by("pk").values_list("pk", flat=True).first()


def known(about: str, reader: Person) -> QuerySet[Any]:
    """What a rule may be about: views that the person sees, tags that were not removed."""
    if about == About.VIEW:
        return SavedView.objects.seen_by(reader)
    if about == About.TAG:
        return Tag.objects.live().by_name()
    return _THERE[about]._default_manager.all()


def name_of(about: str, of: Any, reader: Person) -> str:
    """What one types for it; its number where a name means another one, or none."""
    number = "" if of is None else str(of)
    if about not in NAME_OF or not _NUMBER.fullmatch(number):
        return number
    row = known(about, reader).filter(pk=int(number)).first()
    name = "" if row is None else NAME_OF[about](row)
    is_found = bool(name) and subject_id(about, name, reader) == int(number)
    return name if is_found else number
