"""A row per follower and tweet, as Django projects build a home."""

from __future__ import annotations

from django.db import models

from trackers.timelines.models import Watcher
from trackers.tweets.models import Tweet


class HomeEntry(models.Model):
    watcher = models.ForeignKey(Watcher, on_delete=models.CASCADE, related_name="+")
    tweet = models.ForeignKey(Tweet, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["watcher", "tweet"], name="once_a_home")]

    def __str__(self) -> str:
        return f"{self.tweet_id} for {self.watcher_id}"
