"""Long work goes on in short transactions until its time is over, one process at a time."""

import threading

import pytest
from django.db import connection

from tests.factories import TweetFactory
from trackers.tweets.models import Tweet
from tweetwatch.pieces import Deadline, PieceWork, in_pieces

pytestmark = pytest.mark.django_db(transaction=True)

LATER, OVER = Deadline.after(3600), Deadline.after(0)


def of(*pieces):
    """A piece of work that says these numbers in turn, and then that nothing is left."""
    rest = iter(pieces)
    return lambda: next(rest, None)


def test_all_pieces_are_done_when_there_is_time():
    worked = in_pieces("a test", of(3, 4, 0), left=lambda: 1, deadline=LATER)

    assert worked == PieceWork(rows=7)
    assert worked.is_done


def test_without_time_one_piece_is_done_and_the_rest_is_counted():
    worked = in_pieces("a test", of(3, 4), left=lambda: 4, deadline=OVER)

    assert worked == PieceWork(rows=3, left=4)
    assert not worked.is_done


def test_a_failing_piece_leaves_earlier_pieces_committed():
    def piece():
        TweetFactory()
        if Tweet.objects.count() == 3:
            raise LookupError
        return 1

    with pytest.raises(LookupError):
        in_pieces("a test", piece, left=lambda: 1, deadline=LATER)

    assert Tweet.objects.count() == 2


def test_a_second_process_skips_pieces_under_way_and_does_other_work():
    begun, over, collected = threading.Event(), threading.Event(), {}

    def slow():
        begun.set()
        assert over.wait(30)

    def work():
        collected["slow"] = in_pieces("a test", slow, left=lambda: 1, deadline=LATER)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(30)
    same = in_pieces("a test", of(1), left=lambda: 1, deadline=LATER)
    other = in_pieces("another test", of(1), left=lambda: 1, deadline=LATER)
    over.set()
    worker.join(30)

    assert same == PieceWork(is_elsewhere=True)
    assert other == PieceWork(rows=1)
    assert collected["slow"] == PieceWork()
