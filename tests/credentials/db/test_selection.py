"""Taking credentials in turn, and what their replies teach, on a real PostgreSQL."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential


def taken():
    turn = selection.select_credential()
    return turn.credential.name if isinstance(turn, selection.Selection) else turn


def test_a_selected_credential_can_be_used_at_once():
    save_credential("a", secrets={"bearer_token": "the token"})

    credential = selection.select_credential().credential

    assert credential.secrets["bearer_token"] == "the token"
    assert credential == Credential.objects.get(name="a")


def test_without_credentials_the_reason_says_how_to_add_one():
    answer = selection.select_credential()

    assert isinstance(answer, selection.NoCredential)
    assert "credential add" in answer.why


def test_disabled_credentials_are_skipped_and_the_last_one_is_named():
    save_credential("a").disable("Refused by X: 401 Unauthorized", now=timezone.now())

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoCredential)
    assert "a: Refused by X: 401 Unauthorized" in answer.why
    assert "credential enable a" in answer.why


def test_the_third_refusal_in_a_row_disables_after_five_minutes():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    disabled = [
        selection.note_refusal(credential, "401 Unauthorized", now=now + timedelta(minutes=minutes))
        for minutes in (0, 3, 5)
    ]

    assert disabled == [False, False, True]
    credential.refresh_from_db()
    assert credential.disabled_reason == "Refused by X: 401 Unauthorized"
    assert credential.disabled_at == now + timedelta(minutes=5)


def test_any_number_of_refusals_within_five_minutes_disables_nothing():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    for seconds in range(0, 299, 10):
        assert not selection.note_refusal(credential, "401", now=now + timedelta(seconds=seconds))

    assert Credential.objects.get().disabled_at is None


def test_two_refusals_that_are_hours_apart_disable_nothing():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    selection.note_refusal(credential, "401", now=now)
    selection.note_refusal(credential, "401", now=now + timedelta(hours=7))

    assert Credential.objects.get().disabled_at is None


def test_an_accepted_request_resets_the_refusals():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)
    selection.note_refusal(credential, "401", now=now)
    selection.note_refusal(credential, "401", now=now + timedelta(minutes=4))

    selection.note_acceptance(selection.select_credential().credential)

    selection.note_refusal(credential, "401", now=now + timedelta(minutes=9))
    credential.refresh_from_db()
    assert (credential.refused, credential.state) == (1, "refused")


def test_accepting_a_healthy_credential_takes_no_query(django_assert_num_queries):
    save_credential("a")
    credential = selection.select_credential().credential

    with django_assert_num_queries(0):
        selection.note_acceptance(credential)
