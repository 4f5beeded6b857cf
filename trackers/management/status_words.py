"""`manage.py status` for a person: the same figures in lines to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LABEL = 12
Told = Mapping[str, Any]


def lines(told: Told) -> Iterator[str]:
    """Describe what `status()` returns."""
    if paused := told["paused"]:
        yield line(
            "PAUSED",
            f"everything, since {when(paused['since'])}",
            f"by {paused['by']}",
            paused["because"],
        )
    yield line(
        "Tweets",
        f"{told['tracked']:,} tracked",
        some(told["resting"], "resting"),
        some(told["gone"], "gone"),
        some(told["unclear"], "unclear"),
        some(told["isolated"], "isolated"),
    )
    yield line(
        "Look-ups",
        f"{told['due']:,} due{waits(told['oldest_due_seconds'])}",
        some(told["in_flight"], "under way"),
        f"{told['checked_last_minute']:,} in the last minute",
    )
    yield line(
        "Late by",
        within("half", told["lateness_p50_seconds"]),
        within("99%", told["lateness_p99_seconds"]),
        "" if told["batch_fill"] is None else f"{told['batch_fill']:.0f} ids a request",
        nothing="nothing was looked up in the last five minutes",
    )
    if told["catch_up_seconds"] is not None:
        yield line("Caught up", f"in {length(told['catch_up_seconds'])}")
    yield line("Counted", when(told["taken_at"]))
    yield line("Version", told["version"])
    yield from days(told["days"])
    yield line("Stretch", " ".join(told["stretch"]["why"]))
    yield ""
    yield from section("Queues", told["namespaces"], queue)
    yield from section("Projects", told["projects"], project)
    yield from section("Credentials", told["credentials"], credential)
    yield from section("Workers", told["workers"], worker, none="none: start `manage.py qcluster`")
    yield from section("Sources", told["sources"], source)
    if told["stream"]:
        yield line("Stream", *stream(told["stream"]))
    yield line("Homes", *homes(told["timelines"]))
    events = told["events"]
    yield line("Events", some(len(events["topics"]), "topics", "topic"), nothing="none")
    yield from section("Subscribers", events["subscribers"], subscriber)


def line(label: str, *words: str, nothing: str = "-") -> str:
    return f"{label:{LABEL}} {', '.join(filter(None, words)) or nothing}"


def section(title: str, rows: Sequence[Told], words: Any, *, none: str = "none") -> Iterator[str]:
    if not rows:
        yield line(title, none)
        return
    yield title
    width = max(len(words(row)[0]) for row in rows)
    for row in rows:
        name, *more = words(row)
        yield f"  {name:{width}}  {', '.join(filter(None, more))}".rstrip()


# The day, what its expected figures are called in JSON, and in words.
OF_DAYS = (
    ("today", "expected", "expected"),
    ("tomorrow", "expected", "expected"),
    ("yesterday", "foreseen", "forecast"),
)


def days(row: Told) -> Iterator[str]:
    for name, words, called in OF_DAYS:
        one = row[name]
        came = [
            said(one[what])
            for what, said in (("looks", look_ups), ("tweet_days", tweet_days))
            if one.get(what) is not None
        ]
        told = [one[f"{words}_{what}"] for what in ("looks", "tweet_days")]
        foreseen = (
            f"{called}: {look_ups(told[0])} and {tweet_days(told[1])}" if None not in told else ""
        )
        yield line(name.capitalize(), " and ".join(came), foreseen, nothing="not known")
    if row["why"]:
        yield line("", row["why"])


def queue(row: Told) -> Sequence[str]:
    state = "paused" if row["paused"] else ""
    if row["held_until"]:
        state = f"held until {when(row['held_until'])}: {row['held_because']}"
    return row["name"], state or "runs", some(row["due"], "due")


def project(row: Told) -> Sequence[str]:
    left = "" if row["left_today"] is None else f"{row['left_today']:,} left"
    return (
        row["name"],
        f"today {tweet_days(row['tweet_days_today'])} (${row['money_today']:,.2f})",
        left,
        f"this month {row['tweet_days_month']:,} (${row['money_month']:,.2f})",
        some(row["waiting"], "tweets wait", "tweet waits"),
        f"stopped until {when(row['stopped_until'])}: {row['stopped_because']}"
        if row["stopped_until"]
        else "",
        "" if not row["drift"] else f"X counts {row['drift']:+,}",
    )


def credential(row: Told) -> Sequence[str]:
    windows = [
        f"{one['endpoint']} {number(one['remaining'])} of {number(one['limit'])} left"
        for one in row["endpoints"]
    ]
    return row["name"], row["state"], row["reason"], *windows


def worker(row: Told) -> Sequence[str]:
    return f"{row['host']} {row['pid']}", row["doing"], f"seen {when(row['seen_at'])}"


def source(row: Told) -> Sequence[str]:
    return (
        f"{row['id']}  {row['kind']} {row['of']}",
        row["state"],
        how_many(row["yielded"], "posts", "post"),
        some(row["leaked"], "leaked"),
        some(row["gaps_open"], "gaps to fill", "gap to fill"),
        some(row["gaps_lost"], "gaps lost", "gap lost"),
        f"next poll {when(row['next_poll_at'])}" if row["next_poll_at"] else "",
    )


def stream(row: Told) -> Sequence[str]:
    return (
        row["state"],
        row["because"].rstrip("."),
        f"last heard {when(row['heard_at'])}" if row["heard_at"] else "",
        how_many(row["lines"], "posts", "post"),
        some(row["duplicates"], "duplicates", "duplicate"),
        some(row["garbled"], "unreadable"),
        some(row["rules_of_others"], "rules of others", "rule of others"),
    )


def homes(row: Told) -> Sequence[str]:
    return (
        how_many(row["followers"], "followers", "follower"),
        how_many(row["follows"], "follows", "follow"),
        some(row["behind"], "origins wait to be delivered", "origin waits to be delivered")
        + waits(row["lag_seconds"]),
    )


def subscriber(row: Told) -> Sequence[str]:
    return (
        row["name"],
        row["state"],
        row["because"] or "",
        f"{row['delivered']:,} delivered",
        some(row["queued"], "queued"),
        some(row["dropped"], "dropped"),
    )


def some(count: int, many: str, one: str = "") -> str:
    return how_many(count, many, one) if count else ""


def how_many(count: int, many: str, one: str = "") -> str:
    return f"{count:,} {one if one and count == 1 else many}"


def look_ups(count: int) -> str:
    return how_many(count, "look-ups", "look-up")


def tweet_days(count: int) -> str:
    return how_many(count, "tweet-days", "tweet-day")


def number(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def within(share: str, seconds: float | None) -> str:
    return "" if seconds is None else f"{share} within {length(seconds)}"


def waits(seconds: float | None) -> str:
    return f", the oldest for {length(seconds)}" if seconds else ""


def length(seconds: float) -> str:
    """In the largest unit of which there are two: 0.4 s, 90 s, 3 min, 2 h, 5 days."""
    for unit, name in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1f} s"


def when(at: str | None) -> str:
    """2026-11-23 02:30:00 UTC."""
    return f"{at[:19].replace('T', ' ')} UTC" if at else "never"
