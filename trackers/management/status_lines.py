"""`manage.py status` for a person: the same figures in lines to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tweetwatch.amounts import amount

_LABEL_WIDTH = 12
Figures = Mapping[str, Any]


def status_lines(figures: Figures) -> Iterator[str]:
    """Describe what `status()` returns."""
    if paused := figures["paused"]:
        yield _labelled_line(
            "PAUSED",
            f"everything, since {_time_text(paused['since'])}",
            f"by {paused['by']}",
            paused["reason"],
        )
    yield _labelled_line(
        "Tweets",
        f"{figures['tracked']:,} tracked",
        _words_if_any(figures["resting"], "resting"),
        _words_if_any(figures["gone"], "gone"),
        _words_if_any(figures["unreadable"], "unreadable"),
        _words_if_any(figures["isolated"], "isolated"),
    )
    yield _labelled_line(
        "Look-ups",
        f"{figures['due']:,} due{_oldest_text(figures['oldest_due_seconds'])}",
        _words_if_any(figures["in_flight"], "under way"),
        f"{figures['checked_last_minute']:,} in the last minute",
    )
    yield _labelled_line(
        "Late by",
        _within_text("half", figures["lateness_p50_seconds"]),
        _within_text("99%", figures["lateness_p99_seconds"]),
        "" if figures["batch_fill"] is None else f"{figures['batch_fill']:.0f} ids a request",
        nothing="nothing was looked up in the last five minutes",
    )
    if figures["catch_up_seconds"] is not None:
        yield _labelled_line("Caught up", f"in {length_text(figures['catch_up_seconds'])}")
    yield _labelled_line("Counted", _time_text(figures["taken_at"]))
    yield _labelled_line("Version", figures["version"])
    if standby := figures["standby"]:
        yield _labelled_line("Standby", _standby_text(**standby))
    yield from _day_lines(figures["days"])
    yield _labelled_line("Stretch", " ".join(figures["stretch"]["why"]))
    yield ""
    yield from _section_lines("Queues", figures["queues"], _queue_row)
    yield from _section_lines("Projects", figures["projects"], _project_row)
    yield from _section_lines("Credentials", figures["credentials"], _credential_row)
    yield from _section_lines(
        "Workers", figures["workers"], _worker_row, none="none: start `manage.py qcluster`"
    )
    yield from _section_lines("Sources", figures["sources"], _source_row)
    if figures["stream"]:
        yield _labelled_line("Stream", *_stream_row(figures["stream"]))
    yield _labelled_line("Homes", *_homes_row(figures["timelines"]))
    events = figures["events"]
    yield _labelled_line(
        "Events", _words_if_any(len(events["topics"]), "topics", "topic"), nothing="none"
    )
    yield from _section_lines("Subscribers", events["subscribers"], _subscriber_row)


def _labelled_line(label: str, *words: str, nothing: str = "-") -> str:
    return f"{label:{_LABEL_WIDTH}} {', '.join(filter(None, words)) or nothing}"


def _section_lines(
    title: str, rows: Sequence[Figures], words: Any, *, none: str = "none"
) -> Iterator[str]:
    if not rows:
        yield _labelled_line(title, none)
        return
    yield title
    width = max(len(words(row)[0]) for row in rows)
    for row in rows:
        name, *more = words(row)
        yield f"  {name:{width}}  {', '.join(filter(None, more))}".rstrip()


# The day, what its expected figures are called in JSON, and in words.
_DAY_NAMES = (
    ("today", "expected", "expected"),
    ("tomorrow", "expected", "expected"),
    ("yesterday", "forecast", "forecast"),
)


def _day_lines(row: Figures) -> Iterator[str]:
    for name, words, called in _DAY_NAMES:
        day = row[name]
        came = [
            in_words(day[what])
            for what, in_words in (("lookups", _lookups_text), ("tweet_days", _tweet_days_text))
            if day.get(what) is not None
        ]
        expected = [day[f"{words}_{what}"] for what in ("lookups", "tweet_days")]
        foreseen = (
            f"{called}: {_lookups_text(expected[0])} and {_tweet_days_text(expected[1])}"
            if None not in expected
            else ""
        )
        yield _labelled_line(name.capitalize(), " and ".join(came), foreseen, nothing="not known")
    if row["why"]:
        yield _labelled_line("", row["why"])


def _queue_row(row: Figures) -> Sequence[str]:
    state = "paused" if row["paused"] else ""
    if row["held_until"]:
        state = f"held until {_time_text(row['held_until'])}: {row['held_reason']}"
    return row["name"], state or "runs", _words_if_any(row["due"], "due")


def _project_row(row: Figures) -> Sequence[str]:
    left = "" if row["tweet_days_left_today"] is None else f"{row['tweet_days_left_today']:,} left"
    return (
        row["name"],
        f"today {_tweet_days_text(row['tweet_days_today'])} (${row['money_today']:,.2f})",
        left,
        f"this month {row['tweet_days_month']:,} (${row['money_month']:,.2f})",
        _words_if_any(row["tweets_waiting"], "tweets wait", "tweet waits"),
        f"depleted until {_time_text(row['depleted_until'])}: {row['depleted_reason']}"
        if row["depleted_until"]
        else "",
        "" if not row["drift"] else f"X counts {row['drift']:+,}",
    )


def _credential_row(row: Figures) -> Sequence[str]:
    windows = [
        f"{window['endpoint']} {_count_text(window['remaining'])} of "
        f"{_count_text(window['limit'])} left"
        for window in row["endpoints"]
    ]
    return row["name"], row["state"], row["reason"], *windows


def _worker_row(row: Figures) -> Sequence[str]:
    return f"{row['host']} {row['pid']}", row["doing"], f"seen {_time_text(row['seen_at'])}"


def _source_row(row: Figures) -> Sequence[str]:
    return (
        f"{row['id']}  {row['kind']} {row['of']}",
        row["state"],
        how_many(row["posts"], "posts", "post"),
        _words_if_any(row["leaks"], "leaked"),
        _words_if_any(row["gaps_open"], "gaps to fill", "gap to fill"),
        _words_if_any(row["gaps_lost"], "gaps lost", "gap lost"),
        f"next poll {_time_text(row['next_poll_at'])}" if row["next_poll_at"] else "",
    )


def _stream_row(row: Figures) -> Sequence[str]:
    return (
        row["state"],
        row["reason"].rstrip("."),
        f"last heard {_time_text(row['heard_at'])}" if row["heard_at"] else "",
        how_many(row["lines"], "posts", "post"),
        _words_if_any(row["duplicates"], "duplicates", "duplicate"),
        _words_if_any(row["garbled"], "unreadable"),
        _words_if_any(row["rules_of_others"], "rules of others", "rule of others"),
    )


def _homes_row(row: Figures) -> Sequence[str]:
    return (
        how_many(row["followers"], "followers", "follower"),
        how_many(row["follows"], "follows", "follow"),
        _words_if_any(row["behind"], "origins wait to be delivered", "origin waits to be delivered")
        + _oldest_text(row["lag_seconds"]),
    )


def _subscriber_row(row: Figures) -> Sequence[str]:
    return (
        row["name"],
        row["state"],
        row["reason"] or "",
        f"{row['delivered']:,} delivered",
        _words_if_any(row["queued"], "queued"),
        _words_if_any(row["dropped"], "dropped"),
    )


def _standby_text(lag_seconds: float | None, why: str) -> str:
    if why:
        return f"not read. {why}"
    return f"read, {lag_seconds:.1f} s behind"


def _words_if_any(count: int, many: str, one: str = "") -> str:
    return how_many(count, many, one) if count else ""


def how_many(count: int, many: str, one: str = "") -> str:
    return amount(count, one or many, many)


def _lookups_text(count: int) -> str:
    return how_many(count, "look-ups", "look-up")


def _tweet_days_text(count: int) -> str:
    return how_many(count, "tweet-days", "tweet-day")


def _count_text(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _within_text(share: str, seconds: float | None) -> str:
    return "" if seconds is None else f"{share} within {length_text(seconds)}"


def _oldest_text(seconds: float | None) -> str:
    return f", the oldest for {length_text(seconds)}" if seconds else ""


def length_text(seconds: float) -> str:
    """In the largest unit of which there are two: 0.4 s, 90 s, 3 min, 2 h, 5 days."""
    for unit, name in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1f} s"


def _time_text(at: str | None) -> str:
    """2026-11-23 02:30:00 UTC."""
    return f"{at[:19].replace('T', ' ')} UTC" if at else "never"
