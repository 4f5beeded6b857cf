"""One search for everything that has a name, and for what may be done: a page, and the palette that
each page opens over itself.

typed ─> pages and acts by their words ─┐
      └> things by an index each ───────┴─> groups of links and buttons
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs
from trackers.dashboards.parts import render_parts
from trackers.dashboards.search import places, things
from trackers.dashboards.search.found import Found, Group
from trackers.jobs.pausing import paused_all
from trackers.standbys.requests import on_standby
from tweetwatch.time_limits import TookTooLong, limit_time

Person = AbstractUser | AnonymousUser

_MAX_LENGTH = 200
_TIMEOUT = timedelta(seconds=1)


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def search(request: HttpRequest) -> HttpResponse:
    typed = " ".join(request.GET.get("q", "").replace("\0", "")[:_MAX_LENGTH].split())

    def found_groups() -> dict[str, object]:
        groups, took_too_long = _find(request.user, typed)
        count = sum(len(group.found) for group in groups)
        return {"groups": groups, "count": count, "took_too_long": took_too_long}

    shared = {"typed": typed}
    return render_parts(
        request, "dashboards/search/page.html", {"found": found_groups}, shared=shared
    )


def _find(person: Person, typed: str) -> tuple[list[Group], bool]:
    """The groups that are not empty; and whether those of things are left out, for the time that
    they took."""
    try:
        with limit_time(_TIMEOUT):
            groups, took_too_long = list(_groups(person, typed)), False
    except TookTooLong:
        groups, took_too_long = list(_places(person, typed)), True
    if typed:
        groups.append(Group("Search", things.of_words(typed)))
    return [group for group in groups if group.found], took_too_long


def _groups(person: Person, typed: str) -> Iterator[Group]:
    may, sign = person.has_perm, typed[:1]
    if not typed:
        yield from _places(person, typed)
        return
    if things.tweet_id(typed) is not None:
        yield Group("Tweet", things.tweets(typed, may))
        yield Group("Acts", list(things.tweet_acts("", typed, may)))
    if sign not in ("@", "#"):
        yield from _places(person, typed)
        yield Group("Acts on these", list(_acts_on(typed, may)))
    if sign != "#":
        yield Group("Authors", things.authors(typed))
        yield Group("Sources", things.sources(typed) if may(VIEW_SOURCES) else [])
    if sign not in ("@", "#"):
        yield Group("Saved views", things.views(typed, person))
    if sign != "@":
        yield Group("Tags", things.tags(typed))
        yield Group("Hashtags", things.hashtags(typed))
    if sign not in ("@", "#"):
        yield Group("Domains", things.domains(typed))


def _places(person: Person, typed: str) -> Iterator[Group]:
    words = places.words_of(typed)
    if typed and not words:
        return
    yield Group("Pages", places.pages_called(words, person.has_perm, is_staff=person.is_staff))
    acts = places.acts_called(words, person.has_perm, is_paused=paused_all() is not None)
    yield Group("Acts", acts)


def _acts_on(typed: str, may: Callable[[str], bool]) -> Iterator[Found]:
    """Of "pause nasa": to the sources, and the tweet, of that name."""
    verb, _, name = typed.partition(" ")
    if not name:
        return
    yield from things.tweet_acts(verb.casefold(), name, may)
    if may(VIEW_SOURCES):
        yield from things.source_acts(verb.casefold(), name, may)
