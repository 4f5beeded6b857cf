"""What waits for channels is sent: once, again, later, by whoever is there."""

import logging
import time
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from tests.channels.sending import (
    OWN_SHAPES,
    PUBLIC_URL,
    channel,
    due,
    line,
    sending,
    serving,
    tell,
    until,
)
from tests.events.delivering import process
from tests.events.receivers import Receiver, answers, hangs
from trackers.channels.claim import give_up_old
from trackers.channels.models import Channel, ChannelMessage
from trackers.events.delivery.egress import Egress
from trackers.management.fake_services import ServiceReply, Services

pytestmark = pytest.mark.django_db(transaction=True)
State = ChannelMessage.State


def states():
    return list(ChannelMessage.objects.order_by("pk").values_list("state", flat=True))


def all_sent():
    return set(states()) == {"sent"}


def has_failed(count=1):
    return Channel.objects.filter(failing_since__isnull=False, claim=None).count() >= count


def test_channels_of_all_kinds_get_the_message():
    with serving() as (services, base), sending():
        tell(*(channel(kind, base) for kind in OWN_SHAPES))
        until(all_sent)

    assert {one.service for one in services.arrived} == set(OWN_SHAPES)
    assert not Channel.objects.exclude(failing_since=None, reason="", claim=None).exists()


def test_a_storm_is_one_message_and_no_rule_hides_another():
    with serving() as (services, base):
        chat = channel("slack", base)
        for n in range(40):
            tell(chat, lines=[line(f"loud {n}", "Loud")], title="Loud")
        tell(chat, lines=[line("quiet", "Quiet")], title="Quiet")
        with sending():
            until(all_sent)

    [arrived] = services.arrived
    assert "41 alerts" in arrived.text
    assert "And 31 more" in arrived.text


def test_a_backlog_of_hours_is_one_message_that_counts_all():
    with serving() as (services, base):
        chat = channel("discord", base)
        for n in range(130):
            tell(chat, lines=[line(f"n{n}")], more=1)
        with sending():
            until(all_sent)

    [arrived] = services.arrived
    assert "260 alerts" in arrived.text


def test_the_pace_of_a_service_is_kept():
    """A strict Slack: a second message within a second would be refused."""
    with serving(Services()) as (services, base):
        chat = channel("slack", base)
        with sending():
            for count in (1, 2, 3):
                tell(chat)
                until(lambda count=count: len(services.arrived) == count)

        times = services.requests["slack"]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert min(gaps) >= 1.0
        assert len(times) == 3


def test_a_retry_after_is_held_and_is_no_failure():
    with serving() as (services, base):
        chat = channel("telegram", base)
        services.refusals["telegram"] = ServiceReply(
            429, {"ok": False, "description": "Too Many", "parameters": {"retry_after": 3600}}
        )
        tell(chat)
        with sending():
            until(lambda: ChannelMessage.objects.exclude(error="").exists())
            until(lambda: Channel.objects.filter(claim=None).exists())

    chat.refresh_from_db()
    assert chat.next_at > timezone.now() + timedelta(minutes=59)
    assert chat.failing_since is None
    assert chat.attempts == 0


def test_a_refusal_is_tried_again_and_shown_and_ends():
    with serving() as (services, base):
        chat = channel("slack", base)
        services.refusals["slack"] = ServiceReply(403, "invalid_token")
        [message] = tell(chat)
        with sending():
            until(has_failed)
            message.refresh_from_db()
            chat.refresh_from_db()
            assert "invalid_token. Create a new webhook" in message.error
            assert chat.reason == message.error
            assert timezone.now() < chat.next_at < timezone.now() + timedelta(minutes=2)

            services.refusals.clear()
            due()
            until(all_sent)

    chat.refresh_from_db()
    assert (chat.failing_since, chat.reason, chat.attempts) == (None, "", 0)


def test_a_webhook_that_is_gone_is_not_tried_again():
    with serving() as (services, base):
        chat = channel("discord", base)
        services.refusals["discord"] = ServiceReply(404, {"message": "Unknown Webhook"})
        tell(chat)
        with sending():
            until(lambda: Channel.objects.filter(stopped_at__isnull=False).exists())
            due()
            time.sleep(2.5)

        assert len(services.requests["discord"]) == 1
    chat.refresh_from_db()
    assert "Unknown Webhook" in chat.reason


def test_a_message_that_waited_for_a_day_is_given_up():
    tell(channel("slack", "http://127.0.0.1:9"))
    ChannelMessage.objects.update(made_at=F("made_at") - timedelta(days=1), error="It refuses.")
    tell(Channel.objects.get())

    assert give_up_old() == 1

    old, new = ChannelMessage.objects.order_by("pk")
    assert (old.state, old.error) == (State.GIVEN_UP, "Given up after a day. It refuses.")
    assert new.state == State.WAITING


def test_a_muted_channel_gets_no_message_and_the_log_says_so():
    chat = channel("slack", "http://127.0.0.1:9", muted_until=timezone.now() + timedelta(hours=1))

    [message] = tell(chat)

    assert message.state == State.GIVEN_UP
    assert "muted" in message.error


def test_a_channel_that_hangs_delays_no_other():
    silent = Receiver(hangs)
    with serving() as (services, base):
        parts = {"url": f"http://127.0.0.1:{silent.port}/services/secret"}
        for n in range(5):
            channel("slack", base, f"silent {n}")
        Channel.objects.update(address=parts)
        tell(*Channel.objects.all())
        with sending(total=3):
            until(lambda: silent.connections == 5)
            began = time.monotonic()
            tell(channel("ntfy", base))
            until(lambda: services.arrived)
            assert time.monotonic() - began < 3
            until(lambda: has_failed(5))
    silent.close()


def test_a_channel_whose_secret_cannot_be_read_delays_no_other(settings):
    with serving() as (services, base):
        broken = channel("slack", base, "broken")
        key = settings.FIELD_KEYS
        settings.FIELD_KEYS = ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="]
        tell(broken, channel("ntfy", base))
        with sending():
            until(lambda: services.arrived)
            until(has_failed)
        settings.FIELD_KEYS = key

    broken.refresh_from_db()
    assert "cannot be decrypted" in broken.reason


def test_the_guard_refuses_a_private_address_while_others_are_asked():
    """The guard is in what sends: a look-up on loopback by the same process goes on."""
    import requests

    with serving() as (services, base), sending(egress=Egress((), plain_http=True)):
        tell(channel("slack", base))
        assert requests.get(base, timeout=5).status_code == 200
        until(has_failed)

    assert not services.requests
    assert "not a public address" in Channel.objects.get().reason


def test_a_process_killed_between_sending_and_settling_sends_again():
    """At least once."""
    receiver = Receiver(hangs)
    chat = channel("slack", f"http://127.0.0.1:{receiver.port}")
    [message] = tell(chat)
    with process(PUBLIC_URL=PUBLIC_URL) as running:
        until(lambda: receiver.got, 60)
        running.kill()
        running.wait()
    message.refresh_from_db()
    assert message.state == State.WAITING
    chat.refresh_from_db()
    assert chat.next_at > timezone.now()

    receiver.manner = answers(body=b"ok")
    tell(chat)
    due()
    with sending():
        until(lambda: ChannelMessage.objects.filter(state=State.SENT).count() == 1)
        first, again = receiver.got[:2]
        # As it was, so that who knows its key shows it once.
        assert first.body == again.body
        until(all_sent)
    receiver.close()


def test_two_processes_share_the_channels():
    with serving() as (services, base):
        for n in range(20):
            channel("slack", base, f"c{n}")
        with sending(), sending(), sending():
            for _ in range(3):
                tell(*Channel.objects.all())
                until(all_sent)
                Channel.objects.update(next_at=Now())

    assert len(services.arrived) == 60


@pytest.mark.parametrize("kind", OWN_SHAPES)
def test_no_log_has_a_secret(kind, caplog):
    caplog.set_level(logging.DEBUG)
    with serving() as (services, base):
        chat = channel(kind, base)
        parts = dict(chat.address)
        services.refusals[kind] = ServiceReply(500, "sorry")
        tell(chat)
        with sending():
            until(has_failed)
            services.refusals.clear()
            due()
            until(all_sent)

    secrets = [
        parts[part.name] for part in OWN_SHAPES[kind].parts if part.is_secret if part.name in parts
    ]
    assert secrets
    texts = (
        caplog.text
        + repr(chat)
        + repr(chat.__dict__)
        + "".join(
            f"{row.__dict__}" for row in [*Channel.objects.all(), *ChannelMessage.objects.all()]
        )
    )
    assert not any(secret in texts for secret in secrets)
