"""Sums of sets of tweets by the quarter of an hour in which they were posted.

`Uncounted` (tweets that changed) ─> `RollupQuarter`, due ─> recounted ─> `Rollup` ─> periods, lists

A quarter that is due is always recounted as a whole, from its tweets and their checkpoints. Added
up, changes would cost less, and drift: a tweet that is untracked while its checkpoint waits to be
added would have to be taken off by who knows whether it was. One recount reads each tweet once for
all its sets, some 50 µs a tweet, and writes the rows that differ. So that a busy quarter is not
recounted each minute, it waits by the number of its posts (`update`).
Ages are columns of one row: in rows of their own they take twice the space.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from trackers.tweets.checkpoints.ages import ROLLUP_AGES
from trackers.tweets.models import METRICS

QUARTER_MS = 15 * 60 * 1000


class RollupKind(models.IntegerChoices):
    """What the tweets of a set have in common: of the kinds of `sets`, all but saved views. The key
    is theirs too: "all"; the id of the author, source or tag; the name of the others."""

    ALL = 0
    AUTHOR = 1
    SOURCE = 2
    TAG = 3
    LANGUAGE = 4
    HASHTAG = 5
    DOMAIN = 6


class Rollup(models.Model):
    """The tweets of a set that were posted in one quarter of an hour, without retweets, whose
    counts are those of the original, and without those that are gone.

    For each of ROLLUP_AGES: how many have a checkpoint (`measured_24h`), sums of these
    (`views_24h`, null: none says), and where several have one, a histogram of each metric:
    `places_24h`, which are CLASSES times the metric's place in METRICS, plus the class (`classes`),
    and how many posts are in each (`counts_24h`). Classes that are empty are left out, so few posts
    take few bytes.
    """

    pk = models.CompositePrimaryKey("kind", "quarter", "key")
    kind = models.SmallIntegerField(choices=RollupKind)
    quarter = models.IntegerField()  # since 1970
    key = models.TextField(db_collation="C")
    posts = models.IntegerField()

    class Meta:
        indexes = [
            # "this set's sums in a period"
            models.Index(fields=["kind", "key", "quarter"], name="rollup_of_set"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.key} in quarter {self.quarter}"


# Three ages of six metrics; written out they would be thirty lines without a thought.
for _age in ROLLUP_AGES:
    Rollup.add_to_class(f"measured_{_age}", models.IntegerField())
    for _metric in METRICS:
        Rollup.add_to_class(f"{_metric}_{_age}", models.BigIntegerField(null=True))
    Rollup.add_to_class(f"places_{_age}", ArrayField(models.SmallIntegerField(), null=True))
    Rollup.add_to_class(f"counts_{_age}", ArrayField(models.IntegerField(), null=True))


class RollupQuarter(models.Model):
    """A quarter of an hour in which tweets were posted, and when its rollups are next made."""

    quarter = models.IntegerField(primary_key=True)
    posts = models.IntegerField(null=True)  # null: never counted
    counted_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)  # null: nothing has changed since

    class Meta:
        indexes = [
            # "which are due?"
            models.Index(fields=["quarter"], name="rollup_due", condition=~Q(due_at=None)),
            # "which were counted longest ago?": for the audit
            models.Index(fields=["counted_at"], name="rollup_counted"),
        ]

    def __str__(self) -> str:
        return f"quarter {self.quarter}"
