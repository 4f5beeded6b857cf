"""Does with homes what it is told, a line of JSON each, and answers each with one.

What the database being away breaks off is done again: each act may be done twice.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from io import BytesIO

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import InterfaceError, OperationalError, connection  # noqa: E402
from django.utils import timezone  # noqa: E402
from django_q.models import Schedule  # noqa: E402

from trackers.ingest.files import importing  # noqa: E402
from trackers.ingest.files.models import Import  # noqa: E402
from trackers.ingest.files.upload import upload_file  # noqa: E402
from trackers.timelines import homes  # noqa: E402
from trackers.timelines.models import Follower  # noqa: E402
from trackers.timelines.settings import home_settings, save_home_settings  # noqa: E402

# The cache is cut back, and what is below its floor is read from the sources.
SIZES = {"cache_size": 200, "cache_slack": 20, "bucket_size": 20, "bucket_days": 1}
PAGE = 100
REPEATED_FOR = 120.0


def begin(files, followed_by, accounts, look):
    """The followers, whom they follow, and empty homes: all that comes into them is delivered."""
    # It would drop the homes of those who never look.
    Schedule.objects.filter(func="trackers.tasks.drop_idle_homes").delete()
    settings = home_settings()
    for name, value in SIZES.items():
        setattr(settings, name, value)
    save_home_settings(settings)
    users = [User.objects.create(username=f"follower {number}") for number in range(len(accounts))]
    followers = [Follower.objects.create(user=user).pk for user in users]
    Follower.objects.filter(pk__in=followers[:look]).update(read_at=timezone.now())
    brought = {upload(number, ids): ids for number, ids in enumerate(files)}
    follows = {
        follower: [-int(id) for id in mine]
        for follower, mine in zip(followers, accounts, strict=True)
    }
    for source, places in zip(brought, followed_by, strict=True):
        for place in places:
            follows[followers[place]].append(source)
    for follower, origins in follows.items():
        for origin in origins:
            follow(follower, origin)
        for strategy in homes.strategies().values():
            strategy.rebuild(follower)
    at = time.time()
    return {"at": at, "look": followers[:look], "follows": follows, "brought": brought}


def upload(number, ids):
    text = "\n".join(map(str, ids)).encode()
    name = f"{number}.txt"
    return upload_file(BytesIO(text), name=name, owner="chaos", size=len(text)).pk


def of(origin):
    return {"source_id": origin} if origin > 0 else {"author_id": -origin}


def follow(follower, origin):
    homes.follow(follower, **of(origin))


def unfollow(follower, origin):
    homes.unfollow(follower, **of(origin))


def import_(source):
    importing.start(Import.objects.get(pk=source), column=None, referenced=False)


def switch(strategy):
    settings = home_settings()
    settings.strategy = strategy
    save_home_settings(settings)


def walk(strategy):
    """Every home by every strategy; of those who look, by that of the settings."""
    look = set(Follower.objects.exclude(read_at=None).values_list("pk", flat=True))
    known = homes.strategies()
    walks = [
        walked(known[key], follower)
        for follower in Follower.objects.order_by("pk").values_list("pk", flat=True)
        for key in (("read", strategy) if follower in look else known)
    ]
    return {"walks": walks, "repeated": repeated}


def walked(strategy, follower):
    # Asked for first: the first page may lay it out.
    state = None if strategy.key == "read" else strategy.progress(follower).state
    page = strategy.page(follower, limit=PAGE)
    down, served = list(page.ids), [page.served_by]
    while page.older is not None:
        above = not state or page.older >= state.floor
        page = strategy.page(follower, limit=PAGE, before=page.older)
        down += page.ids
        served += [page.served_by] if above else []
    up, anchor = [], 0
    while anchor is not None:
        page = strategy.page(follower, limit=PAGE, after=anchor)
        up, anchor = [*page.ids, *up], page.newer
    laid_out = state.built_at.timestamp() if state else 0
    return {
        "follower": follower,
        "strategy": strategy.key,
        "down": down,
        "up": up,
        "served": served,
        "laid_out": laid_out,
    }


ACTS = {
    "begin": begin,
    "import": import_,
    "follow": follow,
    "unfollow": unfollow,
    "switch": switch,
    "walk": walk,
}
repeated = Counter()


def do(act, values):
    end = time.monotonic() + REPEATED_FOR
    while True:
        try:
            return act(**values)
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > end:
                raise
            repeated[type(error.__cause__ or error).__name__] += 1
            connection.close()
            time.sleep(0.2)


if __name__ == "__main__":
    for line in sys.stdin:
        given = json.loads(line)
        print(json.dumps(do(ACTS[given.pop("do")], given)), flush=True)
