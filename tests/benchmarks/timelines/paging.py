"""A page of 50 by every strategy, in what its statements take; and Home as a browser gets it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

from django.contrib.auth.models import User
from django.test import Client

from tests.benchmarks.timelines.turns import Times, in_turns, sql_clock
from tests.benchmarks.timelines.world import lay_out
from tests.timelines.homes.large_homes import follow_many
from trackers.timelines import homes
from trackers.timelines.homes import HomeStrategy
from trackers.timelines.models import HomeSettings
from tweetwatch.database import cursor

MANY = 2_000
# Where a home ends for whoever scrolls far.
DEEP = "SELECT id FROM trackers_tweet ORDER BY id OFFSET %(half)s LIMIT 1"
COUNT = "SELECT count(*) FROM trackers_tweet"


def main(*, readers: int, rounds: int, requests: int) -> None:
    reader_ids = list(range(1, readers + 1))
    lay_out(reader_ids)
    with cursor() as db:
        tweets = db.execute(COUNT).fetchone()[0]
        middle = db.execute(DEEP, {"half": tweets // 2}).fetchone()[0]
    known = homes.strategies()
    took: Times = {}
    for what, given in (("page one", {}), ("in the middle", {"before": middle})):
        for key, times in pages(known, reader_ids, rounds=rounds, **given).items():
            took[f"{key}: {what}"] = times
    follow_many(reader_ids[0], MANY)
    only = {"read": known["read"]}
    many = pages(only, reader_ids[:1], rounds=max(rounds, 10))["read"]
    took[f"read: page one of {MANY:,} followed"] = many
    print(json.dumps({"sql": took, "http": over_http(reader_ids[-1], requests)}))


def pages(
    known: Mapping[str, HomeStrategy], reader_ids: Sequence[int], *, rounds: int, **fields: int
) -> Times:
    """Milliseconds of SQL, in turn."""
    spent: Times = {key: [] for key in known}
    with sql_clock() as clock:
        for turn in range(rounds + 1):
            for me in reader_ids:
                for key, strategy in list(known.items())[:: -1 if turn % 2 else 1]:
                    clock.spent = 0.0
                    page = strategy.page(me, **fields)
                    if not page.complete:
                        raise RuntimeError(f"The home of {me} by {key} is not laid out.")
                    if turn:
                        spent[key].append(1000 * clock.spent)
    return spent


def over_http(user_id: int, requests: int) -> Times:
    """The whole page as the server makes it, by each strategy."""
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(User.objects.get(pk=user_id))

    def home(key: str) -> None:
        HomeSettings.objects.update(strategy=key)
        reply = browser.get("/home/")
        if reply.status_code != 200 or reply.content.count(b"/tweets/") < 50:
            raise RuntimeError(f"Home by {key} answers {reply.status_code}, or is not full.")

    return in_turns({key: partial(home, key) for key in homes.strategies()}, rounds=requests)
