"""What is usual for an author, and which tweets are far from it.

checkpoints ─> `Benchmark`, at most hourly an author ─┐
tweets, when they cross an age ───────────────────────┴─> `Score`, to sort by
                                                          └─> `ScoreRise`, for alert rules
                                                               └─> `RecentRise`, for a day
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, RealField, Tweet

# Instead of a kind: posts of all kinds.
EVERY_KIND = 0
# A tweet stands out from this score on.
STANDS_OUT = 2
# By which people ask what stands out.
SCORE_METRICS = ("views", "likes", "retweets")


class BenchmarkAuthor(models.Model):
    """When an author's benchmarks were made, and when they are made again."""

    author_id = models.BigIntegerField(primary_key=True)
    made_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)  # null: nothing has come since

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="benchmark_due", condition=~Q(due_at=None)),
        ]

    def __str__(self) -> str:
        return f"author {self.author_id}"


class Benchmark(models.Model):
    """What an author's posts of one kind, or of all, usually have at each of AGES.

    Both arrays by metric and age, in the order of METRICS and AGES: the mean of the middle half of
    the newest 100 posts, null for fewer than ten; and of how many. Of kinds with fewer than ten
    posts there is no row; of all kinds there always is.
    """

    pk = models.CompositePrimaryKey("author_id", "kind")
    author_id = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=[(EVERY_KIND, "post"), *PostKind.choices])
    made_at = models.DateTimeField()
    expected = ArrayField(ArrayField(RealField(null=True)))
    posts = ArrayField(ArrayField(models.SmallIntegerField()))

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of author {self.author_id}"


class Score(models.Model):
    """A tweet's scores at its last age, or of the last minute if it stands out or moves: to sort
    by, until a day after the last age. What a page shows of a tweet is worked out from its newest
    measurement."""

    # Tweets are deleted without checking this table; untracking deletes the row.
    tweet = models.OneToOneField(
        Tweet, on_delete=models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="+"
    )
    at = models.DateTimeField()
    retweets = RealField(null=True)
    replies = RealField(null=True)
    likes = RealField(null=True)
    quotes = RealField(null=True)
    bookmarks = RealField(null=True)
    views = RealField(null=True)
    # What was expected then.
    expected_retweets = RealField(null=True)
    expected_replies = RealField(null=True)
    expected_likes = RealField(null=True)
    expected_quotes = RealField(null=True)
    expected_bookmarks = RealField(null=True)
    expected_views = RealField(null=True)

    class Meta:
        # Few tweets stand out, so few writes touch these.
        indexes = [
            models.Index(
                fields=[f"-{metric}", "-tweet"],
                name=f"score_{metric}",
                condition=Q(**{f"{metric}__gte": STANDS_OUT}),
            )
            for metric in METRICS
        ] + [
            models.Index(
                fields=["views", "-tweet"], name="score_below", condition=Q(views__lte=-STANDS_OUT)
            )
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id}: {self.views}"


class ScoreRise(models.Model):
    """A score that rose, to STANDS_OUT or more. Alert rules read and delete it; so does the task
    that writes scores, if they do not."""

    at = models.DateTimeField()
    tweet_id = models.BigIntegerField()
    metric = models.CharField(max_length=11)
    was = RealField()  # 0: it had none
    score = RealField()

    def __str__(self) -> str:
        return f"{self.metric} of {self.tweet_id}: {self.was} to {self.score}"


class RecentRise(models.Model):
    """How far a score rose in the last day, a row a tweet and metric: by it a rule that is not
    saved yet says what it would have found."""

    # When it was that high.
    at = models.DateTimeField()
    tweet_id = models.BigIntegerField()
    metric = models.CharField(max_length=11)
    was = RealField()  # before the first rise of the day; 0: it had none
    score = RealField()  # the highest, within RISES_APART

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tweet_id", "metric"], name="recentrise_once")
        ]
        indexes = [
            models.Index(fields=["metric", "-score", "-tweet_id"], name="recentrise_highest"),
            # "which are old enough to be deleted?"
            models.Index(fields=["at"], name="recentrise_at"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} of {self.tweet_id}: {self.was} to {self.score}"
