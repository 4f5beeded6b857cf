"""Every address that a person looks at or a program reads, on the world of `screens`.

page: a person waits for it · admin: the same, of the admin · poll: an open page asks for it every
few seconds · search: a page of tweets with words, whose SQL has a bar of its own · file: up to its
first bytes · api: with a token
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.benchmarks.screens.beside import FIRST_IMPORT, Entered, enter
from tests.benchmarks.screens.world import CAME_FROM, LONG, LONG_AUTHOR
from trackers.events.models import Subscriber
from trackers.tweets.finding.words import parse_search
from trackers.tweets.models import METRICS, Tweet, TweetText
from trackers.updater.states import STATES

Kind = Literal["page", "poll", "search", "file", "api", "admin"]
NOBODY = "nobodywrotethis"
SEARCHES = {
    "the": "q=the", "a rare word": "q=zyzzyva", "a word of long ago": "q=worldcup",
    "a word nobody wrote": f"q={NOBODY}", "one letter": "q=z", "a letter nobody wrote": "q=q",
    "a phrase nobody wrote": 'q="worldcup%20the"', "Japanese": "q=%E6%9D%B1%E4%BA%AC",
    "@nobody": "q=%40nobody_of_this_name", "@p": "q=%40p",
    "a word nobody wrote, of an author": f"q={NOBODY}&author=1",
    "a word nobody wrote, resting": f"q={NOBODY}&state=resting",
    "the, with more likes than any": "q=the&min_likes=1000000000",
    "a word nobody wrote, of what gained most": f"q={NOBODY}&sort=gain-likes-1440",
    "the, most likes": "q=the&sort=likes",
}  # fmt: skip
FILTERS = {
    "tag": "tag=half", "rare tag": "tag=three", "no such tag": "tag=nobodymadethis",
    "tag and figure": "tag=half&min_likes=1000000000",
    "source": "source=1", "author": "author=1", "language": "lang=en",
    "no such language": "lang=xx",
    "last hour": "age=1h", "30 days": "age=30d", "before all": "until=2011-01-01",
    "more likes than any": "min_likes=1000000000", "author and language": "author=1&lang=xx",
    "source and figure": "source=1&min_likes=1000000000",
}  # fmt: skip
SORTS = [
    *(by for by in ("author", "checked", "next", *METRICS)),
    *(f"{by}-{metric}-{minutes}" for by in ("gain", "velocity")
      for metric in ("likes", "views") for minutes in (15, 60, 1440)),
]  # fmt: skip


class Address(NamedTuple):
    name: str
    kind: Kind
    path: str


@dataclass(frozen=True)
class World:
    """What the addresses name of the loaded world. `deep`: an id far down in the list; `long`: the
    tweets of many samples; `new`: a word of the newest text."""

    me: Entered
    newest: str
    deep: int
    long: list[str]
    subscriber: Subscriber
    new: str

    @property
    def ids(self) -> str:
        return ",".join(self.long)

    @property
    def compared(self) -> str:
        return f"ids={self.ids}&until=7d"

    @property
    def long_page(self) -> str:
        return f"/tweets/{self.long[0]}/"


def world(me: Entered) -> World:
    newest, oldest = (Tweet.objects.order_by(order).first() for order in ("-pk", "pk"))
    assert newest is not None
    assert oldest is not None
    of_long = Tweet.objects.filter(author=LONG_AUTHOR, came_from=CAME_FROM[True])
    word = TweetText.objects.order_by("-pk").first()
    assert word is not None
    new = word.text.split()[1]
    assert parse_search(new)
    return World(
        me=me,
        newest=f"/tweets/{newest.pk}/",
        deep=oldest.pk + (newest.pk - oldest.pk) // 10,
        long=[str(id) for id in of_long.order_by("pk").values_list("pk", flat=True)],
        subscriber=Subscriber.objects.order_by("name")[0],
        new=new,
    )


Rows = list[tuple[str, Kind, str]]


def lists(it: World) -> Rows:
    """The overview, and the list of tweets by its filters and orders."""
    return [
        ("overview", "page", "/"), ("overview, on a wall", "page", "/?kiosk=1"),
        ("overview, polled", "poll", "/?part=now"),
        ("the next hour, polled", "poll", "/?part=ahead"),
        ("far above usual, polled", "poll", "/?part=outstanding"),
        ("what happened", "page", "/happenings/"), ("notes", "page", "/notes/"),
        ("what grows fastest, polled", "poll", "/?part=fastest"),
        ("fastest", "page", "/fastest/"), ("fastest, polled", "poll", "/fastest/?part=fastest"),
        ("tweets", "page", "/tweets/"), ("tweets, deep", "page", f"/tweets/?before={it.deep}"),
        ("tweets, newest first", "page", "/tweets/?sort=newest"),
        ("tweets, polled", "poll", "/tweets/?part=rows"),
        ("what is left", "page", "/tweets/left/"),
        ("tweets: suspended", "page", "/tweets/?presence=suspended"),
        *((f"tweets: {state}", "page", f"/tweets/?state={state}") for state in STATES),
        *((f"tweets: {name}", "page", f"/tweets/?{query}") for name, query in FILTERS.items()),
        *((f"tweets by {by}", "page", f"/tweets/?sort={by}") for by in SORTS),
        ("tweets by likes, of an author", "page", "/tweets/?author=1&sort=likes"),
        ("tweets by likes, of a source", "page", "/tweets/?source=1&sort=likes"),
        ("tweets by next check, paused", "page", "/tweets/?state=paused&sort=next"),
        *((f"search: {name}", "search", f"/tweets/?{query}") for name, query in SEARCHES.items()),
        ("search: a new word", "search", f"/tweets/?q={it.new}"),
        ("tweets as a file", "file", "/tweets/export.csv"),
        ("what is left as a file", "file", "/tweets/left/presences.csv"),
        ("tweets as a file, sorted", "file", "/tweets/export.jsonl?sort=likes"),
    ]  # fmt: skip


def one_tweet(it: World) -> Rows:
    """A tweet, and several beside each other."""
    return [
        ("tweet", "page", it.newest), ("tweet, polled", "poll", f"{it.newest}?part=now"),
        ("tweet of 10,000 samples", "page", it.long_page),
        ("tweet of 10,000 samples, polled", "poll", f"{it.long_page}?part=now"),
        ("its curve", "page", f"{it.long_page}series.json"),
        ("its rate", "page", f"{it.long_page}series.json?view=rate"),
        ("its days", "page", f"{it.long_page}series.json?view=days"),
        ("its chart as SVG", "page", f"{it.long_page}chart.svg"),
        ("its samples as a file", "file", f"{it.long_page}samples.csv"),
        (f"compare {LONG} of 10,000 samples", "page", f"/compare/?{it.compared}"),
        ("compare: curves", "page", f"/compare/series.json?{it.compared}"),
        ("compare: an author beside", "page", f"/compare/?{it.compared}&author=1"),
        ("compare: a source", "page", "/compare/?source=1"),
        ("compare: chart as SVG", "page", f"/compare/chart.svg?{it.compared}"),
        ("compare as a file", "file", f"/compare/values.csv?{it.compared}"),
    ]  # fmt: skip


def origins(it: World) -> Rows:
    """Authors, sources, sets, shares and imports."""
    return [
        ("author of most", "page", "/authors/1/"),
        ("author, polled", "poll", "/authors/1/?part=author"),
        ("author, further rows", "page", "/authors/1/?part=rows"),
        ("author as a file", "file", "/tweets/export.csv?author=1"),
        ("leaderboards", "page", "/leaderboards/"),
        ("leaderboards: hashtags", "page", "/leaderboards/?of=hashtag&period=30d"),
        ("leaderboards: within a source", "page", "/leaderboards/?within=source/1&period=24h"),
        ("leaderboard as a file", "file", "/leaderboards/leaderboard.csv"),
        ("compare sets", "page", "/compare/sets/?set=all/all&set=author/1"),
        ("compare sets: chart", "page", "/compare/sets/day.svg?set=all/all&set=author/1"),
        ("search", "page", "/search/?q=ada"), ("saved views", "page", "/tweets/views/"),
        ("shares", "page", "/shares/"),
        ("to share", "page", "/shares/new/?kind=set&of=author/1"),
        ("share, from a message", "page", f"/shares/{it.me.share.pk}/"),
        ("share, public", "page", it.me.share.address),
        ("share, embedded", "page", f"{it.me.share.address}embed/"),
        ("share, picture", "page", f"{it.me.share.address}total.svg"),
        ("set: all", "page", "/sets/all/all/?period=30d"),
        ("set: an author", "page", "/sets/author/1/?period=30d"),
        ("set: a source", "page", "/sets/source/1/?period=30d"),
        ("set: its days as SVG", "page", "/sets/source/1/total.svg?period=30d"),
        ("sources", "page", "/sources/"), ("sources, polled", "poll", "/sources/?part=list"),
        ("source of most", "page", "/sources/1/"),
        ("source, polled", "poll", "/sources/1/?part=detail"),
        ("source, its figures", "page", "/sources/1/?part=figures"),
        ("source, further rows", "page", "/sources/1/?part=rows"),
        ("source as a file", "file", "/sources/1/days.csv"),
        ("source, to be changed", "page", "/sources/1/edit/"),
        ("source, to be removed", "page", "/sources/1/remove/"),
        ("import", "page", f"/sources/import/{FIRST_IMPORT}/"),
        ("import, polled", "poll", f"/sources/import/{FIRST_IMPORT}/?part=report"),
        ("import: rejected lines", "file", f"/sources/import/{FIRST_IMPORT}/rejected.csv"),
        ("to import a file", "page", "/sources/import/"),
    ]  # fmt: skip


def operations(_: World) -> Rows:
    """What an operator looks at."""
    return [
        ("operations", "page", "/operations/"),
        ("operations, polled", "poll", "/operations/?part=figures"),
        ("operations over a day", "page", "/operations/?part=over-time&over=day"),
        ("operations over a month", "page", "/operations/?part=over-time&over=month"),
        ("operations: database", "page", "/operations/?part=database"),
        ("operations: days, polled", "poll", "/operations/?part=days"),
        ("operations as a file", "file", "/operations/queues.csv"),
        ("pause everything", "page", "/operations/pause/"),
    ]  # fmt: skip


def homes(it: World) -> Rows:
    """Homes, columns and feeds."""
    return [
        ("home", "page", "/home/"), ("home, polled", "poll", "/home/?part=now"),
        ("home, further rows", "page", f"/home/?part=rows&before={it.deep}"),
        ("following", "page", "/following/"),
        ("following as a file", "file", "/following/follows.csv"),
        ("home, what is new", "page", f"/home/?part=new&after={it.deep}"),
        ("columns", "page", "/columns/"), ("column", "page", f"/columns/{it.me.column}/"),
        ("column, polled", "poll", f"/columns/{it.me.column}/?part=now"),
        ("column, further rows", "page", f"/columns/{it.me.column}/?part=rows&before={it.deep}"),
        ("column, what is new", "page", f"/columns/{it.me.column}/?part=new&after={it.deep}"),
        ("feed of a home", "page", f"/feeds/{it.me.feed}/home.atom"),
        ("feed of a home, JSON", "page", f"/feeds/{it.me.feed}/home.json"),
        ("feed of a source", "page", f"/feeds/{it.me.feed}/sources/1.atom"),
        ("feed of a source, JSON", "page", f"/feeds/{it.me.feed}/sources/1.json"),
        ("feed of a view", "page", f"/feeds/{it.me.feed}/views/{it.me.view}.atom"),
        ("feed of a view, JSON", "page", f"/feeds/{it.me.feed}/views/{it.me.view}.json"),
        ("help: search", "page", "/help/?q=backup"),
        ("help: a document", "page", "/help/operations/"),
        ("live", "page", "/live/"), ("live, polled", "poll", "/live/?part=rows&after=0-0"),
    ]  # fmt: skip


def tellings(it: World) -> Rows:
    """Subscribers, alerts, and what is read by programs."""
    return [
        ("feeds", "page", "/feeds/"), ("subscribers", "page", "/subscribers/"),
        ("subscribers, polled", "poll", "/subscribers/?part=list"),
        ("subscriber", "page", f"/subscribers/{it.subscriber.pk}/"),
        ("subscriber, polled", "poll", f"/subscribers/{it.subscriber.pk}/?part=detail"),
        ("to add a subscriber", "page", "/subscribers/add/"),
        ("to change a subscriber", "page", f"/subscribers/{it.subscriber.pk}/edit/"),
        ("to repeat deliveries", "page", f"/subscribers/{it.subscriber.pk}/replay/"),
        ("paused, polled", "poll", "/operations/paused/"),
        ("cost of a source", "page", "/sources/?part=cost&kind=search&of=words"),
        ("import: warnings", "file", f"/sources/import/{FIRST_IMPORT}/warnings.csv"),
        ("alerts", "page", "/alerts/"), ("alerts, polled", "poll", "/alerts/?part=list"),
        ("alerts: what they told", "page", "/alerts/log/"),
        ("to add an alert", "page", "/alerts/add/"),
        ("channels", "page", "/alerts/channels/"),
        ("to add a channel", "page", "/alerts/channels/add/"),
        ("for a browser", "page", "/manifest.webmanifest"),
        ("for a browser: pushes", "page", "/push-worker.js"),
        ("account", "page", "/account/"), ("metrics", "api", "/metrics"),
    ]  # fmt: skip


def calls(it: World) -> Rows:
    """The API."""
    return [
        ("API: tweets", "api", "/api/v1/tweets"),
        ("API: of an author", "api", "/api/v1/tweets?author=1"),
        ("API: of a source", "api", "/api/v1/tweets?source=1&limit=200"),
        ("API: a word nobody wrote", "api", f"/api/v1/tweets?q={NOBODY}"),
        ("API: resting", "api", "/api/v1/tweets?state=resting"),
        ("API: tweet", "api", f"/api/v1/tweets/{it.long[0]}"),
        ("API: history, 1,000 of 10,000", "api", f"/api/v1/tweets/{it.long[0]}/history"),
        ("API: history by the hour", "api", f"/api/v1/tweets/{it.long[0]}/history?bucket=1h"),
        (f"API: compare {LONG}", "api", f"/api/v1/tweets/compare?ids={it.ids}"),
        ("API: leaderboard", "api", "/api/v1/leaderboards/tweets"),
        ("API: what is left", "api", "/api/v1/tweets/left"),
        ("API: sources", "api", "/api/v1/sources"), ("API: source", "api", "/api/v1/sources/1"),
        ("API: queues", "api", "/api/v1/queues"), ("API: workers", "api", "/api/v1/workers"),
        ("API: credentials", "api", "/api/v1/credentials"),
        ("API: budgets", "api", "/api/v1/budgets"),
        ("API: intervals", "api", "/api/v1/intervals"),
        ("API: subscribers", "api", "/api/v1/subscribers"),
        ("API: attempts", "api", f"/api/v1/subscribers/{it.subscriber.name}/attempts"),
        ("API: home", "api", "/api/v1/users/me/timeline"),
        ("API: timeline", "api", "/api/v1/timelines/screens"),
        ("API: timeline, since", "api", "/api/v1/timelines/screens/since/9000"),
        ("API: homes", "api", "/api/v1/users"),
        ("API: home, since", "api", f"/api/v1/users/me/since?tweet={it.deep}"),
        ("API: following", "api", "/api/v1/users/me/following"),
        ("API: following, counted", "api", "/api/v1/users/me/following_count"),
        ("API: followers of a source", "api", "/api/v1/sources/1/followers_count"),
        ("API: followers of an account", "api", "/api/v1/accounts/1/followers_count"),
        ("API: subscriber", "api", f"/api/v1/subscribers/{it.subscriber.name}"),
        ("API: list as a file", "file", "/api/v1/tweets/export?author=1"),
        ("API: tweets as a file", "file", "/api/v1/exports/tweets"),
        ("API: samples as a file", "file", "/api/v1/exports/samples"),
        ("API: six histories as a file", "file", f"/api/v1/exports/samples?ids={it.ids}"),
    ]  # fmt: skip


def of_the_admin(_: World) -> Rows:
    """The lists of the admin, whose modules a process loads when it first serves a page."""
    admin.autodiscover()
    return [
        *((f"admin: {one._meta.verbose_name_plural}", "admin",
           reverse(f"admin:{one._meta.app_label}_{one._meta.model_name}_changelist"))
          for one in admin.site._registry),
    ]  # fmt: skip


PARTS = (lists, one_tweet, origins, operations, homes, tellings, calls, of_the_admin)


def every(me: Entered) -> list[Address]:
    it = world(me)
    return [Address(*row) for part in PARTS for row in part(it)]


def main() -> None:
    me = enter()
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(me.user)
    cookie = settings.SESSION_COOKIE_NAME, browser.cookies[settings.SESSION_COOKIE_NAME].value
    print(json.dumps({"cookie": cookie, "token": me.token, "addresses": every(me)}))
