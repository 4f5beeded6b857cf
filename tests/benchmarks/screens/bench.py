"""Every page, answer and periodic task at a million tweets with fifty million samples.

world, beside ─> fresh ─> periodic tasks ─> gunicorn ─> asking, painting
               again and again with --keep
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

import requests

from tests.benchmarks.database import PROJECT, Database
from tests.benchmarks.processes import free_port, wait_until
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.screens.asking import METRICS_KEY, Asked, ask_all
from tests.benchmarks.screens.painting import painted
from tests.benchmarks.timelines.bench import times
from tests.benchmarks.workshop import Workshop

TWEETS = 1_000_000
ROUNDS, PAINTINGS = 20, 10
KEPT = "tweetwatch_screens"
KINDS = ("page", "poll", "search", "file", "api", "admin")
SERVER_MS, SEARCH_SQL_MS, PAINT_MS, POLL_BYTES, PERIODIC_TASK_MS = 150, 100, 150, 5_000, 15_000
SAMPLES = """
    SELECT (SELECT count(*) FROM trackers_sample)
         + (SELECT sum(cardinality(measurements)) FROM trackers_packedsamples)
         + (SELECT count(*) FROM trackers_tweet WHERE measurements > 0)
"""
ABOUT = """
    SELECT shobj_description(oid, 'pg_database') FROM pg_database
    WHERE datname = current_database()
"""
# With adapting intervals and a budget the minute's tasks read samples of the tweets.
ADAPTING = """
    UPDATE trackers_interval SET accuracy = 0.05, at_most = every / 2, at_least = every
    WHERE every / 2 >= interval '1 second' AND every <= younger_than
"""
BUDGET = "UPDATE trackers_project SET posts_a_day = 500000, money_a_day = 1000"


def run(shop: Workshop) -> Result:
    tweets = shop.size.many(TWEETS)
    rounds = times(shop, ROUNDS)
    with loaded(shop, tweets) as database:
        shop.say("screens: the last minutes, made anew")
        told(database, "fresh")
        shop.databases.settle()
        samples = int(about(database)["samples"])
        shop.say(f"screens: each periodic task, with {samples:,} samples")
        periodic = told(database, "periodic_tasks", rounds=1 if shop.size.is_smoke else 3)
        entered = told(database, "addresses")
        with served(shop, database) as base:
            shop.say(f"screens: {len(entered['addresses'])} addresses, {rounds} times each")
            asked = ask_all(base, entered, rounds=rounds)
            [curve] = [one.path for one in asked if one.name == "tweet of 10,000 samples"]
            took = painted(base, entered, curve, rounds=times(shop, PAINTINGS))
    return Result(
        name="screens",
        rows=[*(one.row() for one in asked), *(row_of(one) for one in periodic)],
        bars=bars(asked, periodic, took),
        notes=[
            f"{tweets:,} tweets, {samples:,} samples; milliseconds in the server, of a file up to "
            "its first bytes",
            *([] if took else ["no curve was painted: there is no chromium on the PATH"]),
        ],
    )


def bars(
    asked: Sequence[Asked], periodic: Sequence[dict[str, Any]], took: list[float]
) -> list[Bar]:
    def worst(name: str, of: Sequence[tuple[str, float]], most: float, unit: str = "ms") -> Bar:
        what, value = max(of, key=lambda one: one[1])
        return Bar(f"{name} ({what})", value, most, "at most", unit)

    by_kind = {kind: [one for one in asked if one.kind == kind] for kind in KINDS}
    idle = [(one.name, median(one.idle)) for one in by_kind["poll"]]
    collected = [
        *(
            worst(
                f"p95 of each {kind}", [(one.name, one.p95(one.total)) for one in some], SERVER_MS
            )
            for kind, some in by_kind.items()
        ),
        worst(
            "SQL of each search, p95",
            [(one.name, one.p95(one.sql)) for one in by_kind["search"]],
            SEARCH_SQL_MS,
        ),
        worst("an idle poll", idle, POLL_BYTES, "bytes"),
        worst(
            "a minute's periodic task",
            [(one["task"], one["ms"]) for one in periodic if one["minutes"] <= 1],
            PERIODIC_TASK_MS,
        ),
    ]
    if took:
        collected.append(
            Bar("a curve painted after its data", median(took), PAINT_MS, "at most", "ms")
        )
    return collected


def row_of(task: dict[str, Any]) -> dict[str, Value]:
    """In the columns of addresses."""
    return {
        "address": f"{task['task']}: {task['read']:,} rows read, {task['written']:,} written",
        "kind": f"each {task['minutes']} min",
        "p50": None,
        "p95": task["ms"],
        "SQL p50": None,
        "SQL p95": task["sql"],
        "Python p50": None,
        "statements": task["statements"],
        "bytes": None,
        "idle": None,
    }


@contextmanager
def loaded(shop: Workshop, tweets: int) -> Iterator[Database]:
    """The kept one, if there is one of this size and --keep was given; else a new one."""
    kept = shop.databases.kept(KEPT) if shop.keeps else None
    if kept and about(kept).get("tweets") == tweets:
        shop.say(f"screens: again with {KEPT}")
        kept.manage("migrate", "--verbosity=0")
        yield kept
        return
    with shop.databases.fresh(keep_as=KEPT if shop.keeps else "") as database:
        shop.say(f"screens: loading {tweets:,} tweets and some {50 * tweets:,} samples")
        told(database, "world", tweets=tweets)
        told(database, "beside", tweets=tweets)
        database.sql(ADAPTING)
        database.sql(BUDGET)
        samples = int(database.value(SAMPLES))
        noted = json.dumps({"tweets": tweets, "samples": samples})
        database.sql(f"COMMENT ON DATABASE {database.name} IS '{noted}'")
        database.sql("VACUUM (ANALYZE)")
        yield database


def about(database: Database) -> dict[str, int]:
    """What was noted when it was loaded; nothing if that was broken off."""
    return json.loads(database.value(ABOUT) or "{}")  # type: ignore[no-any-return]


@contextmanager
def served(shop: Workshop, database: Database) -> Iterator[str]:
    """By gunicorn, as the README says, while a cluster's main process takes the figures."""
    port = free_port()
    env = database.environment | {
        "METRICS_KEY": METRICS_KEY,
        "API_RATE_LIMIT": "0",
        "HTTPS": "false",
    }
    command = [
        "-m", "gunicorn", "--config", str(PROJECT / "gunicorn.conf.py"), "--workers", "1",
        "--threads", "4", "--keep-alive", "120", "--bind", f"127.0.0.1:{port}",
        "tests.benchmarks.screens.serving:application",
    ]  # fmt: skip
    keeping = [str(PROJECT / "manage.py"), "shell", "-c", program("keeping")]
    base = f"http://127.0.0.1:{port}"
    with (
        shop.processes.running("figures", keeping, env=env),
        shop.processes.running("gunicorn", command, env=env) as child,
    ):
        wait_until(lambda: child.has_died() or is_ready(base), within=60, what="gunicorn answers")
        yield base


def is_ready(base: str) -> bool:
    try:
        return requests.get(f"{base}/healthz", timeout=5).status_code == 200
    except requests.RequestException:
        return False


def told(database: Database, part: str, **given: Any) -> Any:
    said = database.manage("shell", "--verbosity=0", "-c", program(part, **given)).splitlines()
    return json.loads(said[-1]) if said else None


def program(part: str, **given: Any) -> str:
    return f"from tests.benchmarks.screens import {part}; {part}.main(**{given!r})"
