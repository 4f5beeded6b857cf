"""A rule, a tweet or a channel is muted: on its page, or by the link in a message."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.signing import Signer
from django.test import Client
from django.utils import timezone

from tests.alerts.conftest import rule, tweet
from tests.channels.sending import channel
from tests.pages.channels.db.test_channels import words
from trackers import roles
from trackers.alerts import notice
from trackers.alerts.models import AlertMail, AlertMute, AlertNotice
from trackers.alerts.mutes import prune_mutes
from trackers.alerts.velocity import tweet_finding
from trackers.channels.claim import claim_channels, settle
from trackers.channels.links import mute_key
from trackers.channels.models import Channel, ChannelMessage
from trackers.channels.shapes.shape import Reading
from trackers.outbox.findings import News

pytestmark = pytest.mark.django_db


@pytest.fixture
def fast():
    made = rule("velocity", name="Fast", metric="likes", at=5, to=["ada@here.example"])
    made.channels.add(channel("slack", "https://chat.example", "newsroom"))
    return made


def alert(fast, *tweets):
    news = [News(tweet_finding(fast, id, f"Tweet {id} gains."), "down") for id in tweets]
    return notice.add_notice(fast, news, now=timezone.now())


def link():
    """That of the message that is sent next, as the service gets it."""
    [claimed] = claim_channels(1, timedelta(minutes=1), public_url="https://watch.example")
    settle(claimed, Reading())
    return re.search(rb"https://watch\.example(/alerts/mute/[^|]+/)\|Mute", claimed.call.body)[
        1
    ].decode()


def sent():
    """E-mails, and messages that wait or were sent."""
    return AlertMail.objects.count(), ChannelMessage.objects.exclude(state="given_up").count()


def test_a_muted_rule_sends_nothing_and_is_logged(staff, fast):
    page = words(staff.post(f"/alerts/{fast.pk}/mute-hour", follow=True))
    assert "Fast: muted for 1 hour" in page
    assert "Muted: nobody is sent what it raises." in page

    made = alert(fast, 20)

    assert sent() == (0, 0)
    assert "muted" in words(staff.get("/alerts/log/"))
    assert made.lines[0]["muted"]
    assert LogEntry.objects.get().change_message == "Muted for 1 hour, on a page."

    staff.post(f"/alerts/{fast.pk}/unmute")
    alert(fast, 21)
    assert sent() == (1, 1)


def test_a_mute_ends_by_itself(staff, fast):
    staff.post(f"/alerts/{fast.pk}/mute-day")
    AlertMute.objects.update(until=timezone.now() - timedelta(seconds=1))

    alert(fast, 20)

    assert sent() == (1, 1)
    prune_mutes(now=timezone.now())
    assert not AlertMute.objects.exists()


def test_of_a_muted_tweet_nothing_is_sent_and_of_others_all(staff, fast):
    AlertMute.objects.create(tweet=20, until=timezone.now() + timedelta(hours=1))

    alert(fast, 20, 21)

    [message] = ChannelMessage.objects.all()
    assert [line["url"] for line in message.lines] == ["/tweets/21/"]
    assert message.title == "Fast"
    alert(fast, 20)
    assert sent() == (1, 1)


def test_the_page_of_alerts_lists_what_is_muted_and_ends_it(staff, fast):
    tweet(20)
    mutes = [
        AlertMute.objects.create(until=timezone.now() + timedelta(hours=hours), **what)
        for hours, what in ((1, {"rule": fast}), (2, {"tweet": 20}), (-1, {"tweet": 21}))
    ]

    page = words(staff.get("/alerts/"))

    assert "The rule Fast ends in" in page
    assert "Tweet 20" in page
    assert "Tweet 21" not in page
    viewer = User.objects.create_user("eve")
    viewer.groups.add(Group.objects.get(name=roles.VIEWER))
    client = Client()
    client.force_login(viewer)
    assert client.post(f"/alerts/muted/{mutes[1].pk}/end").status_code == 403
    seen = client.get("/alerts/").content.decode()
    assert "Tweet 20" in seen
    assert "end-mute" not in seen

    for mute, what in zip(mutes[:2], ("Fast", "Tweet 20"), strict=True):
        reply = staff.post(f"/alerts/muted/{mute.pk}/end", follow=True)
        assert f"{what}: no longer muted." in words(reply)

    assert list(AlertMute.objects.all()) == [mutes[2]]
    assert staff.post(f"/alerts/muted/{mutes[0].pk}/end").status_code == 404
    ended = LogEntry.objects.values_list("change_message", flat=True)
    assert set(ended) == {"Ended the mute, on a page.", "Ended the mute in alerts, on a page."}
    alert(fast, 20)
    assert sent() == (1, 1)


def test_the_link_asks_a_person_who_may_change_rules_and_then_mutes(staff, fast):
    tweet(20)
    alert(fast, 20)
    address = link()

    asks = words(staff.get(address))
    assert "Mute what?" in asks
    assert "The rule Fast for an hour" in asks
    assert "Tweet 20 for a day" in asks
    assert not AlertMute.objects.exists()

    assert "Tweet 20: muted for 24 hours." in words(staff.post(address, {"mute": "tweet-20-24"}))
    assert AlertMute.objects.get().tweet == 20
    staff.post(address, {"mute": f"rule-{fast.pk}-1"})
    assert AlertMute.objects.filter(rule=fast).exists()


@pytest.mark.parametrize("is_viewer", [False, True])
def test_anybody_with_the_link_mutes_that_channel_alone(client, fast, is_viewer):
    if is_viewer:
        viewer = User.objects.create_user("eve")
        viewer.groups.add(Group.objects.get(name=roles.VIEWER))
        client.force_login(viewer)
    alert(fast, 20)
    address = link()

    asks = words(client.get(address))
    assert "The channel newsroom for an hour" in asks
    assert "The rule" not in asks
    client.post(address, {"mute": f"rule-{fast.pk}-1"})
    assert not AlertMute.objects.exists()

    done = words(client.post(address, {"mute": "channel"}))

    assert "newsroom: muted for an hour." in done
    until = Channel.objects.get().muted_until - timezone.now()
    assert timedelta(minutes=59) < until <= timedelta(hours=1)
    entry = LogEntry.objects.get()
    assert entry.change_message == "Muted for an hour, by a link in the channel newsroom."
    alert(fast, 21)
    assert AlertMail.objects.count() == 2
    assert ChannelMessage.objects.filter(state="given_up").count() == 1


def test_a_storm_s_link_offers_each_rule_of_it(staff, fast):
    other = rule("milestone", name="Many", metric="likes", at=5)
    other.channels.add(Channel.objects.get())
    alert(fast, 20)
    alert(other, 21)

    asks = words(staff.get(link()))

    assert "The rule Fast for an hour" in asks
    assert "The rule Many for an hour" in asks


@pytest.mark.parametrize(
    "forge", [lambda _: "1", lambda id: f"{id}:x", lambda id: Signer().sign(id)]
)
def test_a_forged_link_mutes_nothing(client, fast, forge):
    alert(fast, 20)

    reply = client.post(
        f"/alerts/mute/{forge(ChannelMessage.objects.get().pk)}/", {"mute": "channel"}
    )

    assert reply.status_code == 404
    assert "older than a week" in words(reply)
    assert Channel.objects.get().muted_until is None


def test_an_old_link_is_over(client, fast):
    alert(fast, 20)
    message = ChannelMessage.objects.get()
    ChannelMessage.objects.update(made_at=timezone.now() - timedelta(days=8))

    assert client.get(f"/alerts/mute/{mute_key(message.pk)}/").status_code == 404


def test_an_operator_ends_the_mute_of_a_channel(staff, fast):
    made = Channel.objects.get()
    staff.post(f"/alerts/channels/{made.pk}/mute")
    assert "muted" in words(staff.get(f"/alerts/channels/{made.pk}/"))

    staff.post(f"/alerts/channels/{made.pk}/unmute")

    assert Channel.objects.get().muted_until is None
    assert not AlertNotice.objects.exists()
