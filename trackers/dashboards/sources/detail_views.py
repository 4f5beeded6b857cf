"""The page of one source: how far it is read, what is missing, what it brought and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers import tasks
from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs
from trackers.dashboards.charts.small import daily_chart, first_day
from trackers.dashboards.exports import as_file
from trackers.dashboards.homes import buttons_for
from trackers.dashboards.parts import PartReader, render_parts
from trackers.dashboards.sources.rows import connection_of, source_row
from trackers.dashboards.tweet_rows import texts_of, tweet_rows
from trackers.dashboards.words import commas, lasting
from trackers.ingest.polls.begin import since_id_of, through_id_of
from trackers.ingest.polls.state import cursor_of, rules_of, sweep_of
from trackers.ingest.polls.sweep import Cursor, Purpose, ReadingRules, Sweep
from trackers.ingest.sources.archive import can_fill, searchable
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import Gap, SearchCount, Source, SourceTweet
from trackers.ingest.sources.naming import short
from trackers.ingest.sources.status import SourceStatus, source_statuses
from trackers.schedule.intervals import Plan, current
from trackers.schedule.models import BulkAct
from trackers.standbys.requests import on_standby
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author, Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.amounts import amount
from tweetwatch.notation import exactly
from tweetwatch.tables import Column, Table

_TWEETS_SHOWN, _MAX_LATE, _MAX_GAPS = 20, 50, 50
# States in which nothing is read, although a poll may have been begun.
_WAITING_STATES = ("no_money", "problem", "hidden", "not_found")

_HELP_OF_GAP = {
    Gap.Why.BUDGET: "the next polls will fill it; more pages per poll, or more frequent polls, "
    "prevent such gaps",
    Gap.Why.QUOTA: "it will be filled when X allows more requests; another credential or a larger "
    "budget helps",
    Gap.Why.REACH: "only an imported file can fill it: X will not show these posts again",
    Gap.Why.REPEATS: "the next polls will try again",
    Gap.Why.STREAM: "a search will fill it, up to seven days back",
    Gap.Why.RULE: "a search will fill it, up to seven days back",
    Gap.Why.EDITED: "",
}
_OF_ARCHIVE = (
    "a search of X's full archive can fill it, where the plan includes that, or else an imported "
    "file"
)
# Since May 2026 X's search omits retweets when it looks for words or tags, without saying so.
_FILLED_BY_SEARCH = "filled, except for retweets, which X's search does not show"
_DAY_COLUMNS = (
    Column("day", "text"),
    Column("posts", "whole"),
    Column("repeats", "whole"),
    Column("leaks", "whole"),
    Column("tweet_days", "whole"),
    Column("money", "number"),
)
_SECOND = timedelta(seconds=1)
_WAITING: dict[Purpose, str] = {
    "poll": "A poll is waiting to continue",
    "gap": "The filling of a gap is waiting to continue",
    "overlap": "A re-read for missed posts is waiting to continue",
}
_PURPOSES: dict[Purpose, str] = {
    "poll": "A poll is under way",
    "gap": "A gap is being filled",
    "overlap": "Posts are being read again, to find any that were missed",
}


@require_safe
@needs(VIEW_SOURCES, rows=VIEW_TWEETS)
@on_standby
def source_page(request: HttpRequest, id: int) -> HttpResponse:
    source = get_source(id)
    now, plan = current()
    parts: dict[str, PartReader] = {
        "figures": lambda: _source_figures(source, now=now),
        "detail": lambda: _source_context(source, now=now),
    }
    if request.user.has_perm(VIEW_TWEETS):
        parts["rows"] = lambda: _newest_rows(source, plan, now=now)
    return render_parts(
        request,
        "dashboards/sources/detail.html",
        parts,
        shared={"now": now, "source": source},
        frame=lambda: {"buttons": buttons_for(request.user, source_id=id)},
    )


def _source_context(source: Source, *, now: datetime) -> dict[str, object]:
    [status] = source_statuses([source], now=now)
    return {
        "line": source_row(status),
        "reading": _reading_of(status, now=now),
        "report": status.report,
        "connection": connection_of(status.stream, now=now)
        if source.kind == Source.Kind.STREAM
        else None,
        "gaps": _gap_rows(source),
        "can_search_archive": searchable(source).exists(),
        "late": _late_posts(source),
        "late_more": source.leaked > _MAX_LATE,
        "leaving": _removal_under_way(source),
    }


def _removal_under_way(source: Source) -> BulkAct | None:
    """The act that untracks its tweets and removes it then."""
    return BulkAct.objects.filter(source=source.pk, finished_at=None).first()


def _reading_of(status: SourceStatus, *, now: datetime) -> ReadingProgress | None:
    """Of what is polled; a stream and a file have no cursor."""
    if not status.source.is_polled:
        return None
    return _reading_progress(status.source, now=now, waits=status.state in _WAITING_STATES)


def _late_posts(source: Source) -> list[tuple[SourceTweet, datetime, str, str]]:
    """The newest, each with when it was posted, how much later it was seen, and its text."""
    posts = source.tweets.filter(late=True).order_by("-tweet_id")[:_MAX_LATE]
    texts = texts_of(post.tweet_id for post in posts)
    return [
        (post, born, lasting(post.seen_at - born), texts.get(post.tweet_id, ""))
        for post in posts
        for born in [born_at(post.tweet_id)]
    ]


@dataclass(frozen=True, slots=True)
class GapRow:
    """`before` and `after` are the texts of the posts at its edges, which were read; what was
    posted in between is not known."""

    gap: Gap
    since: datetime | None  # None: the beginning
    before: str
    until: datetime
    after: str
    state: str
    mood: str
    help: str  # what fills it


def _gap_rows(source: Source) -> list[GapRow]:
    """Open and lost ones first, then those closed most recently."""
    missing = list(source.gaps.filter(closed_at=None)[:_MAX_GAPS])
    closed = source.gaps.exclude(closed_at=None).order_by("-closed_at")
    rest = list(closed[: max(0, _MAX_GAPS - len(missing))])
    gaps = [*missing, *rest]
    texts = texts_of(id for gap in gaps for id in (gap.from_id, gap.to_id) if id)
    return [
        GapRow(
            gap,
            born_at(gap.from_id) if gap.from_id else None,
            texts.get(gap.from_id or 0, ""),
            born_at(gap.to_id),
            texts.get(gap.to_id, ""),
            *_gap_state(gap, source),
            _gap_help(gap, source),
        )
        for gap in gaps
    ]


def _gap_state(gap: Gap, source: Source) -> tuple[str, str]:
    if gap.is_given_up:
        return "given up", "warn"
    if gap.closed_at:
        return "filled", "ready"
    if gap.is_lost:
        return "lost", "bad"
    if source.filling_id == gap.pk:
        return "being filled", "warn"
    return "open", "warn"


def _newest_rows(source: Source, plan: Plan, *, now: datetime) -> dict[str, object]:
    ids = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    chosen = list(ids.values_list("tweet_id", flat=True)[:_TWEETS_SHOWN])
    tweets = Tweet.objects.select_related("author", "tweettext").filter(pk__in=chosen)
    newest = list(tweets.newest_first())
    return {"labels": LABELS.values(), "rows": tweet_rows(newest, plan, now=now)}


def _gap_help(gap: Gap, source: Source) -> str:
    """What fills it; or what is still missing of it, now that it is filled or given up."""
    if gap.was_of:
        then = f"of “{short(gap.was_of)}”, as the source was then"
        return then if gap.closed_at else f"{then}; only an imported file can fill it"
    if gap.archive_asked_at:
        return "" if gap.closed_at else "X's full archive is searched for it"
    if gap.closed_at is None and gap.is_lost and can_fill(source, gap):
        return f"{gap.archive_refusal or _OF_ARCHIVE}{_counted_in(gap)}"
    if gap.closed_at is None:
        return _HELP_OF_GAP[Gap.Why(gap.why)]
    return _FILLED_BY_SEARCH if gap.is_of_stream else ""


def _counted_in(gap: Gap) -> str:
    """How many posts X counts in it, and back to when, if that is not all."""
    if gap.counted is None or gap.counted_from is None:
        return ""
    is_all = gap.from_id is not None and gap.counted_from <= born_at(gap.from_id)
    since = "" if is_all else f" from {exactly(gap.counted_from)} on"
    return f"; X counts {amount(gap.counted, 'post')} in it{since}"


def get_source(id: int) -> Source:
    try:
        return Source.objects.get(pk=id)
    except (Source.DoesNotExist, OverflowError):
        raise Http404(f"There is no source {id}.") from None


def _source_figures(source: Source, *, now: datetime) -> dict[str, object]:
    today = now.astimezone(UTC).date()
    days = days_of(source.pk, since=first_day(today))
    return {
        "author": _account_of(source),
        "days": daily_chart({day.day: day.posts for day in days}, today=today, what="New posts"),
        "cost": cost_of(days, today=today),
        "counted": SearchCount.objects.filter(source=source).first(),
    }


def _account_of(source: Source) -> Author | None:
    """The account whose posts it reads, if it is only one and any post has come."""
    if source.kind != Source.Kind.ACCOUNT or source.account_id is None:
        return None
    return Author.objects.filter(pk=source.account_id).first()


@require_safe
@needs(VIEW_SOURCES)
@on_standby
def source_days(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """All that are kept: three months."""
    days = days_of(get_source(id).pk, since=date.min)
    rows = (
        (day.day.isoformat(), day.posts, day.again, day.late, day.billed, float(day.money))
        for day in days
    )
    return as_file(request, Table(f"source-{id}-days", _DAY_COLUMNS, rows), form)


@dataclass(frozen=True, slots=True)
class SweepUnderWay:
    """A reading under way: what for, and how far down it is."""

    purpose: str
    pages: str
    down_to: datetime | None
    pages_left: str


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    # Everything up to here is read; None until the first poll has finished.
    through: datetime | None
    k: str
    sweeping: SweepUnderWay | None


def _reading_progress(source: Source, *, now: datetime, waits: bool = False) -> ReadingProgress:
    """`waits`: something keeps the source from being read now."""
    rules, at = rules_of(source, tasks.polling()), cursor_of(source)
    # An overlap gives way while polls are due.
    resting = Sweep(**source.resting) if source.resting else None
    sweep = sweep_of(source) or resting
    k = timedelta(milliseconds=rules.k_ms)
    return ReadingProgress(
        through=_read_through(at, rules) if at else None,
        k=lasting(k) if k >= _SECOND else f"{rules.k_ms} ms",
        sweeping=_sweep_under_way(sweep, _WAITING if waits else _PURPOSES) if sweep else None,
    )


def _read_through(at: Cursor, rules: ReadingRules) -> datetime:
    return born_at(max(since_id_of(at, rules), through_id_of(at, rules)))


def _sweep_under_way(sweep: Sweep, words: Mapping[Purpose, str]) -> SweepUnderWay:
    return SweepUnderWay(
        purpose=words[sweep.purpose],
        pages=commas(sweep.pages),
        down_to=born_at(sweep.oldest_id) if sweep.oldest_id else None,
        # An overlap is always read to the end.
        pages_left="" if sweep.purpose == "overlap" else commas(sweep.pages_left),
    )
