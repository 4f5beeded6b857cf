"""The page of one source: how far it is read, what is missing, what it brought and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import SOURCES, TWEETS, needs
from trackers.dashboards.daily import daily, first_day
from trackers.dashboards.exports import as_file
from trackers.dashboards.follow_buttons import buttons_for
from trackers.dashboards.parts import Read, show
from trackers.dashboards.sources.connection import connection_of
from trackers.dashboards.sources.line import line
from trackers.dashboards.sources.progress import Reading, reading
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.usual import COMPARED, usual
from trackers.dashboards.words import Moment, ago, counted, exactly, lasting
from trackers.ingest.sources.days import Cost, SourceDay, cost_of, days_of
from trackers.ingest.sources.models import Gap, Source, SourceTweet
from trackers.ingest.sources.naming import short
from trackers.ingest.sources.standing import Standing, standings
from trackers.schedule.intervals import Plan, current
from trackers.schedule.models import BulkAct
from trackers.tweets.growth.earlier import of_these
from trackers.tweets.models import Author, Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.tables import Column, Table

NEWEST, LATE_MOST, GAPS_MOST = 20, 50, 50
# States in which nothing is read, although a poll may have been begun.
WAITS = ("no_money", "problem", "hidden", "not_found")

HELPS = {
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
# Since May 2026 X's search omits retweets when it looks for words or tags, without saying so.
FILLED_BY_SEARCH = "filled, except for retweets, which X's search does not show"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A gap in the table, as the times contained in its ids."""

    since: str
    until: str
    why: str
    found: Moment
    state: str
    mood: str
    closed: Moment | None
    helps: str


@dataclass(frozen=True, slots=True)
class Late:
    """A post that appeared below a cursor that had already passed it."""

    id: str
    born: Moment
    seen: Moment
    by: str


@require_safe
@needs(SOURCES, rows=TWEETS)
def source(request: HttpRequest, id: int) -> HttpResponse:
    found = find(id)
    now, plan = current()
    parts: dict[str, Read] = {
        "figures": lambda: figures(found, now=now),
        "detail": lambda: shown(found, now=now),
    }
    if request.user.has_perm(TWEETS):
        parts["rows"] = lambda: newest(found, plan, now=now)
    return show(
        request,
        "dashboards/sources/detail.html",
        parts,
        shared={"now": now, "source": found},
        frame=lambda: {"buttons": buttons_for(request.user, source_id=id)},
    )


def shown(source: Source, *, now: datetime) -> dict[str, object]:
    [standing] = standings([source], now=now)
    return {
        "line": line(standing, now=now),
        "reading": how_far(standing, now=now),
        "report": standing.report,
        "connection": connection_of(standing.stream, now=now)
        if source.kind == Source.Kind.STREAM
        else None,
        "gaps": gaps(source, now=now),
        "late": late(source, now=now),
        "late_more": source.leaked > LATE_MOST,
        "created": ago(source.created_at, now=now),
        "paused": ago(source.paused_at, now=now) if source.paused_at else None,
        "leaving": leaving(source),
    }


def leaving(source: Source) -> BulkAct | None:
    """The act that untracks its tweets and removes it then."""
    return BulkAct.objects.filter(source=source.pk, finished_at=None).first()


def how_far(standing: Standing, *, now: datetime) -> Reading | None:
    """Of what is polled; a stream and a file have no cursor."""
    if not standing.source.is_polled:
        return None
    return reading(standing.source, now=now, waits=standing.state in WAITS)


def gaps(source: Source, *, now: datetime) -> list[Stretch]:
    """Open and lost ones first, then those closed most recently."""
    missing = list(source.gaps.filter(closed_at=None)[:GAPS_MOST])
    closed = source.gaps.exclude(closed_at=None).order_by("-closed_at")
    rest = list(closed[: max(0, GAPS_MOST - len(missing))])
    return [stretch(gap, source, now=now) for gap in [*missing, *rest]]


def stretch(gap: Gap, source: Source, *, now: datetime) -> Stretch:
    state, mood = state_of(gap, source)
    return Stretch(
        since="the beginning" if not gap.from_id else exactly(born_at(gap.from_id)),
        until=exactly(born_at(gap.to_id)),
        why=gap.get_why_display(),
        found=ago(gap.found_at, now=now),
        state=state,
        mood=mood,
        closed=ago(gap.closed_at, now=now) if gap.closed_at else None,
        helps=helps(gap),
    )


def state_of(gap: Gap, source: Source) -> tuple[str, str]:
    if gap.is_given_up:
        return "given up", "warn"
    if gap.closed_at:
        return "filled", "ready"
    if gap.is_lost:
        return "lost", "bad"
    if source.filling_id == gap.pk:
        return "being filled", "warn"
    return "open", "warn"


def late(source: Source, *, now: datetime) -> list[Late]:
    found = source.tweets.filter(late=True).order_by("-tweet_id")[:LATE_MOST]
    return [late_one(one, now=now) for one in found]


def late_one(one: SourceTweet, *, now: datetime) -> Late:
    born = born_at(one.tweet_id)
    return Late(
        id=str(one.tweet_id),
        born=ago(born, now=now),
        seen=ago(one.seen_at, now=now),
        by=lasting(one.seen_at - born),
    )


def newest(source: Source, plan: Plan, *, now: datetime) -> dict[str, object]:
    ids = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    chosen = list(ids.values_list("tweet_id", flat=True)[:NEWEST])
    tweets = Tweet.objects.select_related("author", "tweettext").filter(pk__in=chosen)
    found = list(tweets.newest_first())
    return {"labels": LABELS.values(), "rows": rows(found, plan, now=now)}


def helps(gap: Gap) -> str:
    """What fills it; or what is still missing of it, now that it is filled or given up."""
    if gap.was_of:
        then = f"of “{short(gap.was_of)}”, as the source was then"
        return then if gap.closed_at else f"{then}; only an imported file can fill it"
    if gap.closed_at is None:
        return HELPS[Gap.Why(gap.why)]
    return FILLED_BY_SEARCH if gap.is_of_stream else ""


@dataclass(frozen=True, slots=True)
class CostWords:
    """`over`: the days that it is the average of."""

    a_day: str
    a_post: str
    billed: str
    money: str
    over: str


def find(id: int) -> Source:
    try:
        return Source.objects.get(pk=id)
    except (Source.DoesNotExist, OverflowError):
        raise Http404(f"There is no source {id}.") from None


def figures(source: Source, *, now: datetime) -> dict[str, object]:
    today = now.astimezone(UTC).date()
    found = days_of(source.pk, since=first_day(today))
    newest = SourceTweet.objects.filter(source=source).order_by("-tweet_id")
    ids = list(newest.values_list("tweet_id", flat=True)[:COMPARED])
    return {
        "author": author_of(source),
        "days": daily({one.day: one.posts for one in found}, today=today, what="New posts"),
        "cost": cost_words(found, today=today),
        "usual": usual(of_these(ids), now=now),
    }


def author_of(source: Source) -> Author | None:
    """The account whose posts it reads, if it is only one and any post has come."""
    if source.kind != Source.Kind.ACCOUNT or source.account_id is None:
        return None
    return Author.objects.filter(pk=source.account_id).first()


def cost_words(found: list[SourceDay], *, today: date) -> CostWords | None:
    cost: Cost | None = cost_of(found, today=today)
    if cost is None:
        return None
    return CostWords(
        a_day=fine(cost.a_day),
        a_post="–" if cost.a_post is None else fine(cost.a_post),
        billed=counted(cost.billed),
        money=fine(cost.money),
        over="today" if cost.days == 1 else f"in the last {cost.days} days",
    )


def fine(amount: Decimal) -> str:
    """To a hundredth of a cent below a dollar: a post costs half a cent."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}" if amount else "$0"


COLUMNS = (
    Column("day", "text"),
    Column("posts", "whole"),
    Column("repeats", "whole"),
    Column("late", "whole"),
    Column("tweet_days_billed", "whole"),
    Column("dollars", "number"),
)


@require_safe
@needs(SOURCES)
def source_days(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """All that are kept: three months."""
    found = days_of(find(id).pk, since=date.min)
    rows = (
        (one.day.isoformat(), one.posts, one.again, one.late, one.billed, float(one.money))
        for one in found
    )
    return as_file(request, Table(f"source-{id}-days", COLUMNS, rows), form)
