"""Timelines: the store beside bare rows, homes by each strategy, and beside these their rivals.

Each part is a program of its own on one database, and tells its times as one line of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.benchmarks.database import Database
from tests.benchmarks.results import Bar, Result, Spread
from tests.benchmarks.rounds import row
from tests.benchmarks.timelines.drawing import drawn
from tests.benchmarks.timelines.world import FOLLOWERS, READERS
from tests.benchmarks.workshop import Workshop

SETTINGS = (("DJANGO_SETTINGS_MODULE", "tests.benchmarks.timelines.settings"),)
TWEETS, FULL_HOME = 1_000_000, 800
RAMPS = (
    ("reads", "A page of 50", "sources followed"),
    ("delivers", "Delivery of one tweet", "followers"),
)
BUILT = ("cache", "sized", "timed")
SAID = {
    "delivering": "deliveries to a thousand readers",
    "paging": "pages by each strategy",
    "contest": "what people would take instead, beside ours",
    "ramps": "pages by sources followed, deliveries by followers",
}


@dataclass
class Found:
    spreads: list[Spread] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def spread(self, name: str, values: Sequence[float], unit: str = "ms") -> Spread:
        self.spreads.append(Spread(name, tuple(values), unit))
        return self.spreads[-1]

    def ratio(self, name: str, these: Sequence[float], those: Sequence[float]) -> float:
        """Round by round; the median."""
        ratios = [this / max(that, 1e-9) for this, that in zip(these, those, strict=True)]
        return self.spread(name, ratios, "").median

    def bar(self, name: str, measured: float, most: float, unit: str = "") -> None:
        self.bars.append(Bar(name, measured, most, "at most", unit))


def run(shop: Workshop) -> Result:
    measured = Found()
    with shop.databases.fresh() as fresh:
        shop.say("timelines: one entry to 1,000 timelines, and eight writers at once")
        appends(shop, replace(fresh, extra=SETTINGS), measured)
    with shop.databases.fresh() as fresh:
        database = replace(fresh, extra=SETTINGS)
        filled(shop, database)
        for part, got in each_told(shop, database, parts(shop)):
            TOLD[part](shop, got, measured)
    return Result(
        "timelines",
        [row(one) for one in measured.spreads],
        measured.bars,
        measured.spreads,
        measured.notes,
    )


def parts(shop: Workshop) -> dict[str, dict[str, Any]]:
    """What is measured on the database that is filled, in this order, and what it is given."""
    return {
        "delivering": {"rounds": times(shop, 15)},
        "paging": {"readers": times(shop, 40), "rounds": 3, "requests": times(shop, 15)},
        # Not the first, who follows so many by then.
        "contest": {"readers": [2] if shop.size.is_smoke else [2, 3, 4, 5],
                    "rounds": times(shop, 15)},
        "ramps": {"steps": 3 if shop.size.is_smoke else 11, "rounds": times(shop, 30)},
    }  # fmt: skip


def each_told(
    shop: Workshop, database: Database, parts: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    if shop.size.is_smoke:
        # To start a program takes longer than all that it does.
        shop.say("timelines: " + ", ".join(SAID.values()))
        lines = shell(database, "; ".join(program(*part) for part in parts.items())).splitlines()
        yield from zip(parts, map(json.loads, lines[-len(parts) :]), strict=True)
        return
    for part, given in parts.items():
        shop.say(f"timelines: {SAID[part]}")
        yield part, told(database, part, **given)


def told(database: Database, part: str, *, package: str = "timelines", **given: Any) -> Any:
    return json.loads(shell(database, program(part, given, package=package)).splitlines()[-1])


def program(part: str, given: Mapping[str, Any], *, package: str = "timelines") -> str:
    return f"from tests.benchmarks.{package} import {part}; {part}.main(**{given!r})"


def shell(database: Database, program: str) -> str:
    return database.manage("shell", "--verbosity=0", "-c", program)


def times(shop: Workshop, full: int, *, least: int = 2) -> int:
    """So many rounds: all of them from a fifth of the full length on."""
    return least if shop.size.is_smoke else max(least, round(full * min(1.0, 5 * shop.size.scale)))


def appends(shop: Workshop, database: Database, measured: Found) -> None:
    each = shop.size.many(FULL_HOME)
    got = told(
        database, "appending", each=each, rounds=times(shop, 60), turns=times(shop, 60, least=5)
    )
    measured.spread("one entry to 1,000 timelines", got["took"]["append"])
    measured.spread("bare INSERT of the 1,000 rows", got["took"]["bare"])
    name = "append ÷ bare INSERT, 1,000 timelines"
    measured.bar(name, measured.ratio(name, got["took"]["append"], got["took"]["bare"]), 3)
    measured.spread("an entry, heap", [got["heap"]], "bytes")
    measured.spread("an entry, its indexes", [got["index"]], "bytes")
    for what, wrong in (("lost", got["lost"]), ("faults", len(got["faults"]))):
        measured.bars.append(Bar(f"8 writers: {what}", wrong, 0, "exactly", book=True))
    measured.notes += got["faults"]


def filled(shop: Workshop, database: Database) -> None:
    tweets, full = shop.size.many(TWEETS), max(40, shop.size.many(FULL_HOME))
    readers, followers = (20, 50) if shop.size.is_smoke else (READERS, FOLLOWERS)
    shop.say(f"timelines: loading {tweets:,} tweets of 5,000 sources, {readers:,} readers")
    given = {"tweets": tweets, "readers": readers, "followers": followers, "full": full}
    make = "from django.core.management import call_command as call; "
    make += "call('migrate', run_syncdb=True, verbosity=0); "
    shell(database, make + program("world", given))
    shop.databases.settle()


def deliveries(shop: Workshop, took: Any, measured: Found) -> None:
    for name, values in took.items():
        measured.spread(f"{name}, 20 tweets", values)
    for key in BUILT:
        name = f"{key}: one by one ÷ in one go"
        ratio = measured.ratio(name, took[f"{key}: one by one"], took[f"{key}: in one go"])
        measured.bars.append(Bar(name, ratio, 5))


def pages(shop: Workshop, got: Any, measured: Found) -> None:
    for name, values in got["sql"].items():
        most = 10 if "followed" in name else 2
        measured.bar(f"SQL of {name}", measured.spread(f"SQL of {name}", values).median, most, "ms")
    slowest = max(measured.spread(f"Home by {key}", got["http"][key]).median for key in got["http"])
    measured.bar("Home as a browser gets it", slowest, 60, "ms")


def contest(shop: Workshop, got: Any, measured: Found) -> None:
    measured.notes += got["left_out"]
    for what, most in (("reads", 2), ("delivers one", 3), ("delivers 20", 3)):
        took = got[what]
        for name, values in took.items():
            measured.spread(f"{name} {what}", values)
        for rival in ("redis", "rows", "activity-stream"):
            if rival in took:
                name = f"cache {what} ÷ {rival}"
                ratio = measured.ratio(name, took["cache"], took[rival])
                if rival == "redis":
                    measured.bar(name, ratio, most)


def ramps(shop: Workshop, got: Any, measured: Found) -> None:
    numbers = got["numbers"]
    for what, title, across in RAMPS:
        curves = got[what]
        for key, values in curves.items():
            for number, value in zip(numbers, values, strict=True):
                measured.spread(f"{key} {what}, {across}: {number:,}", [value])
        if shop.pictures:
            shop.pictures.mkdir(parents=True, exist_ok=True)
            picture = drawn(title, across=across, numbers=numbers, curves=curves)
            (shop.pictures / f"timelines-{what}.svg").write_text(picture)


TOLD = {"delivering": deliveries, "paging": pages, "contest": contest, "ramps": ramps}
