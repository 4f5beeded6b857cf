"""A person adds a channel, sends a test, changes and removes it; programs do the same."""

import html
import io
import json
import re
import sys
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from tests.alerts.conftest import rule
from tests.api.conftest import Program
from tests.channels.sending import OWN_SHAPES, channel, line, tell
from trackers import roles
from trackers.channels import acts
from trackers.channels.models import Channel, ChannelMessage
from trackers.management.fake_services import addresses

BASE = "https://chat.example"
ADD = "/alerts/channels/add/"


@pytest.fixture(autouse=True)
def _no_wait(monkeypatch):
    """Nobody sends here."""
    monkeypatch.setattr(acts, "ANSWER_WITHIN", timedelta(0))


def words(reply):
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", reply.content.decode(), flags=re.S)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", text).split()))


def secrets_of(kind):
    parts = addresses(BASE)[kind]
    return [
        parts[part.name] for part in OWN_SHAPES[kind].parts if part.is_secret and part.name in parts
    ]


def test_without_channels_the_page_says_what_one_is(staff):
    page = words(staff.get("/alerts/channels/"))

    assert "No channels yet" in page
    assert "Add one" in page


@pytest.mark.parametrize("kind", OWN_SHAPES)
def test_a_channel_of_each_kind_is_added_and_its_secrets_are_on_no_page(staff, kind, caplog):
    form = words(staff.get(f"{ADD}?kind={kind}"))
    for part in OWN_SHAPES[kind].parts:
        assert part.label in form
        assert part.help in form

    reply = staff.post(f"{ADD}?kind={kind}", {"name": "ops", **addresses(BASE)[kind]}, follow=True)

    made = Channel.objects.get()
    assert dict(made.address) == addresses(BASE)[kind]
    assert made.made_by.username == "ada"
    assert "ops: added. Send a test" in words(reply)
    assert LogEntry.objects.get().change_message == "Added, on a page."
    pages = [reply, staff.get("/alerts/channels/"), staff.get(f"/alerts/channels/{made.pk}/")]
    pages += [staff.get(f"/alerts/channels/{made.pk}/edit/"), staff.get("/alerts/log/")]
    # Another field is wrong.
    pages.append(staff.post(f"{ADD}?kind={kind}", {"name": "ops", **addresses(BASE)[kind]}))
    for page in pages:
        assert not any(secret in page.content.decode() for secret in secrets_of(kind))
    assert "already exists" in words(pages[-1])
    assert "Enter the hidden fields again" in words(pages[-1])
    assert not any(secret in caplog.text for secret in secrets_of(kind))


def test_without_apprise_the_form_says_what_to_install(staff, monkeypatch):
    monkeypatch.setitem(sys.modules, "apprise", None)
    page = words(staff.get(f"{ADD}?kind=apprise"))
    assert "zulip" in page

    reply = staff.post(
        f"{ADD}?kind=apprise", {"name": "phones", "url": "pover://planted@planted-token"}
    )

    assert reply.status_code == 400
    assert "pip install -r requirements-channels.txt" in words(reply)
    assert "pover://planted@planted-token" not in reply.content.decode()
    assert not Channel.objects.exists()


def test_each_wrong_part_of_an_address_has_its_fault(staff):
    wrong = {"name": "ops", "token": "not a token", "chat": "x", "server": "http://chat.example"}

    reply = staff.post(f"{ADD}?kind=telegram", wrong)

    assert reply.status_code == 400
    page = words(reply)
    assert "A bot token is a number, a colon, and letters" in page
    assert "A chat id is a number, or @ and a name." in page
    assert "does not start with https://" in page
    assert "not a token" not in page
    assert not Channel.objects.exists()


def test_a_change_keeps_the_secrets_that_were_left_empty(staff):
    made = channel("matrix", BASE)
    fields = {"name": "room", "server": "https://other.example", "room": "!new:other", "token": ""}

    staff.post(f"/alerts/channels/{made.pk}/edit/", fields)

    made.refresh_from_db()
    assert made.name == "room"
    assert made.place == "!new:other at other.example"
    assert made.address["token"] == addresses(BASE)["matrix"]["token"]


def test_a_new_address_is_tried_at_once(staff):
    made = channel("slack", BASE, stopped_at=timezone.now(), failing_since=timezone.now(),
                   attempts=9, reason="It answered 404 Not Found: no_service.")  # fmt: skip
    page = words(staff.get(f"/alerts/channels/{made.pk}/"))
    assert "stopped" in page
    assert "Nothing is sent until you change its address or send a test." in page

    staff.post(f"/alerts/channels/{made.pk}/edit/", {"name": "a", "url": f"{BASE}/services/new"})

    made.refresh_from_db()
    assert (made.state, made.attempts, made.reason) == ("new", 0, "")


def test_an_address_that_cannot_be_decrypted_can_be_replaced(staff):
    made = channel("slack", BASE)
    with connection.cursor() as db:
        db.execute("UPDATE trackers_channel SET address = 'of a lost key'")

    assert staff.get(f"/alerts/channels/{made.pk}/").status_code == 200
    assert staff.get("/alerts/channels/").status_code == 200
    assert staff.get(f"/alerts/channels/{made.pk}/edit/").status_code == 200
    staff.post(f"/alerts/channels/{made.pk}/edit/", {"name": "a", "url": f"{BASE}/services/new"})

    assert Channel.objects.get().address["url"] == f"{BASE}/services/new"


def test_a_test_waits_and_says_what_to_start(staff):
    made = channel("slack", BASE, stopped_at=timezone.now(), next_at=timezone.now() + timedelta(1))

    reply = staff.post(f"/alerts/channels/{made.pk}/test", follow=True)

    assert "start manage.py deliver" in words(reply)
    made.refresh_from_db()
    assert made.stopped_at is None
    assert made.next_at <= timezone.now()
    assert ChannelMessage.objects.get().is_test
    staff.post(f"/alerts/channels/{made.pk}/test")
    assert ChannelMessage.objects.count() == 1


def test_a_removal_asks_and_names_what_loses_it(staff):
    made = channel("slack", BASE)
    rule("velocity", metric="likes", at=5).channels.add(made)

    asks = staff.post(f"/alerts/channels/{made.pk}/remove")
    assert "A rule uses it" in words(asks)
    staff.post(f"/alerts/channels/{made.pk}/remove", {"sure": "yes"})

    assert not Channel.objects.exists()


def test_a_rule_chooses_channels_and_needs_nothing_else(staff):
    made = channel("slack", BASE, "newsroom")
    fields = {"kind": "velocity", "about": "any", "metric": "likes", "minutes": 60, "at": 1000,
              "rest": "2h", "enabled": "on", "channels": [made.pk]}  # fmt: skip

    reply = staff.post("/alerts/add/", fields, follow=True)

    assert "Recipients: newsroom." in words(reply)
    nobody = staff.post("/alerts/add/", {**fields, "channels": []})
    assert "It would notify nobody. Enter an address, or tick a channel" in words(nobody)


def test_the_log_says_of_each_message_whether_it_arrived(staff):
    made = channel("slack", BASE, "newsroom")
    one_rule = rule("velocity", metric="likes", at=5)
    one_rule.channels.add(made)
    staff.post(f"/alerts/{one_rule.pk}/test")

    for page in (staff.get("/alerts/log/"), staff.get(f"/alerts/{one_rule.pk}/")):
        assert "waits message to newsroom" in words(page)
    ChannelMessage.objects.update(state="given_up", error="It answered 403: invalid_token.")
    assert "given up message to newsroom It answered 403: invalid_token." in words(
        staff.get("/alerts/")
    )


def test_a_viewer_sees_channels_and_may_not_change_them(client):
    made = channel("slack", BASE)
    viewer = User.objects.create_user("eve")
    viewer.groups.add(Group.objects.get(name=roles.VIEWER))
    client.force_login(viewer)

    page = words(client.get(f"/alerts/channels/{made.pk}/"))

    assert "hooks" not in page
    assert "Send a test" not in page
    kind = client.get(f"{ADD}?kind=slack")
    assert "It is your own: nobody else sees it" in words(kind)
    assert client.post(f"/alerts/channels/{made.pk}/edit/", {"name": "x"}).status_code == 403
    assert client.post(f"/alerts/channels/{made.pk}/test").status_code == 403


@pytest.mark.parametrize("kind", OWN_SHAPES)
def test_the_api_takes_an_address_and_gives_none(client, kind):
    program = Program(client, User.objects.create_superuser("ada"))
    program.ask("POST", "channels", {"name": "ops", "kind": kind, "address": addresses(BASE)[kind]})
    assert program.status == 201

    answers = [program.body, program.ask("GET", "channels")]
    answers.append(
        program.ask("PATCH", f"channels/{program.body['channels'][0]['id']}", {"name": "b"})
    )

    assert program.status == 200
    assert not any(secret in json.dumps(answers) for secret in secrets_of(kind))


def test_the_api_names_the_part_that_is_wrong(client):
    program = Program(client, User.objects.create_superuser("ada"))

    program.ask("POST", "channels", {"name": "x", "kind": "ntfy", "address": {"topic": "a b"}})

    assert program.status == 422
    assert {one["field"] for one in program.body["errors"]} == {"server", "topic"}
    assert "a b" not in json.dumps(program.body)


def test_the_command_adds_lists_and_removes(db, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(addresses(BASE)["telegram"])))
    call_command("channels", "add", "ops", "--kind", "telegram")
    call_command("channels", "list")
    call_command("channels", "list", "--json")
    said = capsys.readouterr().out
    assert "ops  telegram  chat -1001234567890 at chat.example  new" in said
    assert not any(secret in said for secret in secrets_of("telegram"))

    with pytest.raises(SystemExit):
        call_command("channels", "test", "ops")
    assert "start manage.py deliver" in capsys.readouterr().out

    call_command("channels", "remove", "ops")
    assert not Channel.objects.exists()


@pytest.mark.parametrize("typed", ["", "{", "[]", '{"url": 3}', '{"what": "x"}', '{"url": ""}'])
def test_the_command_says_what_an_address_is(db, monkeypatch, typed):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    with pytest.raises(CommandError, match=r"url|Webhook"):
        call_command("channels", "add", "ops", "--kind", "slack")


def test_a_page_of_a_channel_shows_its_last_messages(staff, django_assert_max_num_queries):
    made = channel("ntfy", BASE)
    for n in range(30):
        tell(made, lines=[line(f"n{n}")], title=f"Title {n}")
    staff.get(f"/alerts/channels/{made.pk}/")

    with django_assert_max_num_queries(8):
        page = words(staff.get(f"/alerts/channels/{made.pk}/"))

    assert "Title 29" in page
    assert "Title 9 " not in page
