"""What holds a thread for long takes one of those that all kinds share."""

import pytest

from trackers.events.live.open import place
from tweetwatch.http import bodies, lasting, sending
from tweetwatch.http.lasting import LastingPlaces, share_threads


@pytest.fixture(autouse=True)
def _as_deployed():
    yield
    share_threads(8)


def test_all_kinds_together_leave_two_threads_to_pages():
    share_threads(8)
    kinds = [LastingPlaces(2), sending.places, bodies._file_places, bodies._places]
    held = [kind for kind in kinds for _ in range(2) if kind.acquire()]

    assert len(held) == 6
    with place(4) as has_one:
        assert not has_one
    for kind in held:
        kind.release()

    assert lasting._taken == 0
    with place(4) as has_one:
        assert has_one


def test_a_kind_has_no_more_places_than_its_own():
    share_threads(100)
    kind = LastingPlaces(1)

    assert [kind.acquire(), kind.acquire()] == [True, False]
    kind.release()
    assert (kind.acquire(), lasting._taken) == (True, 1)
    kind.release()


def test_even_one_thread_does_what_lasts():
    share_threads(1)
    kind = LastingPlaces(9)

    assert [kind.acquire(), kind.acquire()] == [True, False]
    kind.release()
