"""Several requests are reserved at once: as many as there is room for, each to be settled alone."""

import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.credentials.db.test_windows import known, let_pass, seen
from tests.x import OAUTH1, save_credential
from trackers.credentials import selection, windows
from trackers.credentials.models import Credential, Window
from trackers.xapi.endpoints import ACCOUNTS
from tweetwatch.database import cursor


def by_name(taken):
    """How many turns each credential has, in the order in which they were taken."""
    return [
        (name, len([*of_one]))
        for name, of_one in itertools.groupby(taken, key=lambda turn: turn.credential.name)
    ]


def under_way():
    return [time for window in Window.objects.order_by("pk") for time in window.under_way]


def test_all_wanted_requests_are_reserved_in_the_window_with_most_room():
    known("little", 5)
    known("much", 50)

    taken = selection.select_several(10)

    assert by_name(taken) == [("much", 10)]
    times = [turn.reservation.at for turn in taken]
    assert under_way() == times
    assert len(set(times)) == 10, "each is told apart from the others"


def test_requests_beyond_the_first_window_are_reserved_in_the_others():
    known("a", 2)
    known("b", 4)
    known("c", 3)

    assert by_name(selection.select_several(8)) == [("b", 4), ("c", 3), ("a", 1)]
    assert by_name(selection.select_several(8)) == [("a", 1)]
    assert isinstance(selection.select_several(8), selection.NoRoom)


def test_one_request_probes_an_unknown_window_for_all():
    known("a", 50)
    save_credential("new")
    windows.know(windows.reservation_params(selection.LOOKUP_BY_IDS, only=None, without=()))

    assert by_name(selection.select_several(5)) == [("new", 1), ("a", 4)]


def test_a_refused_credential_is_not_probed_because_another_window_is_short():
    known("a", 2)
    refused = known("b", 50)
    Credential.objects.filter(pk=refused.pk).update(
        refused=1, retry_at=timezone.now() + timedelta(minutes=1)
    )

    assert by_name(selection.select_several(5)) == [("a", 2)]


def test_one_request_probes_for_all_after_429s():
    selection.settle_answer(selection.select_credential(only=known("a", 50).pk), seen(50))
    Window.objects.update(limited=1)

    assert len(selection.select_several(5)) == 1
    assert isinstance(selection.select_several(5), selection.NoRoom)


@pytest.mark.parametrize("where", ["at all", "at this endpoint"])
def test_one_request_probes_whether_x_still_refuses_a_credential(where):
    known("good", 3)
    known("bad", 50)
    long_ago = timezone.now() - timedelta(minutes=2)
    if where == "at all":
        Credential.objects.filter(name="bad").update(refused=1, retry_at=long_ago)
    else:
        Window.objects.filter(remaining=50).update(refused=1, rejected_at=long_ago)

    assert by_name(selection.select_several(8)) == [("bad", 1), ("good", 3)]


def test_spread_requests_come_one_from_each_window():
    for name in ("a", "b"):
        known(name, 50, opens_in=599)
    let_pass(20)

    assert sorted(by_name(selection.select_several(8, spread=True))) == [("a", 1), ("b", 1)]
    assert isinstance(selection.select_several(8, spread=True), selection.NoRoom)


def test_several_requests_are_not_spread_where_four_a_second_fit():
    known("a", 3000, limit=3000, opens_in=599)

    assert len(selection.select_several(8, spread=True)) == 8


def test_requests_of_another_project_or_endpoint_are_not_taken():
    ours = known("a", 5)
    known("b", 50)

    assert by_name(selection.select_several(8, project=ours.app.project_id)) == [("a", 5)]
    assert by_name(selection.select_several(8, endpoint_of=ACCOUNTS)) == [("a", 1), ("b", 1)]


def test_a_credential_that_cannot_be_read_gives_back_what_was_reserved_with_it():
    known("a", 4)
    known("unreadable", 50)
    with cursor() as db:
        db.execute("UPDATE trackers_credential SET secrets = 'x' WHERE name = 'unreadable'")

    assert by_name(selection.select_several(8)) == [("a", 4)]
    assert len(under_way()) == 4
    Credential.objects.filter(name="a").delete()
    assert "unreadable" in selection.select_several(8).why


def test_bearer_tokens_of_one_app_do_not_share_out_more_than_its_window_has():
    for name in ("a", "b"):
        save_credential(name, app="ours")
    save_credential("user", app="ours", kind="oauth1", secrets=OAUTH1)
    for _ in range(2):
        selection.settle_answer(selection.select_credential(), seen(3))

    taken = selection.select_several(9)

    assert len(taken) == 6, "three of the app's tokens together, and three of the user's"


def test_unsent_requests_are_given_back_in_all_windows():
    known("a", 4)
    known("b", 3)
    taken = selection.select_several(7)

    selection.cancel_all(taken[1:5])

    assert sorted(under_way()) == sorted(turn.reservation.at for turn in (taken[0], *taken[5:]))
    assert len(selection.select_several(9)) == 4


def test_every_reservation_has_a_time_of_its_own():
    """As if the clock had been set back by a millisecond."""
    with cursor() as db:
        [(there, fields)] = db.execute(
            f"""
            SELECT w.under_way, {windows.TIMES}
            FROM (SELECT ARRAY(SELECT clock_timestamp() + n * interval '1 microsecond'
                               FROM generate_series(0, 2000) AS n) AS under_way OFFSET 0) w,
                 (SELECT 3 AS count) chosen
            """
        ).fetchall()

    assert len({*fields}) == 3
    assert not {*fields} & {*there}
