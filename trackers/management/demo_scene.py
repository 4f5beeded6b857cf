"""What the demo has to show: two projects, three sources, and tweets that have a history.

The tweets' past is worked out (`demo_past`). All else happens by itself: the stream notices that it
was away for half an hour, and a search fills the gap; an overlap finds what a leaky
account showed too late; one of the two projects uses up its small budget.
"""

from __future__ import annotations

import json
import secrets
import urllib.request
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from fakex.world.clock import Clock
from fakex.world.ids import Ids
from fakex.world.seeded import Nature, World
from trackers.credentials.models import Credential
from trackers.ingest.files.track_lines import track_lines
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.ingest.stream.models import Stream
from trackers.management.demo_history import record_past_week
from trackers.management.demo_menu import fill_menu
from trackers.money.models import App, Project
from trackers.schedule import intervals

# Few, so that enough posts of each say what is usual, and what stands out.
_AUTHORS = 100
_TAG = "launch"
_STREAM_MISSED = timedelta(minutes=30)
_DAILY_BUDGET = 600
# Tweets that are not tracked by the demo itself, but brought by an import.
_IN_A_FILE = 20
# Of the leaky account: one post in four appears 10 to 30 seconds late.
_LAG = {"late_share": 0.25, "late_ms": [10_000, 30_000], "very_late_share": 0}
# So that the first overlap, which finds them, comes within minutes.
# Its subscriber is on this machine, as are those that a person tries.
SETTINGS = {
    "OVERLAP_EVERY": "60",
    "EGRESS_ALLOW": "127.0.0.0/8,::1/128",
    "EGRESS_PLAIN_HTTP": "true",
}


def world_of(options: dict[str, Any], *, start_ms: int) -> World:
    """The world of a fake X that is started with these options."""
    seed = options["seed"]
    return World(
        seed=seed,
        ids=Ids(seed=seed, tweets=options["tweets"], start_ms=start_ms),
        clock=Clock(start_ms=start_ms, speed=options["clock_speed"]),
        nature=Nature(authors=_AUTHORS),
    )


def prepare_scene(fake: str, world: World, *, callback: str, chats: str) -> str:
    """Fill the empty database; return its admin's password. `fake` is the address of `world`, and
    `callback` that of a subscriber, and `chats` that of fake services."""
    _control(fake, "PUT", "world", {"authors": _AUTHORS})
    password = secrets.token_urlsafe(9)
    user = User.objects.create_superuser("admin", "", password)
    _add_credential("demo")
    _add_credential("newsroom")
    Project.objects.filter(name="newsroom").update(posts_a_day=_DAILY_BUDGET)
    now = timezone.now()
    ids = list(world.ids.between(0, world.ids.tweets))
    ids, of_a_file = ids[:-_IN_A_FILE], ids[-_IN_A_FILE:]
    track_lines(map(str, ids), came_from="the demo")
    record_past_week(world, ids, intervals.current()[1], now=now)
    _listen(fake)
    _poll_leaky_account(fake, world)
    fill_menu(user, ids, of_a_file, callback, chats)
    return password


def _add_credential(name: str) -> None:
    Credential.objects.create(
        name=name,
        kind=Credential.Kind.BEARER,
        app=App.objects.named(name),
        secrets={"bearer_token": secrets.token_urlsafe(40)},
    )


def _listen(fake: str) -> None:
    """To a tag that somebody posts every few seconds; the last half hour of it was missed."""
    _let_posts_appear(
        fake,
        {
            "rate": 0.3,
            "authors": 20,
            "tags": [_TAG],
            "tagged": 0.5,
            "starts_in_s": -_STREAM_MISSED.total_seconds(),
        },
    )
    Stream.objects.update_or_create(defaults={"stored_until": timezone.now() - _STREAM_MISSED})
    life.add_source(Source(kind=Source.Kind.STREAM, of=f"#{_TAG}", owner="demo"))


def _poll_leaky_account(fake: str, world: World) -> None:
    author = next(author for author in reversed(world.people) if not author.troubled)
    _let_posts_appear(fake, {"rate": 0.2, "authors": [str(author.id)], "lag": _LAG})
    life.add_source(
        Source(
            kind=Source.Kind.ACCOUNT,
            of=author.username,
            owner="newsroom",
            every=timedelta(seconds=20),
        )
    )


def _let_posts_appear(fake: str, flow: dict[str, Any]) -> None:
    _control(fake, "POST", "posts", flow)


def _control(fake: str, method: str, path: str, body: dict[str, Any]) -> None:
    request = urllib.request.Request(  # noqa: S310 - our own fake
        f"{fake}/_fake/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310
        return
