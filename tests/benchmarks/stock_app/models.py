"""A tweet and its samples as one would write them at first, with an index for each question."""

from __future__ import annotations

from django.db import models


class StockTweet(models.Model):
    id = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField(db_index=True)
    measured_at = models.DateTimeField(null=True)
    retweets = models.IntegerField(default=0)
    replies = models.IntegerField(default=0)
    likes = models.IntegerField(default=0)
    quotes = models.IntegerField(default=0)
    bookmarks = models.IntegerField(default=0)
    views = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.pk)


class StockSample(models.Model):
    tweet = models.ForeignKey(StockTweet, on_delete=models.CASCADE, db_index=False)
    taken_at = models.DateTimeField()
    retweets = models.IntegerField()
    replies = models.IntegerField()
    likes = models.IntegerField()
    quotes = models.IntegerField()
    bookmarks = models.IntegerField()
    views = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["tweet", "taken_at"], name="stock_sample_of_tweet")]

    def __str__(self) -> str:
        return f"{self.tweet_id} at {self.taken_at}"
