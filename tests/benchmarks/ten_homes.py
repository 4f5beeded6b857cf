"""Every tweet in ten homes, laid out by each strategy: `python -m tests.benchmarks.ten_homes ID …`.

The ids are of accounts, of which each watcher follows one: so the pipeline, when it learns who
wrote a tweet, looks whether somebody follows them, and some tweets are delivered meanwhile.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import django
from django.db import connection

HOMES = 10
BRING = """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT %s, id, now(), false FROM trackers_tweet ORDER BY id
"""


def lay_out(accounts: Sequence[int]) -> list[int]:
    """The watchers; the tweets are those of the table."""
    from django.contrib.auth.models import User

    from trackers.ingest.sources.models import Source
    from trackers.timelines import feeds
    from trackers.timelines.models import Watcher

    source = Source.objects.create(kind=Source.Kind.IMPORT, of="all tweets of the bench").pk
    with connection.cursor() as db:
        db.execute(BRING, [source])
    users = [User.objects.create(username=f"watcher {number}") for number in range(HOMES)]
    watchers = [Watcher.objects.create(user=user).pk for user in users]
    for watcher, account in zip(watchers, accounts, strict=True):
        feeds.follow(watcher, source_id=source)
        feeds.follow(watcher, author_id=account)
        for strategy in feeds.strategies().values():
            strategy.rebuild(watcher)
    return watchers


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    django.setup()
    lay_out([int(account) for account in sys.argv[1:]])
    with connection.cursor() as db:
        db.execute("VACUUM (ANALYZE) trackers_sourcetweet")
