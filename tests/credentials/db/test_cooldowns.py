"""A credential that X wants left alone rests, at that endpoint alone; the others go on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.credentials.db.test_windows import known, let_pass, seen, take_all
from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential, Window
from trackers.money.balances import read_balances
from trackers.xapi.endpoints import ACCOUNTS
from trackers.xapi.errors import RateLimited, Unavailable
from trackers.xapi.wire.headers import retry_after, window_seen

FIVE_MINUTES = timedelta(minutes=5)


def fail(name, error):
    selection.settle_failed(selection.select_credential(only=save_credential(name).pk), error)


def seconds_until(at):
    return (at - timezone.now()).total_seconds()


def test_other_credentials_work_while_one_cools_down():
    fail("asked too soon", Unavailable("503 Service Unavailable", retry_after=FIVE_MINUTES))
    known("well", 4)

    taken, _ = take_all()

    assert [turn.credential.name for turn in taken] == ["well"] * 4


def test_a_lone_credential_says_until_when_and_why_it_cools_down():
    fail("one", Unavailable("503 Service Unavailable", retry_after=FIVE_MINUTES))

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    assert "one: 503 Service Unavailable" in answer.why
    assert 290 < seconds_until(answer.until) <= 300
    Window.objects.update(cooldown_until=timezone.now() - timedelta(seconds=1))
    assert isinstance(selection.select_credential(), selection.Selection)


def test_a_cool_down_is_of_one_endpoint_and_a_person_may_still_check():
    fail("one", Unavailable("503 Service Unavailable", retry_after=FIVE_MINUTES))

    assert isinstance(selection.select_credential(ACCOUNTS), selection.Selection)
    one = Credential.objects.get().pk
    assert isinstance(selection.select_credential(only=one), selection.NoRoom)
    assert isinstance(selection.select_credential(only=one, by_hand=True), selection.Selection)


@pytest.mark.parametrize("ahead", [0, -3600, 3600])
def test_a_429_with_a_reset_but_no_count_waits_by_the_clock_of_x(ahead):
    turn = selection.select_credential(only=known("one", 5, clock=ahead).pk)
    resets_at = timezone.now() + timedelta(seconds=ahead + 200)

    selection.settle_failed(turn, RateLimited("429 Too Many Requests", resets_at=resets_at))

    answer = selection.select_credential()
    assert isinstance(answer, selection.NoRoom)
    assert seconds_until(answer.until) == pytest.approx(200, abs=4)


def test_retry_after_of_a_fault_is_capped_to_one_window():
    assert retry_after({"retry-after": "86400"}) == timedelta(minutes=15)


def test_a_reply_without_a_date_sets_no_clock():
    headers = {f"x-rate-limit-{name}": "900" for name in ("limit", "remaining", "reset")}

    assert window_seen(headers, "GET /2/tweets").seen_at is None
    assert retry_after({"retry-after": "Wed, 05 Oct 2022 18:20:30 GMT"}) is None


def test_a_window_without_a_date_keeps_the_known_clock_of_x():
    credential = known("one", 5, clock=3600)

    selection.settle_answer(
        selection.select_credential(only=credential.pk), replace(seen(2, clock=3600), seen_at=None)
    )

    window = Window.objects.get()
    assert window.remaining == 2
    assert window.seen_at - window.learned_at == pytest.approx(
        timedelta(hours=1), abs=timedelta(seconds=3)
    )
    [balance] = read_balances()
    assert balance.now - timezone.now() == pytest.approx(
        timedelta(hours=1), abs=timedelta(seconds=5)
    )


def test_a_window_that_never_had_a_date_opens_by_the_clock_of_the_database():
    credential, reset = save_credential("one"), datetime.now(UTC) + timedelta(seconds=60)
    dateless = window_seen(
        {
            "x-rate-limit-limit": "9",
            "x-rate-limit-remaining": "0",
            "x-rate-limit-reset": str(int(reset.timestamp())),
        },
        "GET /2/tweets",
    )

    selection.settle_answer(selection.select_credential(only=credential.pk), dateless)

    answer = selection.select_credential()
    assert isinstance(answer, selection.NoRoom)
    assert seconds_until(answer.until) == pytest.approx(60, abs=4)
    let_pass(70)
    assert isinstance(selection.select_credential(), selection.Selection)
