"""Who takes a turn passes over a credential whose tokens are being renewed, or could not be."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from tests.credentials.process.test_turns_together import learn
from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential

pytestmark = pytest.mark.django_db
TOKENS = {"client_id": "c", "access_token": "a", "refresh_token": "r"}


def renewing(name, *, for_seconds, problem=""):
    credential = save_credential(name, kind="oauth2", secrets=TOKENS, renewal_problem=problem)
    until = Now() + timedelta(seconds=for_seconds)
    Credential.objects.filter(pk=credential.pk).update(refreshing_until=until)
    return Credential.objects.get(pk=credential.pk)


def test_the_others_are_taken_meanwhile():
    renewing("a", for_seconds=40)
    save_credential("b")

    assert selection.select_credential().credential.name == "b"


def test_it_is_taken_again_once_the_mark_has_run_out():
    renewing("a", for_seconds=-1)

    assert selection.select_credential().credential.name == "a"


def test_while_the_only_one_is_being_renewed_all_look_again_in_a_moment():
    renewing("a", for_seconds=40)

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    assert answer.until - timezone.now() < timedelta(seconds=2)
    assert "a: new tokens are on their way" in answer.why


def test_what_keeps_the_only_one_from_new_tokens_is_told_with_its_end():
    credential = renewing("a", for_seconds=40, problem="X sent no new tokens: 503")

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    assert answer.until == credential.refreshing_until
    assert "a: X sent no new tokens: 503" in answer.why


def test_a_window_with_room_does_not_make_it_wait_for_its_reset():
    credential = save_credential("a", kind="oauth2", secrets=TOKENS)
    learn(credential, 50)
    Credential.objects.update(refreshing_until=Now() + timedelta(seconds=40))

    assert selection.select_credential().until - timezone.now() < timedelta(seconds=2)


def test_it_can_be_checked_meanwhile():
    credential = renewing("a", for_seconds=40)

    assert isinstance(selection.select_credential(only=credential.pk), selection.Selection)
