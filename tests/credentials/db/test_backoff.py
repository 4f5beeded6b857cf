"""A 429 closes the window, whatever its headers say; what X said last of a window is believed."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.credentials.db.test_windows import known, let_pass, seen
from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Window
from trackers.xapi.errors import RateLimited
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.headers import retry_after, window_seen

A_DAY = 86_400


def limited(turn, window=None, **told):
    """X answers the turn's request with a 429."""
    told.setdefault("resets_at", window and window.resets_at)
    selection.settle_failed(turn, RateLimited("429 Too Many Requests", window=window, **told))


def seconds_until(at):
    return (at - timezone.now()).total_seconds()


def rest():
    """How long the one window is left alone; then it is as if that had passed."""
    answer = selection.select_credential()
    assert isinstance(answer, selection.NoRoom), "somebody may ask at once"
    length = seconds_until(answer.until)
    let_pass(length + 0.1)
    return length


@pytest.mark.parametrize("past", [None, 0, -1, -3600, -(10**9)])
def test_each_429_in_a_row_without_a_future_reset_doubles_the_wait(past):
    known("a", 500)

    waits = []
    for _ in range(13):
        window = None if past is None else seen(0, opens_in=past)
        limited(selection.select_credential(), window)
        waits.append(rest())

    for place, wait in enumerate(waits):
        assert wait == pytest.approx(min(2**place, 900), rel=0.25, abs=0.3), waits


def test_an_answer_resets_the_waits():
    known("a", 500)
    for _ in range(6):
        limited(selection.select_credential())
        rest()

    selection.settle_answered(selection.select_credential(), seen(499))

    assert isinstance(selection.select_credential(), selection.Selection)
    limited(selection.select_credential())
    assert rest() < 2


def test_concurrent_429s_double_the_wait_once():
    known("a", 500)
    for turn in [selection.select_credential() for _ in range(8)]:
        limited(turn)

    assert rest() < 2


def test_an_answer_to_an_earlier_request_does_not_end_the_cool_down():
    known("a", 500)
    slow, quick = selection.select_credential(), selection.select_credential()
    limited(quick)

    selection.settle_answered(slow, seen(499))

    assert isinstance(selection.select_credential(), selection.NoRoom)


def test_after_a_cool_down_one_request_probes_for_all():
    known("a", 500)
    limited(selection.select_credential())
    rest()

    first, then = selection.select_credential(), selection.select_credential()

    assert isinstance(first, selection.Selection)
    assert isinstance(then, selection.NoRoom)
    assert seconds_until(then.until) < 1
    selection.settle_answered(first, seen(499))
    assert all(isinstance(selection.select_credential(), selection.Selection) for _ in range(3))


def test_a_single_credential_waits_too_but_a_person_may_try_it():
    credential = known("a", 500)
    limited(selection.select_credential())

    assert isinstance(selection.select_credential(only=credential.pk), selection.NoRoom)
    by_hand = selection.select_credential(only=credential.pk, by_hand=True)
    selection.settle_answered(by_hand, seen(499))
    assert isinstance(selection.select_credential(), selection.Selection)


def test_retry_after_of_a_429_is_obeyed_for_at_most_one_window():
    known("a", 500)
    limited(selection.select_credential(), retry_after=timedelta(seconds=120))
    assert 119 < rest() <= 121

    limited(selection.select_credential(), retry_after=timedelta(days=1))
    assert 890 < rest() <= 901


@pytest.mark.parametrize("room", [0, 3])
def test_an_earlier_reset_than_before_is_believed(room):
    """As after a change of the plan: from a window of a day to one of a quarter of an hour."""
    known("a", 400, opens_in=A_DAY)

    selection.settle_answered(selection.select_credential(), seen(room, opens_in=600))

    window = Window.objects.get()
    assert (window.remaining, window.limit) == (room, 10)
    assert 595 < seconds_until(window.resets_at) <= 601


def test_a_429_of_a_window_that_ends_sooner_closes_it():
    known("a", 400, opens_in=A_DAY)

    limited(selection.select_credential(), seen(0, opens_in=600))

    assert 598 < rest() <= 603


def test_a_late_older_reply_changes_nothing():
    known("a", 9, opens_in=600)
    slow, quick = selection.select_credential(), selection.select_credential()
    selection.settle_answered(quick, seen(4, opens_in=600))

    early = timezone.now().replace(microsecond=0) - timedelta(seconds=30)
    selection.settle_answered(
        slow, WindowSeen("GET /2/tweets", 900, 800, early + timedelta(days=1), early)
    )

    window = Window.objects.get()
    assert (window.remaining, window.limit) == (4, 10)


def test_a_reset_more_than_a_day_ahead_is_not_believed():
    known("a", 5, opens_in=400 * A_DAY)

    assert seconds_until(Window.objects.get().resets_at) <= A_DAY + 1


def test_a_long_exhausted_window_is_probed_now_and_then():
    known("a", 0, opens_in=20 * 3600)

    answer = selection.select_credential()
    assert isinstance(answer, selection.NoRoom)
    assert 900 < seconds_until(answer.until) < 1000
    let_pass(890)
    assert isinstance(selection.select_credential(), selection.NoRoom)
    let_pass(100)
    probe = selection.select_credential()
    assert isinstance(probe, selection.Selection)
    assert isinstance(selection.select_credential(), selection.NoRoom), "one finds out for all"
    limited(probe, seen(0, opens_in=19 * 3600))
    let_pass(890)
    assert isinstance(selection.select_credential(), selection.NoRoom)
    let_pass(100)
    selection.settle_answered(selection.select_credential(), seen(9, opens_in=900))
    assert all(isinstance(selection.select_credential(), selection.Selection) for _ in range(9))


def test_requests_spread_over_a_long_window_are_at_most_fifteen_minutes_apart():
    known("a", 3, opens_in=20 * 3600)

    answer = selection.select_credential(spread=True)

    assert isinstance(answer, selection.NoRoom)
    assert seconds_until(answer.until) < 1000


def test_a_reset_on_another_day_is_shown_with_its_date():
    known("a", 0, opens_in=A_DAY)

    tomorrow = timezone.now() + timedelta(days=1)
    assert (
        f"may ask again at {tomorrow.day} {tomorrow:%b, %H:}" in selection.select_credential().why
    )


HEADERS = {"x-rate-limit-limit": "900, 900", "x-rate-limit-remaining": "7, 5",
           "x-rate-limit-reset": "1700000000, 1700000009",
           "date": "Tue, 14 Nov 2023 22:00:00 GMT, Tue, 14 Nov 2023 22:00:00 GMT"}  # fmt: skip


def test_of_a_repeated_header_the_safer_value_counts():
    window = window_seen(HEADERS, "GET /2/tweets")

    assert (window.limit, window.remaining) == (900, 5)
    assert window.resets_at.timestamp() == 1_700_000_009
    assert window.seen_at == datetime.fromisoformat("2023-11-14T22:00:00Z")
    assert retry_after({"retry-after": "5, 7"}) == timedelta(seconds=7)


def test_a_repeated_header_with_a_bad_number_is_ignored():
    assert window_seen({**HEADERS, "x-rate-limit-limit": "900, many"}, "GET /2/tweets") is None


def test_replies_without_rate_headers_do_not_pile_up():
    credential = save_credential("a")
    for _ in range(3):
        selection.settle_answer(selection.select_credential(), None)
        let_pass(100)
    selection.settle_answer(selection.select_credential(only=credential.pk), None)

    assert len(Window.objects.get().lost) == 1
