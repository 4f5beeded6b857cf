"""The figures of a period in words, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.charts.scales import shortened
from trackers.sets.figures import BestTime, Summary, share_of
from trackers.sets.period_figures import MAX_POSTS, PeriodFigures
from trackers.sets.periods import LAST_24_HOURS, Period, TimeSpan
from trackers.tweets.kinds import PostKind
from trackers.tweets.labels import LABELS
from tweetwatch import notation
from tweetwatch.amounts import amount

AGE_WORDS = {"24h": "24 hours", "1h": "an hour", "7d": "7 days"}
AGE_LABELS = {"1h": "1 h", "24h": "24 h", "7d": "7 d"}
PERIOD_LABELS = {LAST_24_HOURS: "24 h", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
KIND_WORDS = {
    PostKind.REPLY: "replies", PostKind.QUOTE: "quotes", PostKind.VIDEO: "video",
    PostKind.PHOTO: "photo", PostKind.LINK: "link", PostKind.TEXT: "text alone",
}  # fmt: skip
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DASH, _MINUS = "–", "−"


@dataclass(frozen=True, slots=True)
class Card:
    """A headline figure."""

    name: str
    label: str
    words: str
    exact: str
    change: str  # with its sign; empty where nothing can be compared
    mood: str  # "up", "down" or empty
    before: str
    help: str  # the heading of docs/insight.md


def cards_of(
    this: Summary, before: Summary | None, *, of: str, age: str, metric: str
) -> list[Card]:
    """`of`: the set, as "author/42"; `age`: of SET_AGES."""
    label, at = LABELS[metric], AGE_LABELS[age]
    return [
        _posts_card(f"set.{of}.posts", this, before),
        _count_card(
            f"set.{of}.median",
            f"{label}, median at {at}",
            this.median[metric],
            before.median[metric] if before else None,
            "median-and-total",
        ),
        _count_card(
            f"set.{of}.total",
            f"{label}, all at {at}",
            this.total[metric],
            before.total[metric] if before else None,
            "median-and-total",
        ),
        _share_card(
            f"set.{of}.rate",
            "Engagement rate",
            this.rate,
            before.rate if before else None,
            "engagement-rate-of-a-period",
            digits=1,
        ),
        _share_card(
            f"set.{of}.above",
            "Above 2×",
            this.above,
            before.above if before else None,
            "share-above-2",
            digits=0,
        ),
    ]


def _posts_card(name: str, this: Summary, before: Summary | None) -> Card:
    number = this.posts
    earlier = before.posts if before else None
    change, mood = change_words(number, earlier)
    if earlier is not None and number != earlier:
        sign = "+" if number > earlier else _MINUS
        counted = f"{sign}{abs(number - earlier):,}"
        change = f"{counted}, {change.lstrip(f'+{_MINUS}')}" if change else counted
        mood = mood or "up"
    return Card(
        name,
        "Posts",
        f"{number:,}",
        str(number),
        change,
        mood,
        _DASH if earlier is None else f"{earlier:,}",
        "a-period",
    )


def _count_card(name: str, label: str, now: float | None, before: float | None, help: str) -> Card:
    change, mood = change_words(now, before)
    exact = "not known" if now is None else f"{now:,.10g}"
    return Card(name, label, short_count(now), exact, change, mood, short_count(before), help)


def _share_card(
    name: str, label: str, now: float | None, before: float | None, help: str, *, digits: int
) -> Card:
    change = mood = ""
    if now is not None and before is not None:
        points = round(100 * (now - before), digits)
        sign = "+" if points > 0 else _MINUS
        change = f"{sign}{abs(points):.{digits}f} points" if points else "as before"
        mood = "" if not points else "up" if points > 0 else "down"
    exact = "not known" if now is None else f"{100 * now:.3f} %"
    return Card(
        name, label, percent(now, digits), exact, change, mood, percent(before, digits), help
    )


def change_words(now: float | None, before: float | None) -> tuple[str, str]:
    """In percent with its sign, and whether that is "up" or "down"; empty: nothing is compared."""
    share = share_of(now, before)
    if share is None:
        return "", ""
    rounded = round(100 * share)
    if not rounded:
        return "as before", ""
    return f"{'+' if rounded > 0 else _MINUS}{abs(rounded):,} %", "up" if rounded > 0 else "down"


def percent(share: float | None, digits: int = 1) -> str:
    return _DASH if share is None else f"{100 * share:.{digits}f} %"


def short_count(number: float | None) -> str:
    """61.2K; a dash for what is not known."""
    return _DASH if number is None else shortened(number)


def waiting_words(figures: PeriodFigures) -> str:
    """Which of the posts the figures are of."""
    this, age = figures.this, AGE_WORDS[figures.age]
    posts = amount(this.posts, "post")
    if this.old_enough == this.posts:
        reached = "The post has" if this.posts == 1 else f"All {posts} have"
        sentence = f"{reached} reached the age of {age}."
    elif not this.old_enough:
        sentence = f"None of {posts} is {age} old yet, so that their figures wait."
    else:
        sentence = (
            f"Of {posts}, {this.old_enough:,} {'is' if this.old_enough == 1 else 'are'} {age} old; "
            "the others count as posts, and their figures wait."
        )
    unknown = this.old_enough - this.measured
    if unknown:
        sentence += (
            f" Of {unknown:,} of them nothing is known at that age: they were not measured near it."
        )
    return sentence


def limit_words(figures: PeriodFigures) -> str:
    """Why not everything is shown or compared; empty if it is."""
    if figures.is_summed:
        of_all = (
            f"One of the periods has more than {MAX_POSTS:,} posts: counts, totals and medians (to "
            "two digits) are from sums by quarters of an hour."
        )
        if not figures.newest_since:
            return of_all
        since = notation.to_the_minute(figures.newest_since)
        return (
            f"{of_all} The share above 2×, best and worst, the distribution and the parts are of "
            f"the newest {MAX_POSTS:,} posts, since {since}."
        )
    if figures.newest_since:
        return (
            "There are more posts in this period than are read at once. These are the newest "
            f"{figures.this.posts:,}, since {notation.to_the_minute(figures.newest_since)}; "
            "nothing is compared with the period before. Choose a shorter period to have all of it."
        )
    if figures.before is None:
        return (
            f"The period before has more than {MAX_POSTS:,} posts, so nothing is compared with it. "
            "Choose a shorter period."
        )
    return ""


def span_words(period: Period) -> str:
    """From which day to which."""
    return _days(period.this)


def before_words(period: Period) -> str:
    if period.name == LAST_24_HOURS:
        return "the 24 hours before"
    if period.days == 1:
        return f"the day before{_so_far(period).replace('the last ', '')}"
    same = ", the same weekdays" if period.days % 7 == 0 else ""
    return f"the {period.days} days before{same}{_so_far(period)}"


def _so_far(period: Period) -> str:
    if period.this.until < period.now:
        return ""
    return f", the last until {notation.clock(period.before.until)}"


def _days(span: TimeSpan) -> str:
    first = notation.day(span.since)
    last = notation.day(max(span.since, span.until - timedelta(microseconds=1)))
    return first if first == last else f"{first} to {last}"


def best_time_words(times: Sequence[BestTime], metric: str) -> list[str]:
    return [
        f"{_when(one)}: {shortened(one.median)} {LABELS[metric].lower()}"
        + (f", {one.factor:.1f}× the median of all hours" if one.factor else "")
        + f" ({amount(one.posts, 'post')})"
        for one in times
    ]


def _when(time: BestTime) -> str:
    day = "Any day" if time.weekday is None else WEEKDAYS[time.weekday]
    return f"{day} {time.hour:02}–{(time.hour + 1) % 24:02}"
