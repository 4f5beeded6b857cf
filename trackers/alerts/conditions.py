"""Lasting conditions: late checks, failing credentials, leaking or hidden sources, dry budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from trackers.alerts.kinds import RuleKind
from trackers.alerts.models import AlertRule
from trackers.alerts.words import lasting
from trackers.credentials.models import Credential
from trackers.forecasts.stored import stored_forecast
from trackers.ingest.sources.models import Source, SourceDay
from trackers.ingest.sources.status import HIDDEN
from trackers.jobs import pausing
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.statistics import queue_summary
from trackers.money.summary import MoneySummary, allowed, money_summaries
from trackers.money.summary import Spent as Spending
from trackers.outbox.findings import NO_PATIENCE, Observation
from trackers.schedule.durations import spoken
from tweetwatch.amounts import amount
from tweetwatch.clock_times import clock_time

_OPERATIONS = "/operations/"
# So that a bad day of very many sources stays one e-mail.
SOURCES_MOST = 200

Findings = tuple[list[Observation], set[int]]


def lasting_findings(rules: Iterable[AlertRule], *, now: datetime) -> Findings:
    """Observations for these rules, and which of them were judged: one or two queries a kind."""
    observations: list[Observation] = []
    judged: set[int] = set()
    for kind, look_at in _LOOKED.items():
        chosen = [one for one in rules if one.kind == kind]
        if chosen and (found := look_at(chosen, now)) is not None:
            observations += found
            judged |= {one.pk for one in chosen}
    return observations, judged


def _of_rule(
    rule: AlertRule, kind: str, of: str, wrong: str, over: str, url: str, **more: timedelta
) -> Observation:
    return Observation(
        kind,
        of,
        wrong,
        over,
        url,
        rule=rule.pk,
        patience=more.get("patience", NO_PATIENCE),
        rest=rule.rest,
        is_event=rule.by_event,
        data={"rule": rule.name},
    )


def _lateness(rules: list[AlertRule], now: datetime) -> list[Observation] | None:
    """None while a person has paused the look-ups: being late is then expected."""
    if pausing.paused_all() or Queue.objects.filter(name=TWEET_UPDATE, paused=True).exists():
        return None
    late = timedelta(seconds=queue_summary(TWEET_UPDATE).oldest_due_seconds)
    sentence = f"The most overdue tweet should have been checked {lasting(late)} ago."
    return [
        _of_rule(
            rule,
            *("queue", TWEET_UPDATE, sentence if late > rule.late_by else ""),
            *(f"No tweet is more than {spoken(rule.late_by)} late any more.", _OPERATIONS),
            patience=rule.lasting,
        )
        for rule in rules
    ]


def _credentials(rules: list[AlertRule], now: datetime) -> list[Observation]:
    """Looks of each credential. A disabled one has not failed."""
    return [
        _of_rule(
            rule,
            *("credential", one.name, _failing(one)),
            *("X accepts it again.", f"/admin/trackers/credential/{one.pk}/change/"),
        )
        for one in Credential.objects.all()
        for rule in rules
    ]


def _failing(credential: Credential) -> str:
    because = credential.disabled_reason or credential.renewal_problem or credential.refused_keys
    return f"The credential {credential.name} fails: {because}" if because else ""


def _sources(rules: list[AlertRule], now: datetime) -> list[Observation]:
    """Looks of those that are hidden, or leaked today; others have none: their trouble is over."""
    today = now.astimezone(UTC).date()
    named = [rule.of for rule in rules if rule.of is not None]
    hidden = Source.objects.exclude(hidden_reason="").order_by("pk")
    days = SourceDay.objects.filter(day=today, late__gt=0).order_by("-late", "source")
    late = days.values_list("source_id", "late")
    # Those with a rule of their own first: the others are limited, and always the same ones, so
    # that no trouble ends because another one took its place.
    sources_by_id = hidden.in_bulk(named)
    leaked = dict(late.filter(source__in=named))
    if len(named) < len(rules):
        sources_by_id |= {one.pk: one for one in hidden[:SOURCES_MOST]}
        leaked |= dict(late[:SOURCES_MOST])
    sources_by_id |= Source.objects.in_bulk(leaked)
    observations = []
    for source in sources_by_id.values():
        for what, wrong in source_faults(source, leaked.get(source.pk, 0)):
            observations += [
                _of_rule(
                    *(rule, what, str(source.pk), wrong, ""),
                    f"/sources/{source.pk}/",
                )
                for rule in rules
                if rule.of in (None, source.pk)
            ]
    return observations


def source_faults(source: Source, leaked: int) -> Iterator[tuple[str, str]]:
    if source.hidden_reason:
        why = HIDDEN.get(source.hidden_reason, source.problem or source.hidden_reason)
        yield "hidden", f"X does not show the source {source}: {why.removesuffix('.')}."
    if leaked:
        posts = "post" if leaked == 1 else "posts"
        yield (
            "leak",
            f"{leaked:,} {posts} were missed by the polls of {source} today, and found later.",
        )


def _budgets(rules: list[AlertRule], now: datetime) -> list[Observation]:
    """Looks of each project."""
    return [
        _of_rule(
            *(rule, "project", one.project.name, wrong),
            *(f"The budget of {one.project.name} is enough again.", _OPERATIONS),
        )
        for one, wrong in budgets(now=now)
        for rule in rules
    ]


def budgets(*, now: datetime) -> Iterator[tuple[MoneySummary, str]]:
    """Every project, and why its money will not last until the end of tomorrow, if so."""
    forecast = stored_forecast(now=now, with_projects=True)
    known = forecast.projects if forecast.is_fresh else ()
    needed = {each.name: each.unlimited_tomorrow for each in known}
    for summary in money_summaries():
        yield summary, dry(summary, needed.get(summary.project.name), now=now)


def dry(summary: MoneySummary, needed_tomorrow: float | None, *, now: datetime) -> str:
    """As `budgets`; empty also if unknown. `needed_tomorrow`: tweet-days by the forecast, as if the
    budgets had room for them."""
    project, name = summary.project, summary.project.name
    if project.is_depleted(now=now):
        return (
            f"X says that project {name} has used up its credits, its spending limit or its "
            "monthly cap."
        )
    # Where it cannot pay, others pay for its tweets, or nobody does: then that is the trouble.
    if summary.left is None or not summary.can_pay or not summary.is_estimated(now=now):
        return ""
    if summary.waiting:
        dry_at = summary.runs_dry_at
        when = f"at {clock_time(dry_at, now=now, seconds=False)}" if dry_at else "today"
        return (
            f"The budget of project {name} runs dry {when}: about "
            f"{amount(summary.waiting, 'tweet')} cannot be checked before 00:00 UTC. Raise it in "
            "the admin."
        )
    tomorrow = allowed_tomorrow(summary)
    if tomorrow is None or needed_tomorrow is None or needed_tomorrow <= tomorrow:
        return ""
    return (
        f"The budget of project {name} runs dry tomorrow: by the forecast it needs "
        f"{amount(round(needed_tomorrow), 'tweet-day')}, and has {max(0, tomorrow):,} left. Raise "
        "it in the admin."
    )


def allowed_tomorrow(summary: MoneySummary) -> int | None:
    """How many tweet-days all budgets allow tomorrow, if today goes on as forecast."""
    day = summary.day + timedelta(days=1)
    needs = summary.project.needs or 0
    is_new_month = day.day == 1
    spent = Spending(
        posts_month=0 if is_new_month else summary.spent.posts_month + needs,
        money_month=summary.spent.money_month * 0
        if is_new_month
        else summary.spent.money_month + summary.project.cost_of_posts(needs),
    )
    found = allowed(summary.project, spent, day=day)
    return min(found.values()) if found else None


_LOOKED = {
    RuleKind.LATENESS: _lateness,
    RuleKind.CREDENTIAL: _credentials,
    RuleKind.SOURCE: _sources,
    RuleKind.BUDGET: _budgets,
}
