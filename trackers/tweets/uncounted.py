"""Tweets that rollups have not counted as they are now: new, gone, described, tagged, of one more
source, or past an age at which sets are summed up.

a statement that changes one of these ─> one row with its tweets' ids ─> `rollups`, every minute
Rows are only added, so nobody waits for another one. The table is not in the WAL; the row whose id
is LOST_WITH_IT is lost in a crash with the others, by which `rollups` knows.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.postgres.fields import ArrayField
from django.db import models

from tweetwatch.database import array, cursor

LOST_WITH_IT = 0


class Uncounted(models.Model):
    """The tweets of one statement."""

    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.ids)} tweets"


_NOTED = """
    INSERT INTO trackers_uncounted (ids)
    SELECT array_agg(id) FROM ({moved}) AS moved HAVING count(*) > 0
"""


def noting_uncounted(moved: str) -> str:
    """The part of a statement that has rollups count these tweets again; `moved` selects `id`."""
    return _NOTED.replace("{moved}", moved)


_NOTE = noting_uncounted("SELECT id FROM unnest(%(ids)s::bigint[]) AS asked(id)")


def note_uncounted(ids: Iterable[int]) -> None:
    """Have rollups count these tweets again. In the transaction that changes them."""
    with cursor() as db:
        db.execute(_NOTE, {"ids": array(ids)})
