"""Untracking by commands: the number before, then piece by piece, with a bar at a terminal."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing

from django.core.management.base import CommandError
from tqdm import tqdm

from trackers.history import by_command
from trackers.schedule.acts import act_in_pieces
from trackers.schedule.bulk import TWEETS_PER_PIECE
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount

# Eight bytes each, whatever was given.
Ids = Sequence[int]


class Interrupted(Exception):
    """Ctrl-C between two pieces; `done` were untracked."""

    def __init__(self, done: int) -> None:
        super().__init__()
        self.done = done


def id_array(ids: Iterable[int]) -> Ids:
    return array("q", ids)


def tracked_ids(ids: Ids) -> Ids:
    """Those of them that are tracked, each once."""
    once = array("q", sorted(set(ids)))
    return array("q", (id for piece in _id_pieces(once) for id in _tracked_in_piece(piece)))


def _tracked_in_piece(ids: Ids) -> Sequence[int]:
    return list(Tweet.objects.filter(pk__in=ids).order_by("pk").values_list("pk", flat=True))


def _id_pieces(ids: Ids) -> Iterable[Ids]:
    return (ids[at : at + TWEETS_PER_PIECE] for at in range(0, len(ids), TWEETS_PER_PIECE))


def confirm_or_stop(question: str, *, yes: bool) -> None:
    """Ask at a terminal; CommandError for no. A script has said so by running the command."""
    if yes or not sys.stdin.isatty():
        return
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was changed.")


def untrack_ids(ids: Ids) -> int:
    """Untrack them, one transaction per piece; return how many there were. Raises Interrupted."""
    done, steps = 0, act_in_pieces(BulkAct.Act.UNTRACK, ids, by_command())
    shows = sys.stderr.isatty()
    with closing(steps), tqdm(total=len(ids), unit=" tweets", disable=not shows) as bar:
        try:
            for changed in steps:
                done += changed
                bar.update(min(TWEETS_PER_PIECE, len(ids) - bar.n))
        except KeyboardInterrupt:
            raise Interrupted(done) from None
    return done


def tweet_count_text(count: int) -> str:
    return f"{amount(count, 'tweet')}"
