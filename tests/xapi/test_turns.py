"""Taking credentials in turn, and what their replies teach, on a real PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.xapi.conftest import save_credential
from trackers.xapi import turns
from trackers.xapi.answers import WindowSeen
from trackers.xapi.endpoints import ACCOUNTS
from trackers.xapi.models import Credential, Window

pytestmark = pytest.mark.django_db


def seen(**given):
    now = timezone.now().replace(microsecond=0)
    return WindowSeen(
        **{
            "endpoint": "GET /2/tweets",
            "limit": 10,
            "remaining": 5,
            "resets_at": now + timedelta(minutes=10),
            "seen_at": now,
            **given,
        }
    )


def taken():
    turn = turns.take()
    return turn.credential.name if isinstance(turn, turns.Turn) else turn


def test_credentials_are_taken_in_turn():
    for name in ("a", "b", "c"):
        save_credential(name)

    names = [taken() for _ in range(6)]

    assert names == ["a", "b", "c", "a", "b", "c"]


def test_what_is_taken_can_be_used_at_once():
    save_credential("a", secrets={"bearer_token": "the token"})

    credential = turns.take().credential

    assert credential.secrets["bearer_token"] == "the token"
    assert credential == Credential.objects.get(name="a")


def test_without_any_credential_the_answer_says_how_to_add_one():
    answer = turns.take()

    assert isinstance(answer, turns.NoCredential)
    assert "credential add" in answer.why


def test_disabled_credentials_are_passed_over_and_the_last_one_is_named():
    save_credential("a").disable("Refused by X: 401 Unauthorized", now=timezone.now())

    answer = turns.take()

    assert isinstance(answer, turns.NoCredential)
    assert "a: Refused by X: 401 Unauthorized" in answer.why
    assert "credential enable a" in answer.why


def test_a_window_is_counted_down_by_each_who_takes():
    credential = save_credential("a")
    turns.learn(credential, seen(remaining=2))

    assert [taken(), taken()] == ["a", "a"]
    assert Window.objects.get().remaining == 0


def test_with_every_window_used_up_nobody_is_taken_until_the_first_reset():
    now = timezone.now().replace(microsecond=0)
    soon, later = now + timedelta(minutes=3), now + timedelta(minutes=9)
    turns.learn(save_credential("a"), seen(remaining=0, resets_at=later))
    turns.learn(save_credential("b"), seen(remaining=0, resets_at=soon))

    answer = turns.take()

    assert isinstance(answer, turns.NoRoom)
    assert answer.until == soon
    assert "b may ask again" in answer.why


def test_a_window_that_was_reset_has_room_again():
    past = timezone.now() - timedelta(seconds=1)
    turns.learn(save_credential("a"), seen(remaining=0, resets_at=past))

    assert taken() == "a"


def test_a_credential_without_room_is_passed_over():
    turns.learn(save_credential("a"), seen(remaining=0))
    save_credential("b")

    assert [taken(), taken()] == ["b", "b"]


def test_windows_of_other_endpoints_do_not_matter():
    turns.learn(save_credential("a"), seen(remaining=0, endpoint="GET /2/users"))

    assert taken() == "a"
    assert isinstance(turns.take(ACCOUNTS), turns.NoRoom)


def test_a_v1_credential_counts_in_its_own_window_and_cannot_look_up_accounts():
    credential = save_credential("old", api="v1.1")
    turns.learn(credential, seen(remaining=0, endpoint="GET /1.1/statuses/lookup"))

    assert isinstance(turns.take(), turns.NoRoom)
    assert isinstance(turns.take(ACCOUNTS), turns.NoCredential)


def test_within_one_window_the_lower_count_holds():
    credential, window = save_credential("a"), seen(remaining=5)
    turns.learn(credential, window)
    turns.take()

    turns.learn(credential, window)

    assert Window.objects.get().remaining == 4


def test_a_new_window_replaces_the_old_one():
    credential = save_credential("a")
    turns.learn(credential, seen(remaining=0))
    next_reset = timezone.now().replace(microsecond=0) + timedelta(minutes=25)

    turns.learn(credential, seen(remaining=9, limit=12, resets_at=next_reset))

    window = Window.objects.get()
    assert (window.remaining, window.limit, window.resets_at) == (9, 12, next_reset)


def test_an_older_reply_that_comes_late_changes_nothing():
    credential = save_credential("a")
    turns.learn(credential, seen(remaining=3))
    before = timezone.now() - timedelta(minutes=20)

    turns.learn(credential, seen(remaining=0, seen_at=before, resets_at=before))

    assert Window.objects.get().remaining == 3


def test_what_is_known_already_is_not_written_again():
    credential, window = save_credential("a"), seen()
    turns.learn(credential, window)
    version = Window.objects.extra(select={"xmin": "xmin::text"}).get().xmin

    turns.learn(credential, window)

    assert Window.objects.extra(select={"xmin": "xmin::text"}).get().xmin == version


def test_nothing_is_learned_for_a_credential_that_was_removed_meanwhile():
    credential = save_credential("a")
    Credential.objects.all().delete()

    turns.learn(Credential(pk=credential.pk), seen())

    assert Window.objects.count() == 0


def test_the_third_refusal_in_a_row_disables_after_five_minutes():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    disabled = [
        turns.refuse(credential, "401 Unauthorized", now=now + timedelta(minutes=minutes))
        for minutes in (0, 3, 5)
    ]

    assert disabled == [False, False, True]
    credential.refresh_from_db()
    assert credential.disabled_because == "Refused by X: 401 Unauthorized"
    assert credential.disabled_at == now + timedelta(minutes=5)


def test_any_number_of_refusals_within_five_minutes_disables_nothing():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    for seconds in range(0, 299, 10):
        assert not turns.refuse(credential, "401", now=now + timedelta(seconds=seconds))

    assert Credential.objects.get().state == "ready"


def test_two_refusals_that_are_hours_apart_disable_nothing():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)

    turns.refuse(credential, "401", now=now)
    turns.refuse(credential, "401", now=now + timedelta(hours=7))

    assert Credential.objects.get().state == "ready"


def test_an_accepted_request_ends_the_row_of_refusals():
    credential, now = save_credential("a"), datetime(2026, 3, 1, tzinfo=UTC)
    turns.refuse(credential, "401", now=now)
    turns.refuse(credential, "401", now=now + timedelta(minutes=4))

    turns.accept(turns.take().credential)

    turns.refuse(credential, "401", now=now + timedelta(minutes=9))
    credential.refresh_from_db()
    assert (credential.refused, credential.state) == (1, "ready")


def test_accepting_one_that_was_never_refused_costs_no_query(django_assert_num_queries):
    save_credential("a")
    credential = turns.take().credential

    with django_assert_num_queries(0):
        turns.accept(credential)
