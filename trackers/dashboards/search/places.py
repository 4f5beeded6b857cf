"""Pages and acts by the words that people call them: those which the person may see and do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

from trackers.dashboards.access import (
    VIEW_ALERTS,
    VIEW_OPERATIONS,
    VIEW_SOURCES,
    VIEW_SUBSCRIBERS,
    VIEW_TWEETS,
)
from trackers.dashboards.search.found import Found
from trackers.ingest.sources.acts import ADD as ADD_SOURCE
from trackers.jobs.acts import CHANGE_QUEUE
from trackers.schedule.acts import ADD_TWEET

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Place:
    title: str
    name: str  # of its address
    needs: str = ""  # a permission; empty: every account
    also: str = ""  # other words for it
    detail: str = ""
    rest: str = ""  # what follows in the address
    is_act: bool = False
    # Offered only while everything is paused, or only while it is not; None: always.
    while_paused: bool | None = None

    def is_called(self, words: Iterable[str]) -> bool:
        """Whether each word begins one of its own."""
        own = _WORD.findall(f"{self.title} {self.also}".casefold())
        return all(any(each.startswith(word) for each in own) for word in words)


# In the order of the menu; what it does not have comes after that.
_PAGES = (
    _Place("Today", "today", VIEW_TWEETS, "overview start dashboard far above usual"),
    _Place("Tweets", "tweets", VIEW_TWEETS, "posts list"),
    _Place("Leaderboards", "leaderboards", VIEW_TWEETS, "ranking top authors hashtags domains"),
    _Place("Columns", "columns", VIEW_TWEETS, "deck"),
    _Place("Home", "home", VIEW_TWEETS, "timeline"),
    _Place("Sources", "sources", VIEW_SOURCES, "accounts searches lists stream"),
    _Place("Alerts", "alerts", VIEW_ALERTS, "rules digest mail"),
    _Place("What grows fastest", "fastest", VIEW_TWEETS, "velocity gains"),
    _Place("What happened", "happenings", VIEW_TWEETS, "milestones gone edited since"),
    _Place("What is left of all tweets", "tweets-left", VIEW_TWEETS, "deleted gone presence"),
    _Place("Live changes", "live", VIEW_TWEETS, "stream events"),
    _Place("Compare tweets", "compare", VIEW_TWEETS, "side by side"),
    _Place("Notes", "notes", "trackers.view_note"),
    _Place("Shares", "shares", "trackers.view_share", "links public embed"),
    _Place("Following", "following", VIEW_SOURCES, "follow unfollow team"),
    _Place("Feeds", "feeds", VIEW_SOURCES, "atom json rss"),
    _Place("Alert log", "alert-log", VIEW_ALERTS, "what fired"),
    _Place("Channels", "channels", "trackers.view_channel", "slack teams discord telegram chat"),
    _Place("Operations", "operations", VIEW_OPERATIONS, "queue money credentials status"),
    _Place(
        "Workers", "operations", VIEW_OPERATIONS, "cluster processes", "Operations", "?tab=workers"
    ),
    _Place("Queues", "operations", VIEW_OPERATIONS, "jobs", "Operations", "?tab=queues"),
    _Place("Database", "operations", VIEW_OPERATIONS, "postgres", "Operations", "?tab=database"),
    _Place("Subscribers", "subscribers", VIEW_SUBSCRIBERS, "webhooks events"),
    _Place("Your account", "account", "", "profile password sessions passkeys settings"),
    _Place("Dates and times", "account_times", "", "zone clock format week"),
    _Place("Quiet hours", "account_quiet", "", "night silence do not disturb"),
    _Place("Pages", "account_pages", "", "theme dark light compact first page"),
    _Place("Help", "help", VIEW_TWEETS, "documents manual"),
)
_STAFF = _Place("Admin", "admin:index", "", "set-up settings users intervals")
_ACTS = (
    _Place("Track tweets", "tweets", ADD_TWEET, "add paste ids links", "by id or link", "#track"),
    _Place("Add a source", "sources", ADD_SOURCE, "new account search list", rest="#watch"),
    _Place("Import a file", "import-file", ADD_SOURCE, "upload csv archive"),
    _Place("Add an alert", "alert-add", "trackers.add_alertrule", "new rule"),
    _Place("Add a channel", "channel-add", "trackers.add_channel", "new slack teams discord"),
    _Place("Add a subscriber", "subscriber-add", "trackers.add_subscriber", "new webhook"),
    _Place(
        "Pause everything",
        "pause-all",
        CHANGE_QUEUE,
        "stop halt",
        "asks before",
        while_paused=False,
    ),
    _Place(
        "Resume everything", "resume-all", CHANGE_QUEUE, "continue", is_act=True, while_paused=True
    ),
    _Place("Change your password", "account_change_password"),
    _Place("Log out", "account_logout", "", "sign leave", is_act=True),
)


def words_of(typed: str) -> list[str]:
    return _WORD.findall(typed.casefold())


def pages_called(words: list[str], may: Callable[[str], bool], *, is_staff: bool) -> list[Found]:
    """All of them where there is no word."""
    return list(_called(words, (*_PAGES, _STAFF) if is_staff else _PAGES, may))


def acts_called(words: list[str], may: Callable[[str], bool], *, is_paused: bool) -> list[Found]:
    """`is_paused`: whether everything is."""
    offered = [one for one in _ACTS if one.while_paused in (None, is_paused)]
    return list(_called(words, offered, may))


def _called(
    words: list[str], places: Iterable[_Place], may: Callable[[str], bool]
) -> Iterator[Found]:
    """Those whose title begins like that first."""
    called = [one for one in places if one.is_called(words) and (not one.needs or may(one.needs))]
    typed = " ".join(words)
    for place in sorted(called, key=lambda one: not one.title.casefold().startswith(typed)):
        try:
            address = reverse(place.name) + place.rest
        except NoReverseMatch:
            continue  # The page is not there yet.
        yield Found(place.title, address, place.detail, is_act=place.is_act)
