"""Untracking by commands: the number before, then piece by piece, with a bar at a terminal."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize
from tqdm import tqdm

from trackers.history import by_command
from trackers.schedule.acts import in_pieces
from trackers.schedule.bulk import PIECE
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet

# Eight bytes each, whatever was given.
Ids = Sequence[int]


class Interrupted(Exception):
    """Ctrl-C between two pieces; `done` were untracked."""

    def __init__(self, done: int) -> None:
        super().__init__()
        self.done = done


def all_of(ids: Iterable[int]) -> Ids:
    return array("q", ids)


def tracked(ids: Ids) -> Ids:
    """Those of them that are tracked, each once."""
    once = array("q", sorted(set(ids)))
    return array("q", (id for piece in pieces(once) for id in tracked_piece(piece)))


def tracked_piece(ids: Ids) -> Sequence[int]:
    return list(Tweet.objects.filter(pk__in=ids).order_by("pk").values_list("pk", flat=True))


def pieces(ids: Ids) -> Iterable[Ids]:
    return (ids[at : at + PIECE] for at in range(0, len(ids), PIECE))


def sure(question: str, *, yes: bool) -> None:
    """Ask at a terminal; CommandError for no. A script has said so by running the command."""
    if yes or not sys.stdin.isatty():
        return
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was changed.")


def untrack(ids: Ids) -> int:
    """Untrack them, one transaction per piece; return how many there were. Raises Interrupted."""
    done, steps = 0, in_pieces(BulkAct.Act.UNTRACK, ids, by_command())
    shows = sys.stderr.isatty()
    with closing(steps), tqdm(total=len(ids), unit=" tweets", disable=not shows) as bar:
        try:
            for changed in steps:
                done += changed
                bar.update(min(PIECE, len(ids) - bar.n))
        except KeyboardInterrupt:
            raise Interrupted(done) from None
    return done


def tweets(count: int) -> str:
    return f"{count:,} tweet{pluralize(count)}"
