"""Every minute, count what today brought; every ten, and right after midnight, forecast.

counters, ledger ─> so far ───────────────────────────────┐
sample of the queue ─> population ─┐                     ├─> ForecastDay: yesterday, today, tomorrow
intervals, stretch, room, money ───┴─> foresee ─ learn ──┘
Pages, `status` and /metrics read the rows, which do not grow with the number of tweets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from django.db import transaction
from django.db.models import Case, F, Min, Q, Sum, Value, When
from django.db.models.functions import Coalesce

from trackers.forecasts.day import Day, Known, foresee, to_midnight
from trackers.forecasts.inputs import read_known
from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.forecasts.population import SAMPLE_FOR_DAYS, came
from trackers.ingest.files.models import Import
from trackers.ingest.sources.models import Source
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.balances import Balance, read_balances
from trackers.schedule.intervals import Plan
from tweetwatch.database import cursor

# By how much forecasts were off: those of so many last days against what happened. Paces cool, X
# answers late, people request checks: what the walk leaves out hardly changes from day to day.
DAYS = 3
# A day on which everything stood still says nothing about the next one.
MIN_CORRECTION, MAX_CORRECTION = 0.5, 2.0


def correction(past: Iterable[tuple[float, float]]) -> float:
    """Actual over foreseen, from pairs (foreseen, actual); 1 while nothing is known."""
    pairs = [*past]
    foreseen, came = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    if foreseen <= 0 or came <= 0:
        return 1.0
    return min(max(came / foreseen, MIN_CORRECTION), MAX_CORRECTION)


_ONE_DAY = timedelta(days=1)
_UPDATE_EVERY = timedelta(minutes=10)
# On the first day each minute tells more; a little less, since a task is not there to the second.
_GUESS_EVERY = timedelta(seconds=50)
# The last batches of a day are counted shortly after it ends.
_SETTLED_AFTER = timedelta(minutes=15)
# A forecast made later than this does not cover its whole day, so nothing is learned from it.
_AT_MIDNIGHT = timedelta(hours=1)
# Neither is anything from a day on which more than this share of the tweet-days were of tweets that
# came with a file, a first poll or a backfill: each costs one, and nobody could expect them.
_MOST_OTHERS = 0.05
FORECASTS_KEPT_FOR = timedelta(days=400)

_LOOKUPS_TODAY = """
    SELECT coalesce(sum(asked), 0) FROM trackers_queuecounters
    WHERE minute >= %(since)s AND minute < %(until)s AND queue = %(queue)s
"""
_SPENT = """
    SELECT project_id, posts + posts_reserved FROM trackers_spending WHERE day = %(day)s
"""


def update_forecasts(plan: Plan, *, now: datetime, gone_every: timedelta) -> None:
    """Bring the rows up to date. Does nothing while another cluster does so."""
    today = now.astimezone(UTC).date()
    ForecastDay.objects.get_or_create(day=today)
    with transaction.atomic():
        # Lock: only today's row, for as long as a sample takes. Skip it if it is locked.
        rows = ForecastDay.objects.select_for_update(skip_locked=True)
        row = rows.filter(day=today).first()
        if row is None:
            return
        if now - _begins(today) < _SETTLED_AFTER:
            _count_day(today - _ONE_DAY, now=now)
        paid = _count_day(today, now=now)
        row.refresh_from_db()
        if (
            row.expected_at is None
            or row.foreseen_at is None
            or now - row.expected_at >= (_GUESS_EVERY if row.is_guess else _UPDATE_EVERY)
        ):
            _expect(row, plan, paid, now=now, gone_every=gone_every)
            if row.foreseen_at == now:
                _close(today - _ONE_DAY)


def _begins(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), UTC)


def _count_day(day: date, *, now: datetime) -> dict[int, int]:
    """Record the look-ups and tweet-days of the day so far; return its tweet-days by project.

    If there are already more than were expected by midnight, at least these are expected.
    """
    params = {"since": _begins(day), "until": _begins(day + _ONE_DAY), "queue": TWEET_UPDATE}
    with cursor() as db:
        [lookups] = db.execute(_LOOKUPS_TODAY, params).fetchone() or (0,)
        paid: dict[int, int] = dict(db.execute(_SPENT, {"day": day}).fetchall())
    tweet_days = sum(paid.values())
    ForecastDay.objects.filter(day=day).update(
        counted_at=now,
        lookups=lookups,
        tweet_days=tweet_days,
        expected_lookups=_at_least("expected_lookups", lookups),
        expected_tweet_days=_at_least("expected_tweet_days", tweet_days),
    )
    for project, its_days in paid.items():
        ForecastOfProject.objects.update_or_create(
            day=day,
            project_id=project,
            defaults={"tweet_days": its_days, "expected": _at_least("expected", its_days)},
            create_defaults={"tweet_days": its_days},
        )
    return paid


def _at_least(field: str, came: float) -> Case:
    """The larger of the two; nothing stays nothing."""
    return Case(When(**{f"{field}__lt": came}, then=Value(float(came))), default=F(field))


def _expect(
    row: ForecastDay, plan: Plan, paid: Mapping[int, int], *, now: datetime, gone_every: timedelta
) -> None:
    """Forecast the rest of today, and tomorrow. The first forecast of a day is never changed."""
    tomorrow, _ = ForecastDay.objects.get_or_create(day=row.day + _ONE_DAY)
    balances = read_balances()
    known, why = read_known(plan, SAMPLE_FOR_DAYS, now=now, gone_every=gone_every)
    is_guess = _is_first_day(now=now)
    for one in (row, tomorrow):
        one.expected_at, one.why, one.is_guess = now, why, is_guess
        one.expected_lookups = one.expected_tweet_days = None
    ForecastOfProject.objects.filter(day__gte=row.day).update(expected=None, unlimited=None)
    if known is not None:
        known = _with_money(known, row.day, balances, paid)
        rest, next_day = foresee(known, to_midnight=to_midnight(now))
        row.expected_lookups = (row.lookups or 0) + rest.lookups
        row.expected_tweet_days = (row.tweet_days or 0) + rest.tweet_days
        tomorrow.expected_lookups = next_day.lookups
        tomorrow.expected_tweet_days = next_day.tweet_days
        if row.foreseen_at is None:
            row.known_lookups = (row.lookups or 0) + rest.known_lookups
            row.new_lookups, row.new_days = rest.new_lookups, rest.new_days
            row.known_days = (row.tweet_days or 0) + rest.known_days
            row.newcomers = rest.newcomers
            row.lookups_correction = known.lookups_correction
            row.days_correction = known.days_correction
        _of_projects(row, rest, balances, paid, is_first=row.foreseen_at is None)
        _of_projects(tomorrow, next_day, balances, {}, is_first=False)
    if row.foreseen_at is None:
        row.foreseen_at = now
    row.save()
    tomorrow.save()


def _is_first_day(*, now: datetime) -> bool:
    """Whether too little has been seen to know how many posts a day brings."""
    read = Source.objects.active().exclude(kind=Source.Kind.IMPORT)
    begun = read.aggregate(at=Min(Coalesce("first_read_at", "created_at")))["at"]
    first = ForecastDay.objects.exclude(foreseen_at=None).order_by("day").first()
    begins = [at for at in (begun, first.foreseen_at if first else now) if at]
    return now - max(begins) < _ONE_DAY


def _with_money(
    known: Known, today: date, balances: Sequence[Balance], paid: Mapping[int, int]
) -> Known:
    """What the day's budgets leave, and what earlier forecasts were off by."""
    left = {
        balance.project: (None, None)
        if balance.left is None
        # Tomorrow's share of a monthly budget is about the same as today's.
        else (float(balance.left), float(balance.left + paid.get(balance.project, 0)))
        for balance in balances
        if balance.usable
    }
    of_lookups, of_days = corrections(today)
    return replace(known, left=left, lookups_correction=of_lookups, days_correction=of_days)


def corrections(today: date) -> tuple[float, float]:
    """Corrections of look-ups and of tweet-days, from the last days with a whole-day forecast."""
    lookups, days = [], []
    past = ForecastDay.objects.filter(day__lt=today, day__gte=today - _ONE_DAY * DAYS)
    for forecast in past.exclude(newcomers_came=None).exclude(known_lookups=None):
        if (
            forecast.foreseen_at is None
            or forecast.foreseen_at - _begins(forecast.day) > _AT_MIDNIGHT
            or (forecast.others_came or 0.0) > _MOST_OTHERS * (forecast.tweet_days or 0)
        ):
            continue
        # Scaled to the new tweets that really came: more of them are not an error of the walk.
        more = (forecast.newcomers_came or 0.0) / forecast.newcomers if forecast.newcomers else 1.0
        foreseen = (forecast.known_lookups or 0.0) + (forecast.new_lookups or 0.0) * more
        lookups.append((foreseen / forecast.lookups_correction, float(forecast.lookups or 0)))
        old = (forecast.tweet_days or 0) - (forecast.new_days or 0.0) * more
        days.append(((forecast.known_days or 0.0) / forecast.days_correction, max(0.0, old)))
    return correction(lookups), correction(days)


def _of_projects(
    row: ForecastDay,
    day: Day,
    balances: Sequence[Balance],
    paid: Mapping[int, int],
    *,
    is_first: bool,
) -> None:
    for balance in balances:
        if balance.project not in day.projects:
            continue
        so_far = paid.get(balance.project, 0)
        whole = so_far + day.projects[balance.project]
        if balance.left is not None:
            whole = min(whole, so_far + max(balance.left, 0))
        written = {"expected": whole, **({"foreseen": whole} if is_first else {})}
        written["unlimited"] = so_far + day.unlimited[balance.project]
        ForecastOfProject.objects.update_or_create(
            day=row.day, project_id=balance.project, defaults=written
        )


def _close(day: date) -> None:
    """Record how many new tweets a day brought, once it is over. Of an import that took several
    days, each of them brought all: a day with one teaches nothing."""
    since, until = _begins(day), _begins(day + _ONE_DAY)
    imports = Import.objects.filter(paused=False, began_at__lt=until)
    imports = imports.filter(Q(ended_at=None) | Q(ended_at__gte=since))
    of_files = imports.aggregate(tweets=Sum("tracked"))["tweets"] or 0
    tweets = came(since, until)
    ForecastDay.objects.filter(day=day).update(
        newcomers_came=tweets.newcomers, others_came=tweets.others + of_files
    )


def prune_forecasts(*, today: date) -> int:
    """Delete forecasts older than a year."""
    ForecastOfProject.objects.filter(day__lt=today - FORECASTS_KEPT_FOR).delete()
    return ForecastDay.objects.filter(day__lt=today - FORECASTS_KEPT_FOR).delete()[0]
