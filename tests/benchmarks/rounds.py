"""`pipeline` and those it is compared with: in turn, round after round.

Each has a database of its own, which it keeps through all rounds; nobody else works meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.benchmarks import limit, measuring, pipeline, stock
from tests.benchmarks.processes import World, world
from tests.benchmarks.results import Bar, Result, Spread, Value
from tests.benchmarks.workshop import Workshop

ROUNDS = 5
CONTENDERS = ("pipeline", "adapting", "homes", "subscribed", "limit", "stock", "orm-batch")
# Seconds a round at full length.
LENGTHS = {
    "pipeline": 60.0,
    "adapting": 60.0,
    "homes": 60.0,
    "subscribed": 60.0,
    "limit": 60.0,
    "stock": 40.0,
    "orm-batch": 40.0,
}
TRACKED = 1_000_000
CHANGED = 0.9
RATIOS = {"stock": 75.0, "orm-batch": 18.0}
# The CPU of `limit`, which asks nobody, against that of the pipeline without the fake's. The less
# all the rest takes, the more their rates would tell of the fake and of tweepy.
LIMIT_SHARE = 0.45
# What the pipeline makes where every tweet has a pace and a wait of its own.
WHILE_ADAPTING = 0.97
ADAPTING_SHARE = "adapting ÷ pipeline"
# What the pipeline makes while every tweet is in ten homes: the updater touches no timeline.
IN_HOMES = 0.9
HOMES_SHARE = "homes ÷ pipeline"
# And while every change is told to somebody: the updater stores an event of each.
WHILE_TOLD = 0.85
SUBSCRIBED_SHARE = "subscribed ÷ pipeline"
# Of the pipeline's own rate, in the same round.
SHARES = {"adapting": ADAPTING_SHARE, "homes": HOMES_SHARE, "subscribed": SUBSCRIBED_SHARE}
# While nobody subscribes, PostgreSQL's time for a save against that of one without its events.
MOST_UNTOLD, UNTOLD_ROUNDS = 1.02, 10
UNTOLD_SHARE = "a save nobody subscribes to ÷ one without events"
CHANGES_TOLD = "subscribed: changes of figures recorded less those told"
MOST_PYTHON, MOST_WAL, MOST_MEMORY = 12, 600, 40
OURS, LIMITS = "CPU of all but the fake", "CPU of limit"
OUTSIDE = "CPU of Python outside the tweepy call"

Turn = Callable[[], float]


@dataclass
class Rounds:
    """What the contenders reached, and what else was found out about them."""

    shop: Workshop
    rates: dict[str, list[float]] = field(default_factory=dict)
    spreads: dict[str, list[float]] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    differences: dict[str, int] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        self.spreads.setdefault(name, []).append(value)


def run(names: Collection[str], shop: Workshop) -> Result:
    """All rounds of these contenders."""
    rounds = Rounds(shop)
    with ExitStack() as stack:
        x = stack.enter_context(world(shop.processes, tweets=shop.size.many(TRACKED)))
        shop.say(f"the fake X writes its {x.tweets:,} tweets")
        pipeline.make_ready(x)
        shop.say(f"loading {x.tweets:,} tweets for each of {', '.join(names)}")
        turns = {name: TURNS[name](rounds, stack, x) for name in CONTENDERS if name in names}
        count = 1 if shop.size.is_smoke else ROUNDS
        for number in range(1, count + 1):
            for name, turn in turns.items():
                rate = turn()
                rounds.rates.setdefault(name, []).append(rate)
                shop.say(f"round {number} of {count}: {name} {rate:,.0f} tweets/s")
    return result(rounds)


def pipeline_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    shop = rounds.shop
    database = stack.enter_context(pipeline.loaded(shop, x))
    seconds = shop.size.seconds(LENGTHS["pipeline"])
    workers = shop.size.workers
    rounds.notes.append(f"pipeline: {workers} workers")
    at_first = measuring.recorded(database)
    answered = [0]

    def turn() -> float:
        x.tell("DELETE", "log")
        done = pipeline.stretch(shop, database, x, seconds=seconds)
        answered[0] += x.answered() - done.calibrated
        rounds.differences["pipeline: measurements recorded less tweets answered"] = (
            measuring.recorded(database) - at_first - answered[0]
        )
        rounds.shares.append(done.rate.share_changed)
        for group, micros in done.cpu.items():
            rounds.note(f"CPU of {group}", micros)
        rounds.note(OURS, sum(done.cpu.values()) - done.cpu["fakex"] - done.cpu["others"])
        rounds.note("CPU of the tweepy call", done.tweepy)
        rounds.note("CPU of workers outside of it", done.outside)
        rounds.note("WAL", done.wal)
        rounds.note("a worker's own memory", max(done.memory, default=0.0))
        rounds.note("cores busy", done.busy)
        return done.rate.a_second

    return turn


def adapting_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    """The pipeline again, with an interval that adapts."""
    shop = rounds.shop
    database = stack.enter_context(pipeline.adapting(shop, x))
    seconds = shop.size.seconds(LENGTHS["adapting"])

    def turn() -> float:
        done = pipeline.stretch(shop, database, x, seconds=seconds)
        rounds.note("adapting: WAL", done.wal)
        rounds.note("adapting: CPU of postgres", done.cpu.get("postgres", 0.0))
        rounds.note("adapting: CPU of pusher", done.cpu.get("pusher", 0.0))
        rounds.note("adapting: CPU of worker", done.cpu.get("worker", 0.0))
        return done.rate.a_second

    return turn


def homes_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    """The pipeline again, with every tweet in ten homes."""
    shop = rounds.shop
    database = stack.enter_context(pipeline.loaded(shop, x))
    pipeline.lay_out_homes(database, x)
    seconds = shop.size.seconds(LENGTHS["homes"])

    def turn() -> float:
        return pipeline.stretch(shop, database, x, seconds=seconds).rate.a_second

    return turn


def subscribed_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    """The pipeline again, with a subscriber to everything. What is stored is not delivered: who
    does that is a process of its own, on any host, which `bench events` measures."""
    shop = rounds.shop
    database = stack.enter_context(pipeline.loaded(shop, x))
    many = 1 if shop.size.is_smoke else UNTOLD_ROUNDS
    if untold := pipeline.save_untold(database, rounds=many):
        for name, micros in untold.items():
            rounds.spreads[f"subscribed: CPU of a save {name} events, nobody subscribed"] = micros
        pairs = zip(untold["with"], untold["without"], strict=True)
        rounds.spreads[UNTOLD_SHARE] = [ours / theirs for ours, theirs in pairs]
    pipeline.subscribe_to_everything(database)
    at_first = measuring.changes(database)
    seconds = shop.size.seconds(LENGTHS["subscribed"])
    rounds.notes.append("subscribed: a subscriber to everything; `deliver` does not run")

    def turn() -> float:
        done = pipeline.stretch(shop, database, x, seconds=seconds)
        rounds.note("subscribed: WAL", done.wal)
        rounds.note("subscribed: CPU of postgres", done.cpu.get("postgres", 0.0))
        told = int(database.value(measuring.TOLD))
        rounds.differences[CHANGES_TOLD] = measuring.changes(database) - at_first - told
        return done.rate.a_second

    return turn


def limit_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    shop = rounds.shop
    database = stack.enter_context(pipeline.loaded(shop, x))
    seconds = shop.size.seconds(LENGTHS["limit"])
    count = limit.fastest(shop, database, seconds=seconds / 6)
    rounds.notes.append(f"limit: {count} processes")

    def turn() -> float:
        reached = limit.run(shop.processes, database, count=count, seconds=seconds)
        name = "limit: measurements recorded less those said to be saved"
        rounds.differences[name] = rounds.differences.get(name, 0) + reached.recorded - reached.said
        rounds.note(LIMITS, reached.cpu)
        rounds.note("limit: a claim", reached.claim_ms)
        rounds.note("limit: a save", reached.save_ms)
        return reached.rate.a_second

    return turn


def stock_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    return stock_of(rounds, stack, x, name="stock", size=1)


def batch_turn(rounds: Rounds, stack: ExitStack, x: World) -> Turn:
    return stock_of(rounds, stack, x, name="orm-batch", size=100)


def stock_of(rounds: Rounds, stack: ExitStack, x: World, *, name: str, size: int) -> Turn:
    shop, processes = rounds.shop, rounds.shop.processes
    database = stack.enter_context(stock.loaded(shop.databases, x))
    seconds = shop.size.seconds(LENGTHS[name])

    def turn() -> float:
        if name not in rounds.rates:
            known = f"{name} without HTTP"
            alone = stock.rate(processes, database, size=size, seconds=seconds, address="")
            rounds.note(known, alone)
            shop.say(f"{known} {alone:,.0f} tweets/s")
            bound = stock.SHARE * stock.KNOWN[size]
            rounds.bars.append(Bar(known, alone, bound, unit="tweets/s"))
        return stock.rate(processes, database, size=size, seconds=seconds, address=x.url)

    return turn


TURNS: dict[str, Callable[[Rounds, ExitStack, World], Turn]] = {
    "pipeline": pipeline_turn,
    "adapting": adapting_turn,
    "homes": homes_turn,
    "subscribed": subscribed_turn,
    "limit": limit_turn,
    "stock": stock_turn,
    "orm-batch": batch_turn,
}

UNITS = {
    "CPU": "µs/tweet",
    "WAL": "bytes/tweet",
    "a worker's own memory": "MB",
    "cores busy": "",
    "limit": "ms",
    "adapting: WAL": "bytes/tweet",
    "adapting: CPU": "µs/tweet",
    "subscribed: WAL": "bytes/tweet",
    "subscribed: CPU": "µs/tweet",
    "stock": "tweets/s",
    "orm-batch": "tweets/s",
}


def unit_of(name: str) -> str:
    return next((unit for start, unit in UNITS.items() if name.startswith(start)), "")


def result(rounds: Rounds) -> Result:
    spreads = [Spread(name, tuple(rates), "tweets/s") for name, rates in rounds.rates.items()]
    ratios = []
    if "pipeline" in rounds.rates:
        for other in RATIOS:
            if other in rounds.rates:
                pairs = zip(rounds.rates["pipeline"], rounds.rates[other], strict=True)
                values = tuple(ours / max(theirs, 1e-9) for ours, theirs in pairs)
                ratios.append(Spread(f"pipeline ÷ {other}", values))
        for other, share in SHARES.items():
            if other in rounds.rates:
                pairs = zip(rounds.rates[other], rounds.rates["pipeline"], strict=True)
                ratios.append(Spread(share, tuple(one / max(alone, 1e-9) for one, alone in pairs)))
    if OURS in rounds.spreads and LIMITS in rounds.spreads:
        pairs = zip(rounds.spreads[LIMITS], rounds.spreads[OURS], strict=True)
        shares = tuple(limits / max(ours, 1e-9) for limits, ours in pairs)
        ratios.append(Spread("CPU of limit ÷ CPU of pipeline without the fake's", shares))
    details = [Spread(name, tuple(got), unit_of(name)) for name, got in rounds.spreads.items()]
    return Result(
        name=" ".join(rounds.rates),
        rows=[row(spread) for spread in (*spreads, *ratios, *details)],
        spreads=[*spreads, *ratios, *details],
        bars=[*bars(rounds, ratios), *rounds.bars],
        notes=rounds.notes,
    )


def row(spread: Spread) -> dict[str, Value]:
    told = spread.to_dict()
    return {"what": spread.name, **{name: told[name] for name in ("median", "least", "most")}} | {
        "unit": spread.unit
    }


def bars(rounds: Rounds, ratios: list[Spread]) -> list[Bar]:
    bounds = {f"pipeline ÷ {other}": bound for other, bound in RATIOS.items()}
    bounds |= {
        ADAPTING_SHARE: WHILE_ADAPTING,
        HOMES_SHARE: IN_HOMES,
        SUBSCRIBED_SHARE: WHILE_TOLD,
    }
    made = [Bar(one.name, one.median, bounds.get(one.name, LIMIT_SHARE)) for one in ratios]
    if rounds.shares:
        made.append(Bar("share of measurements that changed", min(rounds.shares), CHANGED))
        results = {name: Spread(name, tuple(values)) for name, values in rounds.spreads.items()}
        python = results["CPU of workers outside of it"].median
        made.append(Bar(OUTSIDE, python, MOST_PYTHON, "at most", "µs/tweet"))
        wal = results["WAL"].median
        made.append(Bar("WAL", wal, MOST_WAL, "at most", "bytes/tweet"))
        memory = max(results["a worker's own memory"].values)
        made.append(Bar("a worker's own memory", memory, MOST_MEMORY, "at most", "MB"))
    if UNTOLD_SHARE in rounds.spreads:
        ratio = Spread(UNTOLD_SHARE, tuple(rounds.spreads[UNTOLD_SHARE])).median
        made.append(Bar(UNTOLD_SHARE, ratio, MOST_UNTOLD, "at most"))
    for name, difference in rounds.differences.items():
        made.append(Bar(name, difference, 0, "exactly", book=True))
    return made
