"""The tweet of a demo that is worth a picture, and its address."""

import os
import subprocess
import sys

from tests.conftest import PROJECT

SCENE = """
from datetime import timedelta
from django.utils import timezone
from trackers.scores.earlier import earlier_posts
from trackers.tweets.models import Tweet
# One with a curve, beside which the band of what is usual for its author is not flat.
born = timezone.now() - timedelta(hours=6)
seen = Tweet.objects.filter(gone_at=None, missing_since=None, created_at__lt=born)
seen = seen.select_related("tweettext")

def usual(tweet):
    area = earlier_posts(tweet, tweet.tweettext.kind).areas().get("views")
    around = area and area.at(tweet.measured_until - tweet.created_at)
    return around[2] if around else 0

popular = list(seen.filter(measured_until__isnull=False).order_by("-views")[:200])
tweet = next((one for one in popular if 3 * usual(one) > one.views), popular[0])
print(f"/tweets/{tweet.pk}/", "/tweets/", "/sets/all/all/", "/leaderboards/?of=author")
"""


def prepare(directory):
    """Into the database of the demo in this folder; the addresses of what is worth a picture."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", SCENE],
        cwd=PROJECT,
        env={
            **os.environ,
            "DATABASE_URL": "",
            "EMBEDDED_POSTGRES_DIR": str(directory / "postgres"),
        },
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.split()
