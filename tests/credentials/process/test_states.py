"""What is said of a credential that X refused a person's try with, and of a first reply."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import AppFactory, CredentialFactory
from tests.x import OAUTH1
from trackers.credentials import selection, sentences
from trackers.credentials.check import check
from trackers.credentials.models import AppDay, Credential

pytestmark = pytest.mark.django_db(transaction=True)


def checked(x):
    return check(Credential.objects.get(), base_url=x.url, timeout=timedelta(seconds=5))


@pytest.mark.parametrize(
    ("kind", "why"),
    [("401", "X refused its keys since "), ("403", "refused at GET /2/tweets: 403")],
)
def test_a_credential_is_refused_after_a_failed_check_until_x_accepts_it(fakex, kind, why):
    CredentialFactory(name="one")
    for _ in range(5):
        fakex.put("faults", [{"kind": kind}])
        assert checked(fakex).verdict == "refused"

    credential = Credential.objects.get()
    assert credential.state == "refused"
    assert credential.reason.startswith(why)
    assert credential.disabled_at is None
    assert all(window.refused <= 1 for window in credential.own_windows())

    fakex.delete("faults")
    assert checked(fakex).ok
    assert Credential.objects.get().state == "ready"


def test_no_request_is_sent_over_a_window_of_a_day(fakex):
    CredentialFactory(name="one")
    fakex.put("limits", {"GET /2/tweets": {"app_a_day": 2}})
    try:
        checks = [checked(fakex) for _ in range(3)]
        asked = [entry["status"] for entry in fakex.log() if entry["endpoint"] == "GET /2/tweets"]
    finally:
        fakex.put("limits", {"GET /2/tweets": {"app_a_day": None}})

    assert [check.sentence() for check in checks[:2]] == [
        "ok, 1 of 2 requests left",
        "ok, 0 of 2 requests left",
    ]
    assert (checks[2].verdict, asked) == ("failed", [200, 200])
    assert "used up what X allows; one may ask again at " in checks[2].reason
    [window] = Credential.objects.get().reported_windows()
    assert window.resets_at - timezone.now() > timedelta(hours=23)
    assert window.limit_a_day == 2


def test_a_window_awaiting_its_first_reply_is_not_shown_as_used_up():
    CredentialFactory(name="one")
    first = selection.select_credential()

    second = selection.select_credential()

    assert isinstance(first, selection.Selection)
    assert isinstance(second, selection.NoRoom)
    assert second.why == sentences.REPLY_AWAITED


@pytest.fixture
def two_tokens_of_a_small_app(fakex):
    """X allows their app three requests a day; each token has a window of its own."""
    app = AppFactory()
    for name in ("one", "two"):
        registered = {"kind": "oauth1", **{key: f"{name}-{key}" for key in OAUTH1}, "app": "small"}
        fakex.tell("POST", "credentials", registered)
        secrets = {key: f"{name}-{key}" for key in OAUTH1}
        CredentialFactory(name=name, kind="oauth1", app=app, secrets=secrets)
    fakex.put("limits", {"GET /2/tweets": {"app_a_day": 3}})
    yield
    fakex.put("limits", {"GET /2/tweets": {"app_a_day": None}})


def test_all_tokens_of_an_app_share_its_day(fakex, two_tokens_of_a_small_app):
    one, two = Credential.objects.order_by("name")
    options = {"base_url": fakex.url, "timeout": timedelta(seconds=5)}

    checks = [check(credential, **options) for credential in (one, two, one, two, one)]

    asked = [entry["status"] for entry in fakex.log() if entry["endpoint"] == "GET /2/tweets"]
    assert asked == [200] * 3
    assert [done.verdict for done in checks[3:]] == ["failed"] * 2
    # Though the second token's own window has room, as far as X told it.
    assert "used up what X allows; two may ask again at " in checks[3].reason
    day = AppDay.objects.get()
    assert (day.remaining, day.endpoint) == (0, "GET /2/tweets")
    assert day.resets_at - timezone.now() > timedelta(hours=23)
    refused = selection.select_credential()
    assert isinstance(refused, selection.NoRoom)
    # It may be wrong, or the plan another one.
    assert refused.until - timezone.now() < timedelta(minutes=17)
    AppDay.objects.update(learned_at=timezone.now() - timedelta(minutes=17))
    assert isinstance(selection.select_credential(), selection.Selection)
