"""Why a tweet is late, where nothing is checked at all, and the version of a page that says so."""

from __future__ import annotations

import zlib
from datetime import datetime

from django.utils import timezone

from trackers.dashboards.idle import idle
from trackers.dashboards.tweet_rows import version
from trackers.dashboards.words import OVERDUE
from trackers.jobs import queue
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate
from trackers.updater.states import State, state_of


def why_late(due_at: datetime | None, state: State, *, now: datetime) -> str:
    """Empty if it is not late. One that waits for money says so itself."""
    if due_at is None or not state.is_scheduled or state.name == "no_money":
        return ""
    return idle(now=now) if now - due_at >= OVERDUE else ""


def mark(why: str) -> str:
    """What it adds to the version: the reason comes and goes while the tweet stays as it is."""
    return f"{zlib.crc32(why.encode()):08x}" if why else ""


def version_now(tweet: Tweet) -> str:
    text = getattr(tweet, "tweettext", None)
    job = TweetUpdate.objects.filter(pk=tweet.pk).first()
    claimed_until = queue.claims(TweetUpdate.namespace, [tweet.pk]).get(tweet.pk)
    why = why_late(job.due_at, state_of(tweet, job), now=timezone.now()) if job else ""
    return version(tweet, job, text and text.text, claimed_until) + mark(why)
