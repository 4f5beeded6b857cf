"""Every page and the admin: axe finds nothing that shuts out whoever uses no mouse or no screen,
and nothing sticks out of its box."""

from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group, User

from tests.alerts.conftest import rule
from tests.channels.sending import channel
from tests.factories import CredentialFactory
from tests.pages.conftest import measure, watched
from tests.pages.home.homes import bring, tweet
from tests.pages.layout import crowded, spills
from tests.pages.looking import looking
from tests.pages.sources import gap, source
from tests.pico.trim import left_out, without_states
from trackers.alerts import notice
from trackers.alerts.velocity import tweet_finding
from trackers.channels.links import mute_key
from trackers.channels.models import ChannelMessage
from trackers.dashboards.models import Column
from trackers.events.subscribers.acts import add
from trackers.events.subscribers.terms import Terms
from trackers.forecasts.models import ForecastDay
from trackers.history import by_command, on_page
from trackers.ingest.sources.models import SourceDay
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import NotedTask, QueueMinute
from trackers.money.models import Spending
from trackers.notes import acts as notes
from trackers.outbox.findings import News
from trackers.saved_views.models import SavedView
from trackers.schedule import bulk
from trackers.schedule.models import Interval, Stretch, StretchMinute
from trackers.tweets.models import Tweet
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEFT_OUT = sorted({without_states(one) for one in left_out()})
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 844}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # Of what passes axe would tell every node, too.
    "resultTypes": ["violations"],
}
# The label of Django's own search field in the admin is a picture.
PICTURE = {"rules": {"label-title-only": {"enabled": False}}}
ADMIN = [
    "/admin/", "/admin/trackers/source/", "/admin/trackers/interval/",
    "/admin/trackers/credential/", "/admin/trackers/credential/add/",
    "/admin/trackers/credential/sign-in/", "/admin/trackers/follower/",
    "/admin/trackers/alertrule/add/",
    "/admin/trackers/queue/", "/admin/trackers/tag/", "/admin/trackers/project/",
    "/admin/auth/user/",
]  # fmt: skip


def filled(user):
    """Rows of every kind; the pages that show them."""
    grown = [watched(), watched(2)]
    for one in grown:
        measure(one, 0, likes=1)
    there = source("account", "nasa", due_in=60, yielded=3)
    gap(there)
    source("stream", "#live")
    Stream.objects.create(name="stream")
    bring(there.pk, tweet(1))
    Column.objects.create(user=user, position=1, source=there)
    Column.objects.create(user=user, position=2)
    for name in ("Launch", "Berlin"):
        SavedView.objects.create(user=user, name=name, query="sort=likes")
    desk = Group.objects.create(name="Desk")
    user.groups.add(desk)
    eve = User.objects.create_user("eve")
    moon = SavedView.objects.create(user=eve, name="Moon", query="sort=likes", team=desk)
    Column.objects.create(user=user, position=3, view=moon)
    Column.objects.create(user=user, position=4, view_id=4711)
    payer = CredentialFactory().app.project
    payer.money_a_day = 25
    payer.save()
    Spending.objects.create(project=payer, day=datetime.now(UTC).date(), posts=9, users=12)
    figures = {"due": 3, "oldest_due_seconds": 1.5, "in_flight": 1, "measured": 100, "failed": 0}
    minute = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=2)
    QueueMinute.objects.create(queue="tweet:update", minute=minute, **figures)
    Interval.objects.update(
        accuracy=0.05, at_most=timedelta(seconds=9), at_least=timedelta(minutes=9)
    )
    Stretch.objects.create(pk=Stretch.ONLY, windows=1.4, money=2.0, taken_at=minute)
    StretchMinute.objects.create(minute=minute, windows=1.4, money=2.0)
    ForecastDay.objects.create(day=minute.date(), lookups=3, tweet_days=2, why="Nobody knows.")
    noted = {"took": timedelta(seconds=11), "host": "h", "pid": 1, "reason": "X answered 503"}
    NotedTask.objects.create(name="a", failed=True, **noted)
    SourceDay.objects.create(source=there, day=minute.date(), posts=3, billed=3)
    Queue.objects.filter(name="source:poll").update(paused=True)
    shop, _ = add(
        "shop", Terms({"callback": "https://shop.example/in"}, topics=["tweets"]), by_command()
    )
    seen = watched(1)
    velocity_rule = rule("velocity", metric="likes", at=10, to=["ada@here.example"])
    velocity_rule.channels.add(channel("slack", "https://chat.example", "newsroom"))
    notice.add_notice(
        velocity_rule,
        [News(tweet_finding(velocity_rule, seen.pk, "It grows."), "down")],
        # After the account was made, so that the menu says that it is unread.
        now=datetime.now(UTC),
    )
    tagging.tag_tweets(get_or_create_tag("launch").pk, [seen.pk, grown[0].pk])
    many = bulk.begin_act(
        "tag", Tweet.objects.values_list("pk"), by="ada", tag=get_or_create_tag("launch").pk
    )
    for kind, key in (("tweet", seen.pk), ("source", there.pk), ("day", "2026-03-14")):
        notes.add(kind, str(key), "On the evening news.", on_page(user))
    return pages_of(
        grown=grown,
        seen=seen,
        many=many,
        there=there,
        rule=velocity_rule,
        subscriber=shop,
        message=ChannelMessage.objects.get(),
    )


def pages_of(*, grown, seen, many, there, rule, subscriber, message):
    compared = ",".join(str(one.pk) for one in grown)
    return [
        "/", "/?kiosk=1", "/fastest/", "/tweets/", "/tweets/?columns=tags,likes", "/tweets/views/",
        f"/tweets/many/?ids={grown[0].pk}", f"/tweets/many/{many.pk}/",
        "/tweets/?sort=likes&author=ada", f"/tweets/{seen.pk}/", "/home/", "/columns/", "/live/",
        "/help/?q=backup", "/search/?q=ada", "/help/operations/", "/help/api/", "/notes/",
        "/happenings/",
        f"/tweets/{grown[0].pk}/?view=days", f"/compare/?ids={compared},1&author=7",
        "/following/?who=sources",
        "/feeds/", "/sources/", f"/sources/{there.pk}/", f"/sources/{there.pk}/edit/",
        f"/sources/{there.pk}/remove/",
        "/sources/import/",
        "/operations/", "/operations/?tab=workers", "/operations/?tab=queues",
        "/operations/?tab=database", "/operations/pause/", "/authors/7/",
        "/leaderboards/",
        "/sets/all/all/?period=30d", "/sets/author/7/?metric=likes", "/sets/hashtag/none/",
        "/compare/sets/?set=author/7&set=all/all&period=30d",
        "/alerts/", "/alerts/add/", "/alerts/add/?kind=velocity",
        "/alerts/channels/", f"/alerts/channels/{message.channel_id}/",
        "/alerts/channels/add/", "/alerts/channels/add/?kind=telegram",
        f"/alerts/mute/{mute_key(message.pk)}/",
        f"/alerts/{rule.pk}/", "/alerts/log/",
        "/subscribers/", f"/subscribers/{subscriber.pk}/", "/subscribers/add/", "/account/",
        "/account/password/",
    ]  # fmt: skip


def faults(page, address, *, within="html"):
    """What axe says, as rule and place, of the whole page or of a part."""
    if page.evaluate("!window.axe"):
        page.evaluate(Axe().axe_script)
    rules = {**RULES, **(PICTURE if address.startswith("/admin/") else {})}
    found = page.evaluate("asked => axe.run(...asked)", [within, rules])["violations"]
    return [
        f"{address}: {one['id']} at {node['target']}: {node['html'][:120]}"
        for one in found
        for node in one["nodes"]
    ]


def unstyled(page, address):
    """What the page has of that for which Pico's rules were left out."""
    asked = "all => all.filter(one => document.querySelector(one))"
    return [f"{address}: no rule for {one}" for one in page.evaluate(asked, LEFT_OUT)]


def test_axe_finds_no_violation_and_no_page_overflows(staff, live_server, django_user_model):
    pages = filled(django_user_model.objects.get())
    collected = []

    with looking(staff, live_server, viewport=PHONE) as seen:
        for address in [*pages, *ADMIN]:
            seen.page.goto(f"{seen.address}{address}")
            if not address.startswith("/admin/"):
                collected += unstyled(seen.page, address)
            ours = len(seen.faults)
            look = crowded if address.startswith("/admin/") else spills
            collected += look(seen.page, address)
            collected += faults(seen.page, address)
            seen.page.set_viewport_size(DESK)
            collected += look(seen.page, address)
            collected += faults(seen.page, address)
            seen.page.set_viewport_size(PHONE)
            # axe looks for styles in ways that the pages' policy refuses.
            del seen.faults[ours:]
        assert collected == [], "\n".join(collected)


def test_without_scripts_no_dead_control_is_shown(staff, live_server, django_user_model):
    """What is no link does something as part of a form alone; and nothing is left empty."""
    pages = filled(django_user_model.objects.get())

    with looking(staff, live_server, java_script_enabled=False) as seen:
        for address in pages:
            seen.page.goto(f"{seen.address}{address}")
            buttons = seen.page.locator("button:visible, select:visible, input:visible")
            outside = [
                one.get_attribute("class")
                for one in buttons.all()
                if not one.locator("xpath=ancestor::form").count()
            ]
            assert outside == [], address
            for empty in ("#chart", "[data-live]"):
                assert seen.page.locator(f"{empty}:visible").count() == 0, (address, empty)
