"""What is said of a credential that X refused a person's try with, and of a first reply."""

from datetime import timedelta

import pytest

from tests.factories import CredentialFactory
from trackers.credentials import selection, sentences
from trackers.credentials.check import check
from trackers.credentials.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)


def checked(x):
    return check(Credential.objects.get(), base_url=x.url, timeout=timedelta(seconds=5))


@pytest.mark.parametrize(
    ("kind", "why"),
    [("401", "X refused its keys. Correct them"), ("403", "refused at GET /2/tweets: 403")],
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


def test_a_window_awaiting_its_first_reply_is_not_shown_as_used_up():
    CredentialFactory(name="one")
    first = selection.select_credential()

    second = selection.select_credential()

    assert isinstance(first, selection.Selection)
    assert isinstance(second, selection.NoRoom)
    assert second.why == sentences.REPLY_AWAITED
