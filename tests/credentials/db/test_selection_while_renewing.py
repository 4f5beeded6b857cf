"""Who takes a turn passes over a credential whose tokens are being renewed, or could not be."""

from datetime import timedelta

from django.db.models.functions import Now
from django.utils import timezone

from tests.credentials.process.test_selection_together import learn
from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential

TOKENS = {"client_id": "c", "access_token": "a", "refresh_token": "r"}


def renewing(name, *, for_seconds, problem=""):
    credential = save_credential(name, kind="oauth2", secrets=TOKENS, renewal_problem=problem)
    until = Now() + timedelta(seconds=for_seconds)
    Credential.objects.filter(pk=credential.pk).update(refreshing_until=until)
    return Credential.objects.get(pk=credential.pk)


def test_other_credentials_are_selected_during_a_renewal():
    renewing("a", for_seconds=40)
    save_credential("b")

    assert selection.select_credential().credential.name == "b"


def test_a_credential_is_selected_again_when_its_renewal_mark_expires():
    renewing("a", for_seconds=-1)

    assert selection.select_credential().credential.name == "a"


def test_during_the_renewal_of_the_only_credential_workers_wait_for_a_moment():
    renewing("a", for_seconds=40)

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    assert answer.until - timezone.now() < timedelta(seconds=2)
    assert "a: new tokens are on their way" in answer.why


def test_a_failed_renewal_of_the_only_credential_says_why_and_until_when():
    credential = renewing("a", for_seconds=40, problem="X sent no new tokens: 503")

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    assert answer.until == credential.refreshing_until
    assert "a: X sent no new tokens: 503" in answer.why


def test_a_renewal_does_not_wait_for_the_reset_of_a_window_with_room():
    credential = save_credential("a", kind="oauth2", secrets=TOKENS)
    learn(credential, 50)
    Credential.objects.update(refreshing_until=Now() + timedelta(seconds=40))

    assert selection.select_credential().until - timezone.now() < timedelta(seconds=2)


def test_a_credential_can_be_checked_during_its_renewal():
    credential = renewing("a", for_seconds=40)

    assert isinstance(selection.select_credential(only=credential.pk), selection.Selection)
