"""What does the naive cursor lose, what does ours, and what does it cost not to?

One world and one database for each skew; what is read by both is judged by the fake's own truth.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tests.benchmarks.database import PROJECT, Database
from tests.benchmarks.leaks.run import MOST_POSTS
from tests.benchmarks.processes import World, world
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop

PROGRAM = ("-m", "tests.benchmarks.leaks.process")
SKEWS_S = (-5, 0, 5)
# With each skew. Fewer than the least would hardly have any that are late.
POSTS, LEAST_POSTS = 20_000, 1_500
# The fake's own tweets are not read here.
TWEETS = 1_000
LONGEST_S = 1_800


def run(shop: Workshop) -> Result:
    posts = int(shop.size.many(POSTS) * shop.size.scale)
    posts = max(LEAST_POSTS, min(MOST_POSTS, posts))
    collected = []
    for skew_s in SKEWS_S:
        shop.say(f"leak: {posts:,} posts, X's clock {skew_s:+d} s from ours")
        with world(shop.processes, tweets=TWEETS) as x, shop.databases.fresh() as database:
            collected.append(experiment(database, x, posts=posts, skew_s=skew_s))
    return result(collected)


def experiment(database: Database, x: World, *, posts: int, skew_s: int) -> Mapping[str, Any]:
    """In a process of its own, since the product's database is that of its settings."""
    done = subprocess.run(
        [sys.executable, *PROGRAM, x.url, str(posts), str(skew_s)],
        cwd=PROJECT,
        env=database.environment
        | {"DJANGO_SETTINGS_MODULE": "tweetwatch.settings", "LOG_LEVEL": "WARNING"},
        text=True,
        capture_output=True,
        timeout=LONGEST_S,
    )
    if done.returncode:
        raise RuntimeError(f"The experiment failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))


def result(runs: Sequence[Mapping[str, Any]]) -> Result:
    outcomes = [one for run in runs for one in run["outcomes"]]

    def total(*names: str) -> int:
        return sum(one[name] for one in outcomes for name in names)

    billed, booked, visible = (sum(run[name] for run in runs) for name in NAMES)
    off = sum(abs(one["meter"] - one["leaked"]) for one in outcomes)
    return Result(
        name="leak",
        rows=[row(run, one) for run in runs for one in run["outcomes"]],
        bars=[
            exactly_none("lost by ours, less than k late", total("leaked_below")),
            exactly_none("found neither by polls nor by overlaps", total("lost")),
            exactly_none("leak meters, less what leaked", off),
            exactly_none("rows wrongly marked late, or wrongly not", total("not_leaks", "untold")),
            exactly_none("polls that did not know X's time", total("polls_without_time")),
            exactly_none("tweet-days booked less billed by X", booked - billed),
            exactly_none("tweet-days billed less posts shown", billed - visible),
            Bar(
                "lost by the naive cursor, less than k late",
                total("naive_lost_below"),
                1,
                book=True,
            ),
        ],
        notes=[
            f"{total('posts'):,} posts; the naive cursor lost {total('naive_lost'):,}, of which "
            f"{total('naive_lost_below'):,} were less than k late. Of {total('beyond'):,} that "
            f"were later than k {total('leaked'):,} slipped through our polls, and overlaps or a "
            f"list's whole pages found all of them.",
            f"The price: polls showed {total('again_by_polls') / total('yielded'):.2f} posts again "
            f"for each new one, with the overlaps {total('again') / total('yielded'):.2f}, for "
            f"{billed:,} tweet-days of {total('yielded'):,} posts.",
        ],
    )


NAMES = ("billed", "booked", "shown")


def exactly_none(name: str, measured: int) -> Bar:
    return Bar(name, measured, 0, "exactly", book=True)


def row(run: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Value]:
    return {
        "listing": result["kind"],
        "X ahead s": run["skew_s"],
        "posts": result["posts"],
        "late": result["late"],
        "beyond k": result["beyond"],
        "naive lost": result["naive_lost"],
        "less than k": result["naive_lost_below"],
        "ours lost": result["lost"] + result["leaked_below"],
        "leaked": result["leaked"],
        "meter": result["meter"],
        "again by polls": result["again_by_polls"] / max(1, result["yielded"]),
        "again": result["again"] / max(1, result["yielded"]),
        "pages": result["pages"],
        "naive pages": result["naive_pages"],
    }
