"""Request windows: what X said, less what it may not have counted."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.x import OAUTH1, save_credential
from trackers.credentials import selection
from trackers.credentials.models import Window
from trackers.xapi.endpoints import ACCOUNTS
from trackers.xapi.results import WindowSeen

# Reservations are told apart by their time, which stands still within a transaction's now().


def seen(remaining=5, *, limit=10, opens_in=600, clock=0, endpoint="GET /2/tweets"):
    """Headers of X, whose clock is `clock` seconds ahead of ours."""
    now = timezone.now().replace(microsecond=0) + timedelta(seconds=clock)
    return WindowSeen(endpoint, limit, remaining, now + timedelta(seconds=opens_in), now)


def known(name, remaining, **fields):
    """A credential of which X has told."""
    credential = save_credential(name)
    selection.settle_answer(
        selection.select_credential(only=credential.pk), seen(remaining, **fields)
    )
    return credential


def let_pass(seconds):
    """As if the times of all windows, and of refusals, were so much longer ago."""
    with connection.cursor() as db:
        db.execute(
            "UPDATE trackers_window SET resets_at = resets_at - %(s)s, seen_at = seen_at - %(s)s,"
            " learned_at = learned_at - %(s)s,"
            " cooldown_until = cooldown_until - %(s)s, rejected_at = rejected_at - %(s)s,"
            " under_way = ARRAY(SELECT r - %(s)s FROM unnest(under_way) r),"
            " lost = ARRAY(SELECT r - %(s)s FROM unnest(lost) r)",
            {"s": timedelta(seconds=seconds)},
        )
        db.execute(
            "UPDATE trackers_credential SET retry_at = retry_at - %(s)s,"
            " used_at = used_at - %(s)s, refused_since = refused_since - %(s)s",
            {"s": timedelta(seconds=seconds)},
        )


def take_all():
    """Take as long as there is room: the turns, and the answer that ended it."""
    taken = []
    while isinstance(answer := selection.select_credential(), selection.Selection):
        taken.append(answer)
    return taken, answer


def test_the_credential_with_the_most_room_goes_first():
    known("little", 3)
    known("much", 7)

    names = [turn.credential.name for turn in take_all()[0]]

    assert names[:4] == ["much"] * 4
    assert names.count("little") == 3
    assert names.count("much") == 7


def test_an_unknown_window_lets_one_through_while_the_rest_wait_for_its_headers():
    save_credential("a")

    first, then = selection.select_credential(), selection.select_credential()

    assert isinstance(first, selection.Selection)
    assert isinstance(then, selection.NoRoom)
    assert then.until - timezone.now() < timedelta(seconds=1)
    selection.settle_answer(first, seen(remaining=4))
    assert len(take_all()[0]) == 4


def test_a_reply_without_headers_leaves_an_unknown_window_unknown():
    save_credential("a")

    for _ in range(3):
        selection.settle_answer(selection.select_credential(), None)

    assert isinstance(selection.select_credential(), selection.Selection)


def test_requests_under_way_count_until_their_replies():
    known("a", 3)

    taken, _ = take_all()
    selection.settle_answer(taken[0], seen(remaining=2))

    assert len(taken) == 3
    # X said 2 after one of three had come; the other two may not be among what it counted.
    assert isinstance(selection.select_credential(), selection.NoRoom)
    selection.settle_answer(taken[1], seen(remaining=1))
    selection.settle_answer(taken[2], seen(remaining=0))
    assert isinstance(selection.select_credential(), selection.NoRoom)


def test_replies_in_the_wrong_order_keep_the_lower_count():
    known("a", 9)
    first, second = selection.select_credential(), selection.select_credential()

    selection.settle_answer(second, seen(remaining=4))
    selection.settle_answer(first, seen(remaining=8))

    assert Window.objects.get().remaining == 4


def test_a_lost_reply_counts_as_used_until_the_next_window():
    known("a", 3)

    selection.settle_answer(selection.select_credential(), None)

    assert len(take_all()[0]) == 2


def test_a_lost_request_counts_in_the_next_window_too_while_it_may_still_arrive():
    known("a", 3, opens_in=30)
    lost, probe = selection.select_credential(), None
    selection.settle_answer(lost, None)
    let_pass(32)

    probe = selection.select_credential()
    selection.settle_answer(probe, seen(remaining=9, opens_in=900))

    assert len(take_all()[0]) == 8


def test_a_request_from_before_a_reset_counts_on_both_sides_of_it():
    known("a", 9, opens_in=30)
    slow, quick = selection.select_credential(), selection.select_credential()

    selection.settle_answer(quick, seen(remaining=9, opens_in=900))

    assert len(take_all()[0]) == 8, "the slow one may be counted in the new window"
    selection.settle_answer(slow, seen(remaining=5, opens_in=30))
    assert Window.objects.get().remaining == 9, "what it says is of the old one"


def test_an_ended_window_lets_one_through():
    known("a", 0, opens_in=30)
    let_pass(30)
    assert isinstance(selection.select_credential(), selection.NoRoom), (
        "whole seconds: not before one more"
    )
    let_pass(2)

    first, then = selection.select_credential(), selection.select_credential()

    assert isinstance(first, selection.Selection)
    assert isinstance(then, selection.NoRoom)


@pytest.mark.parametrize("clock", [-3600, 0, 3600])
def test_a_reset_is_read_by_the_clock_of_x(clock):
    known("a", 0, opens_in=30, clock=clock)

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoRoom)
    wait = (answer.until - timezone.now()).total_seconds()
    assert 29 <= wait <= 32
    let_pass(32)
    assert isinstance(selection.select_credential(), selection.Selection)


def test_no_room_lasts_until_the_first_reset():
    known("later", 0, opens_in=900)
    known("sooner", 0, opens_in=60)

    answer = selection.select_credential()

    assert 59 <= (answer.until - timezone.now()).total_seconds() <= 62
    assert "sooner" in answer.why


def test_remaining_requests_are_spread_over_the_remaining_time():
    known("a", 9, limit=10, opens_in=599)

    early = selection.select_credential(spread=True)

    assert 55 <= (early.until - timezone.now()).total_seconds() <= 60
    assert "spread" in early.why
    let_pass(61)
    assert isinstance(selection.select_credential(spread=True), selection.Selection)
    assert isinstance(selection.select_credential(spread=True), selection.NoRoom)


def test_a_request_is_reserved_at_once_unless_spread():
    known("a", 9, limit=10, opens_in=599)

    assert isinstance(selection.select_credential(), selection.Selection)
    assert isinstance(selection.select_credential(), selection.Selection)


def test_requests_are_not_spread_where_four_a_second_fit():
    known("a", 3000, limit=3000, opens_in=599)

    taken = [selection.select_credential(spread=True) for _ in range(5)]

    assert all(isinstance(one, selection.Selection) for one in taken)


def test_another_credential_serves_while_the_first_waits_to_spread():
    known("a", 9, limit=10, opens_in=599)
    save_credential("b")

    assert selection.select_credential(spread=True).credential.name == "b"


def test_a_reservation_of_a_killed_worker_expires():
    known("a", 1)
    selection.select_credential()
    assert isinstance(selection.select_credential(), selection.NoRoom)

    let_pass(100)

    assert isinstance(selection.select_credential(), selection.Selection)


def test_windows_of_other_endpoints_are_ignored():
    known("a", 0)

    assert isinstance(selection.select_credential(ACCOUNTS), selection.Selection)


def test_a_v1_credential_counts_in_its_own_window_and_cannot_look_up_accounts():
    save_credential("old", api="v1.1")

    turn = selection.select_credential()

    assert Window.objects.get(pk=turn.reservation.window_id).endpoint == "GET /1.1/statuses/lookup"
    assert isinstance(selection.select_credential(ACCOUNTS), selection.NoCredential)


def test_a_reset_that_differs_by_a_second_is_the_same_window():
    known("a", 9, opens_in=600)

    selection.settle_answer(selection.select_credential(), seen(remaining=3, opens_in=601))
    selection.settle_answer(selection.select_credential(), seen(remaining=8, opens_in=599))

    assert Window.objects.get().remaining == 3


def test_settling_for_a_removed_credential_changes_nothing():
    consent_of = save_credential("a", kind="oauth1", secrets=OAUTH1)
    turn = selection.select_credential()
    consent_of.delete()

    selection.settle_answer(turn, seen())

    assert Window.objects.count() == 0


def test_bearer_tokens_of_one_app_share_its_window_and_users_have_their_own():
    save_credential("a", app="ours")
    save_credential("b", app="ours")
    save_credential("c", app="theirs")
    save_credential("user", app="ours", kind="oauth1", secrets=OAUTH1)

    turns_taken = [selection.select_credential() for _ in range(4)]

    taken = [turn.credential for turn in turns_taken if isinstance(turn, selection.Selection)]
    assert len(taken) == 3, "one request through each window that is not known yet"
    assert {credential.app.name for credential in taken} == {"ours", "theirs"}
    assert "user" in {credential.name for credential in taken}
    assert isinstance(turns_taken[3], selection.NoRoom)
