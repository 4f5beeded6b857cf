"""A row per follower and tweet, as Django projects build a home."""

from __future__ import annotations

from django.db import models

from trackers.timelines.models import Follower
from trackers.tweets.models import Tweet


class HomeEntry(models.Model):
    follower = models.ForeignKey(Follower, on_delete=models.CASCADE, related_name="+")
    tweet = models.ForeignKey(Tweet, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["follower", "tweet"], name="once_a_home")]

    def __str__(self) -> str:
        return f"{self.tweet_id} for {self.follower_id}"
