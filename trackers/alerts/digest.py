"""A daily e-mail to each person who wants it: alerts, what grew most, freshness, money.

every minute: whose hour has come ─> the text ─> AlertNotice and AlertMail, in one transaction
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from trackers.alerts import notice
from trackers.alerts.conditions import budgets
from trackers.alerts.models import AlertDigest, AlertNotice
from trackers.alerts.velocity import author_names
from trackers.alerts.words import lasting
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.statistics import queue_summary
from trackers.money.models import Spending
from trackers.tweets.gains.models import Gain, Window
from tweetwatch.amounts import amount

_A_DAY = timedelta(days=1)
_NOTICES_MOST, _MAX_GAINS = 20, 5
_DIGEST_METRICS = ("likes", "views")
# What an account must be allowed to see to get a part of the e-mail.
_VIEW_TWEETS, _VIEW_MONEY, _VIEW_RULES = (
    f"trackers.view_{what}" for what in ("tweet", "project", "alertrule")
)


def arrange(user: User, *, hour: int, when_quiet: bool, now: datetime) -> AlertDigest:
    """Begin or change a person's digest. One that begins after its hour begins tomorrow."""
    at = now.astimezone(UTC)
    first = {"day": at.date() if at.hour >= hour else None}
    params = {"hour": hour, "when_quiet": when_quiet}
    row, _ = AlertDigest.objects.update_or_create(
        user=user, defaults=params, create_defaults={**params, **first}
    )
    return row


def stop_digest(user: User) -> None:
    AlertDigest.objects.filter(user=user).delete()


def make_digests(*, now: datetime) -> int:
    """Write those whose hour has come today; returns how many. Of two processes at once, the second
    waits for the row, and finds today's date in it."""
    today, hour = now.astimezone(UTC).date(), now.astimezone(UTC).hour
    is_due = Q(hour__lte=hour) & (Q(day=None) | Q(day__lt=today))
    made = 0
    for id in AlertDigest.objects.filter(is_due).order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = AlertDigest.objects.select_for_update().filter(is_due, pk=id).first()
            if row is not None:
                row.day = today
                row.save(update_fields=["day"])
                made += _send_digest(row, now=now)
    return made


def _send_digest(row: AlertDigest, *, now: datetime) -> int:
    """Returns 0 where there is nothing to say, or no recipient; else 1."""
    user = User.objects.get(pk=row.user_id)
    alerts = _alerts_since(now - _A_DAY) if user.has_perm(_VIEW_RULES) else []
    if not user.is_active or not user.email or not (alerts or row.when_quiet):
        return 0
    body = "\n\n".join(_digest_parts(user, alerts, now=now))
    made = AlertNotice.objects.create(kind=AlertNotice.Kind.DIGEST, at=now, body=body)
    notice.post(made, [user.email], now=now)
    return 1


def _digest_parts(user: User, alerts: Sequence[AlertNotice], *, now: datetime) -> Iterator[str]:
    if user.has_perm(_VIEW_RULES):
        yield _titled("Alerts", _alert_lines(alerts) or ["None in the last 24 hours."])
    if user.has_perm(_VIEW_TWEETS):
        yield _titled("What grew most in 24 hours", list(_grown()) or ["Nothing."])
        yield _titled("Freshness", [_freshness()])
    if user.has_perm(_VIEW_MONEY):
        today = now.astimezone(UTC).date()
        lines = list(_money(today, now=now))
        yield _titled("Money", lines or ["No project has spent anything yet."])


def _titled(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def _alerts_since(at: datetime) -> list[AlertNotice]:
    notices = AlertNotice.objects.filter(kind=AlertNotice.Kind.ALERT, at__gt=at)
    return list(notices.order_by("-pk")[: _NOTICES_MOST + 1])


def _alert_lines(alerts: Sequence[AlertNotice]) -> list[str]:
    lines = []
    for alert in alerts[:_NOTICES_MOST]:
        more = len(alert.lines) + alert.more - 1
        first = alert.lines[0]["what"] if alert.lines else ""
        name = alert.rule_name or "Trouble"
        text = f"{alert.at.astimezone(UTC):%H:%M}  {name}: {first}"
        lines.append(f"{text} And {more:,} more." if more > 0 else text)
    if len(alerts) > _NOTICES_MOST:
        lines.append("Older ones are on the page of alerts.")
    return lines


def _grown() -> Iterator[str]:
    for metric in _DIGEST_METRICS:
        rows = Gain.objects.fastest(Window.DAY, metric, by="gain")[:_MAX_GAINS]
        authors = author_names({row.tweet.author_id for row in rows if row.tweet.author_id})
        for row in rows:
            whose = authors.get(row.tweet.author_id or 0, "")
            whose = f" of {whose}" if whose else ""
            yield f"+{row.gain:,} {metric}: tweet {row.tweet_id}{whose}"


def _freshness() -> str:
    statistics = queue_summary(TWEET_UPDATE)
    if not statistics.scheduled:
        return "No tweet has a next check."
    late = timedelta(seconds=statistics.oldest_due_seconds)
    of = f"{amount(statistics.scheduled, 'tweet')} with a next check; due now: {statistics.due:,}."
    if late < timedelta(minutes=1):
        return f"Everything is fresh. {of}"
    return f"The most overdue tweet should have been checked {lasting(late)} ago. {of}"


def _money(today: date, *, now: datetime) -> Iterator[str]:
    before = {
        spending.project_id: spending
        for spending in Spending.objects.filter(day=today - timedelta(days=1))
    }
    for summary, wrong in budgets(now=now):
        past = before.get(summary.project.pk)
        yesterday = (
            f"{past.posts:,} tweet-days and ${past.money:,.2f} yesterday"
            if past
            else ("nothing yesterday")
        )
        yield (
            f"{summary.project.name}: {yesterday}, ${summary.spent.money_month:,.2f} this month. "
            f"{wrong}".strip()
        )
