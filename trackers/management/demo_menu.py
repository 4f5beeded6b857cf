"""Something to look at under every item of the demo's menu: follows, columns, tags, notes, saved
views, a team, channels, rules that fire within minutes, an import with rejected lines, and a
subscriber.

Everything is done by the acts that a person does on the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from django.contrib.auth.models import Group, User
from django.utils import timezone

from trackers.alerts import acts as alerts
from trackers.alerts.forms import RuleForm
from trackers.alerts.kinds import RuleKind
from trackers.channels import acts as channels
from trackers.channels.shapes import SHAPES
from trackers.dashboards.models import Column
from trackers.events.subscribers import acts as subscribers
from trackers.events.subscribers.terms import Terms
from trackers.history import Actor, on_page
from trackers.ingest.files import acts as files
from trackers.ingest.files.limits import NO_LIMITS
from trackers.ingest.sources.models import Source
from trackers.management.fake_services import addresses
from trackers.notes import acts as notes
from trackers.notes.models import Note
from trackers.saved_views.models import SavedView
from trackers.timelines import acts as timelines
from trackers.timelines.followers import own
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

_TAGGED = 40
_BAD_LINES = ("hello, world", "1294030472427830000000000", "https://example.org/not-a-tweet")
_RULES: tuple[dict[str, object], ...] = (
    {"kind": RuleKind.VELOCITY, "name": "Takes off", "metric": "likes", "minutes": 60, "at": 100},
    {"kind": RuleKind.MILESTONE, "name": "1,000 likes", "metric": "likes", "at": 1000},
)


def fill_menu(
    user: User, tweets: Sequence[int], new_tweets: Sequence[int], callback: str, chats: str
) -> None:
    """`new_tweets`: some that are not tracked yet, for the import. `chats`: fake services."""
    actor = on_page(user)
    follower = own(user)
    sources = list(Source.objects.order_by("pk"))
    Column.objects.create(user=user, position=1)
    for position, source in enumerate(sources, start=2):
        timelines.follow(follower, source, actor)
        Column.objects.create(user=user, position=position, source=source)
    tag_tweets(get_or_create_tag("to watch").pk, tweets[:_TAGGED])
    SavedView.objects.create(user=user, name="Most liked", query="sort=likes")
    team = Group.objects.create(name="Newsdesk")
    user.groups.add(team)
    shared = SavedView.objects.create(
        user=user, team=team, name="Stands out today", query="sort=score&age=24h"
    )
    Column.objects.create(user=user, position=len(sources) + 2, view=shared)
    for kind, key, text in (
        (
            Note.Kind.TWEET,
            str(tweets[0]),
            "Shared by the account of the city.",
        ),
        (Note.Kind.SOURCE, str(sources[0].pk), "The account changed hands this week."),
        (Note.Kind.DAY, timezone.localdate().isoformat(), "Public holiday."),
    ):
        notes.add(kind, key, text, actor)
    made = [
        channels.add(kind, f"{SHAPES[kind].label} (fake)", address, actor).pk
        for kind, address in addresses(chats).items()
    ]
    for fields in _RULES:
        _add_rule({**fields, "channels": made}, actor)
    _import_file(new_tweets, actor)
    terms = Terms({"callback": callback}, topics=["tweets", "milestones", "alerts"])
    subscribers.add("newsdesk", terms, actor)


def _add_rule(fields: dict[str, object], actor: Actor) -> None:
    form = RuleForm({**fields, "about": "any", "by_event": True, "enabled": True})
    if not form.is_valid():
        raise ValueError(f"the demo's rule {fields['name']}: {form.errors.as_text()}")
    alerts.save(form, actor)


def _import_file(tweets: Sequence[int], actor: Actor) -> None:
    text = "\n".join([*map(str, tweets), *_BAD_LINES]).encode()
    report = files.store(BytesIO(text), actor, name="launch.txt", size=len(text), limits=NO_LIMITS)
    files.start(report, actor, column=None, referenced=False)
