"""Every tweet in ten homes, laid out by each strategy: `python -m tests.benchmarks.ten_homes ID …`.

The ids are of accounts, of which each follower follows one: so the pipeline, when it learns who
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
    """The followers; the tweets are those of the table."""
    from django.contrib.auth.models import User

    from trackers.ingest.sources.models import Source
    from trackers.timelines import homes
    from trackers.timelines.models import Follower

    source = Source.objects.create(kind=Source.Kind.IMPORT, of="all tweets of the bench").pk
    with connection.cursor() as db:
        db.execute(BRING, [source])
    users = [User.objects.create(username=f"follower {number}") for number in range(HOMES)]
    followers = [Follower.objects.create(user=user).pk for user in users]
    for follower, account in zip(followers, accounts, strict=True):
        homes.follow(follower, source_id=source)
        homes.follow(follower, author_id=account)
        for strategy in homes.strategies().values():
            strategy.rebuild(follower)
    return followers


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    django.setup()
    lay_out([int(account) for account in sys.argv[1:]])
    with connection.cursor() as db:
        db.execute("VACUUM (ANALYZE) trackers_sourcetweet")
