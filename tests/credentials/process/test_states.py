"""What is said of a credential that X refused a person's try with, and of a first reply."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import CredentialFactory
from trackers.credentials import selection, sentences
from trackers.credentials.check import check
from trackers.credentials.models import Credential

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
