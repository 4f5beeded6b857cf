"""`manage.py credential` and `rotate_field_keys` as people and programs use them."""

import io
import json
import sys
from datetime import timedelta

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.events.conftest import subscriber
from tests.x import OAUTH1, consent, save_credential
from trackers.credentials.models import Credential, Window
from trackers.credentials.secrets import SecretUnreadableError
from trackers.events.models import Subscriber
from trackers.jobs.models import Queue
from trackers.money.models import App, Project
from trackers.xapi.wire import network
from trackers.xapi.wire.network import Route
from tweetwatch.servers import Proxy

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        try:
            call_command(*words)
        finally:
            run.output = capsys.readouterr()
        return run.output.out

    return run


def test_a_bearer_credential_is_added_from_standard_input(run):
    run("credential", "add", "main", "--kind", "bearer", stdin='{"bearer_token": "AAAA%2Bx"}')

    credential = Credential.objects.get()
    assert (credential.name, credential.kind, credential.api) == ("main", "bearer", "v2")
    assert dict(credential.secrets) == {"bearer_token": "AAAA%2Bx"}


def test_an_oauth1_credential_is_added_with_its_app_and_project(run):
    words = "credential add user --kind oauth1 --api v1.1 --app a --project p"

    run(*words.split(), stdin=json.dumps(OAUTH1))

    credential = Credential.objects.get()
    assert (credential.api, credential.app.name, credential.project.name) == ("v1.1", "a", "p")
    assert dict(credential.secrets) == OAUTH1


@pytest.mark.parametrize(
    ("stdin", "sentence"),
    [
        pytest.param("", "input is empty", id="nothing"),
        pytest.param("AAAA", "not a JSON object", id="a bare token"),
        pytest.param('["AAAA"]', "not a JSON object", id="a list"),
        pytest.param('{"token": "AAAA"}', "Enter the bearer token", id="another name"),
        pytest.param('{"bearer_token": "AA AA"}', "white space", id="a blank inside"),
        pytest.param('{"bearer_token": "AAAA\\n"}', "white space", id="a line end"),
        pytest.param('{"bearer_token": "ÄÄÄÄ"}', "characters", id="no ASCII"),
        pytest.param('{"bearer_token": 5}', "characters", id="a number"),
        pytest.param(
            '{"bearer_token": "A", "AAAA": "B"}', "bearer_token only", id="a secret too many"
        ),
    ],
)
def test_invalid_secrets_are_refused_without_being_shown(run, stdin, sentence):
    with pytest.raises(CommandError, match=sentence) as refused:
        run("credential", "add", "main", "--kind", "bearer", stdin=stdin)

    assert refused.value.returncode == 2
    assert "AAAA" not in str(refused.value)
    assert not Credential.objects.exists()


@pytest.mark.parametrize(
    ("name", "stdin", "more", "why"),
    [
        ("main", '{"token": "AAAA"}', (), "Enter the bearer token"),
        ("main", '{"bearer_token": "AA AA"}', (), "white space"),
        ("m" * 61, '{"bearer_token": "AAAA"}', (), "at most 60 characters"),
        (
            "main",
            '{"bearer_token": "AAAA"}',
            ("--app", "a" * 61),
            "--app: A name can have at most 60",
        ),
        (
            "main",
            '{"bearer_token": "AAAA"}',
            ("--project", "p" * 61),
            "--project: A name can have at most 60",
        ),
    ],
)
def test_a_refused_credential_leaves_no_rows(run, name, stdin, more, why):
    with pytest.raises(CommandError, match=why) as refused:
        run("credential", "add", name, "--kind", "bearer", *more, stdin=stdin)

    assert refused.value.returncode == 2
    assert not Credential.objects.exists()
    assert not App.objects.exists()
    assert not Project.objects.exists()


def test_a_taken_name_is_refused(run):
    save_credential("main")

    with pytest.raises(CommandError, match="already") as refused:
        run("credential", "add", "main", "--kind", "bearer", stdin='{"bearer_token": "x"}')

    assert refused.value.returncode == 1


def test_the_json_list_is_one_object_per_line(run):
    save_credential("a", app="app")
    save_credential("b").disable("tired", now=timezone.now())
    Window.objects.create(
        app=App.objects.get(name="app"),
        endpoint="GET /2/tweets",
        limit=15,
        remaining=3,
        resets_at="2026-03-01T00:00:00Z",
        seen_at="2026-03-01T00:00:00Z",
    )

    first, second = map(json.loads, run("credential", "list", "--json").splitlines())

    assert first == {
        "name": "a",
        "kind": "bearer",
        "api": "v2",
        "app": "app",
        "project": "app",
        "state": "ready",
        "reason": "",
        "windows": [
            {
                "endpoint": "GET /2/tweets",
                "limit": 15,
                "remaining": 3,
                "resets_at": "2026-03-01T00:00:00+00:00",
            }
        ],
    }
    assert (second["name"], second["state"], second["reason"]) == ("b", "disabled", "tired")


def test_the_list_for_people_is_a_table(run):
    save_credential("main")

    heading, row = run("credential", "list").splitlines()

    assert heading.split()[:3] == ["NAME", "KIND", "API"]
    assert row.split()[:3] == ["main", "bearer", "v2"]


def test_a_credential_is_disabled_enabled_and_removed(run):
    now = timezone.now()
    save_credential("a", refused=2, refused_since=now, retry_at=now + timedelta(minutes=4))

    run("credential", "disable", "a", "--reason", "moved")
    assert Credential.objects.get().disabled_reason == "moved"

    run("credential", "enable", "a")
    credential = Credential.objects.get()
    assert (credential.state, credential.disabled_reason) == ("ready", "")
    assert (credential.refused, credential.refused_since, credential.retry_at) == (0, None, None)

    run("credential", "remove", "a")
    assert not Credential.objects.exists()


def test_enabling_a_credential_ends_the_hold_of_the_look_ups(run):
    save_credential("a").disable("moved", now=timezone.now())
    later = timezone.now() + timedelta(seconds=15)
    # Also where requests have failed before: what a person mended is tried now.
    Queue.objects.filter(pk="tweet:update").update(held_until=later, held_reason="none", failures=9)

    run("credential", "enable", "a")

    assert Queue.objects.get(pk="tweet:update").held_until is None


@pytest.mark.parametrize("action", ["check", "disable", "enable", "remove"])
def test_an_unknown_name_is_refused(run, action):
    with pytest.raises(CommandError, match="no credential called nobody") as refused:
        run("credential", action, "nobody")

    assert refused.value.returncode == 1


def test_a_check_asks_x_with_each_and_learns_its_window(run, fake, settings):
    settings.X_API_BASE_URL = fake.url
    fake.tell("PUT", "credentials", strict=True)
    fake.tell("POST", "credentials", kind="bearer", name="good", bearer_token="token-of-good")
    save_credential("good")
    save_credential("stale")

    good, stale = map(json.loads, run("credential", "check", "--json").splitlines())

    fake.tell("PUT", "credentials", strict=False)
    assert (good["name"], good["verdict"], good["remaining"]) == ("good", "ok", 3499)
    assert (stale["name"], stale["verdict"]) == ("stale", "refused")
    assert "401" in stale["reason"]
    assert Window.objects.exclude(limit=None).get().app.name == "good"
    # Shown as one refusal, however often it is tried.
    refused = Credential.objects.get(name="stale")
    assert (refused.refused, refused.state) == (1, "refused")


def test_a_check_shows_the_proxy_without_its_password(run, settings):
    """Nobody listens there."""
    settings.X_API_BASE_URL = "https://api.x.com"
    save_credential("a")
    network.use(Route(Proxy("127.0.0.1", 1, "bob", "hush"), ""))
    try:
        with pytest.raises(CommandError):
            run("credential", "check", "a")
    finally:
        network.use(Route())

    said = run.output.out + run.output.err
    assert "X is asked at https://api.x.com, through the proxy http://127.0.0.1:1 as bob.\n" in said
    assert "a: failed: No connection to the proxy http://127.0.0.1:1: Connection refused." in said
    assert "hush" not in said


def test_a_check_fails_when_x_accepts_no_credential(run, settings):
    settings.X_API_BASE_URL = "http://127.0.0.1:1"
    save_credential("a")

    with pytest.raises(CommandError) as refused:
        run("credential", "check", "a")

    assert refused.value.returncode == 1
    assert "failed: No connection to X" in run.output.out


def test_key_rotation_encrypts_everything_with_the_first_key(run, settings):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.FIELD_KEYS = [old]
    save_credential("a", secrets={"bearer_token": "one"})
    save_credential("b", secrets={"bearer_token": "two"})
    subscriber("shop", secrets={"signing": ["whsec_one"]})

    settings.FIELD_KEYS = [new, old]
    assert json.loads(run("rotate_field_keys", "--json")) == {"rotated": 3}

    settings.FIELD_KEYS = [new]
    assert Subscriber.objects.get().secrets["signing"] == ["whsec_one"]
    tokens = [row.secrets["bearer_token"] for row in Credential.objects.order_by("name")]
    assert tokens == ["one", "two"]


def test_key_rotation_without_the_old_key_is_refused(run, settings):
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    save_credential("a")
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]

    with pytest.raises(CommandError, match="Nothing was changed"):
        run("rotate_field_keys")

    with pytest.raises(SecretUnreadableError):
        Credential.objects.get()


def test_credentials_with_a_lost_key_can_be_listed_and_removed(run, settings):
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    save_credential("a")
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]

    assert json.loads(run("credential", "list", "--json"))["name"] == "a"
    run("credential", "remove", "a")

    assert not Credential.objects.exists()


def test_a_check_continues_past_an_undecryptable_credential(run, fake, settings):
    settings.X_API_BASE_URL = fake.url
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    save_credential("lost")
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    save_credential("readable")

    lost, readable = map(json.loads, run("credential", "check", "--json").splitlines())

    assert (lost["verdict"], readable["verdict"]) == ("failed", "ok")
    assert "FIELD_KEYS" in lost["reason"]


TOKENS = {"client_id": "client-id", "access_token": "access-1", "refresh_token": "refresh-1"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({}, {}, id="public"),
        pytest.param({"client_secret": None}, {}, id="public, with null"),
        pytest.param({"client_secret": "s"}, {"client_secret": "s"}, id="confidential"),
    ],
)
def test_an_oauth2_credential_is_added_with_or_without_a_client_secret(run, given, kept):
    run("credential", "add", "user", "--kind", "oauth2", stdin=json.dumps({**TOKENS, **given}))

    credential = Credential.objects.get()
    assert (credential.kind, credential.api) == ("oauth2", "v2")
    assert dict(credential.secrets) == {**TOKENS, **kept}


@pytest.mark.parametrize(
    ("values", "words", "sentence"),
    [
        pytest.param({"refresh_token": ""}, "", "Enter the refresh token", id="no refresh token"),
        pytest.param(
            {"bearer_token": "AAAA"}, "", "client_secret only", id="a secret of another kind"
        ),
        pytest.param({}, "--api v1.1", "only at its v2 API", id="v1.1"),
    ],
)
def test_an_unusable_oauth2_credential_is_refused(run, values, words, sentence):
    add = ["credential", "add", "user", "--kind", "oauth2", *words.split()]

    with pytest.raises(CommandError, match=sentence) as refused:
        run(*add, stdin=json.dumps({**TOKENS, **values}))

    assert refused.value.returncode == 2
    assert not Credential.objects.exists()


def test_a_check_renews_expired_tokens(run, fake, settings):
    settings.X_API_BASE_URL = fake.url
    consent(fake, access_token="newer")

    assert json.loads(run("credential", "check", "--json"))["verdict"] == "ok"

    assert [status for _, status in fake.log()] == [401, 200, 200]


def test_the_list_shows_who_must_sign_in_again(run, fake, settings):
    settings.X_API_BASE_URL = fake.url
    consent(fake, access_token="newer", refresh_token="newer")

    with pytest.raises(CommandError):
        run("credential", "check", "user")
    assert "failed: sign in again: " in run.output.out

    row = json.loads(run("credential", "list", "--json"))
    assert (row["kind"], row["state"]) == ("oauth2", "disabled")
    assert row["reason"].startswith("sign in again: ")
    assert "refresh-of-user" not in run.output.out
