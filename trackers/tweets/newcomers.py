"""Newcomers: tweets of the last day whose text, source or tag has just become known.

described, yielded, tagged ─> one row with their ids, while somebody reads them ─> read, and deleted
A tweet may come several times. Rows are only added, so nobody waits for another one, and those that
are committed late are read the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from tweetwatch.database import cursor

# What was posted longer ago is no news when it comes: archives are imported, and searches reach
# back.
NEW_FOR = timedelta(days=1)
# So many are read at a time; one row more may have as many as a chunk that is tracked at once.
_READ_MOST = 5_000


class Newcomers(models.Model):
    """The tweets of one statement."""

    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.ids)} tweets"


class NewcomersReader(models.Model):
    """One row while newcomers are read; without it none are noted."""

    id = models.SmallIntegerField(primary_key=True, default=1)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="newcomersreader_is_one")]

    def __str__(self) -> str:
        return "newcomers are read"


_NOTED = f"""
    INSERT INTO trackers_newcomers (ids)
    SELECT array_agg(id) FROM ({{moved}}) AS moved
    WHERE (SELECT true FROM trackers_newcomersreader LIMIT 1)
      AND trackers_born_at_v1(id) > now() - interval '{NEW_FOR.days} day'
    HAVING count(*) > 0
"""
_UNREAD = """
    SELECT id, ids FROM (
        SELECT id, ids, sum(cardinality(ids)) OVER (ORDER BY id) - cardinality(ids) AS before
        FROM (SELECT id, ids FROM trackers_newcomers ORDER BY id LIMIT %(most)s) AS first
    ) AS summed
    WHERE before < %(most)s
"""


def noting_newcomers(moved: str) -> str:
    """The part of a statement that hands on what came; `moved` selects `id`."""
    return _NOTED.replace("{moved}", moved)


def unread_newcomers() -> tuple[list[int], set[int]]:
    """The rows that came first, and their tweets: some thousands at the most."""
    with cursor() as db:
        rows = db.execute(_UNREAD, {"most": _READ_MOST}).fetchall()
    return [row for row, _ in rows], {id for _, ids in rows for id in ids}


def newcomers_were_read(rows: Sequence[int]) -> None:
    """In the transaction of what follows from them. What comes next is noted."""
    NewcomersReader.objects.get_or_create(pk=1)
    Newcomers.objects.filter(pk__in=rows).delete()


def stop_reading_newcomers() -> None:
    NewcomersReader.objects.all().delete()
    Newcomers.objects.all().delete()
