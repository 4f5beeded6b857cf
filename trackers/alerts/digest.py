"""A regular e-mail to each person who wants it, by the person's clock: alerts, a report on a set of
tweets, what grew most, freshness, money. The channels that the person chose get it as text.

every minute: whose hour has come ─> text, HTML, pictures ─> AlertNotice, AlertMail, ChannelMessage
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.template.loader import render_to_string

from trackers.alerts import notice
from trackers.alerts.conditions import budgets
from trackers.alerts.digest_message import message_lines
from trackers.alerts.models import VIEW, AlertDigest, AlertNotice, AlertPicture
from trackers.alerts.report import Report, report_on
from trackers.alerts.rhythm import days_told, last_occasion
from trackers.alerts.text import end_address
from trackers.alerts.velocity import author_names
from trackers.alerts.view_posts import reports_on_views
from trackers.alerts.words import lasting
from trackers.channels.claim import enqueue
from trackers.channels.models import Channel
from trackers.charts.png import Chart, png
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.statistics import queue_summary
from trackers.money.models import Spending
from trackers.tweets.gains.models import Gain, Window
from tweetwatch import notation
from tweetwatch.amounts import amount
from tweetwatch.notation import Notation

_A_DAY = timedelta(days=1)
_NOTICES_MOST, _MAX_GAINS, _MAX_TITLE = 20, 5, 200
_DIGEST_METRICS = ("likes", "views")
# Of the pictures, in pixels.
_WIDTH = 600
_PAGE = "/alerts/#digest"
_NOT_SPENT = "No project has spent anything yet."
# What an account must be allowed to see to get a part of the e-mail.
_VIEW_TWEETS, _VIEW_MONEY = "trackers.view_tweet", "trackers.view_project"


@dataclass(frozen=True, slots=True)
class DigestPart:
    title: str
    lines: tuple[str, ...]
    report: Report | None = None
    path: str = _PAGE  # of a page that says more

    @property
    def sentences(self) -> Iterable[str]:
        return self.report.sentences() if self.report else self.lines


def arrange(user: User, choices: Mapping[str, Any], *, now: datetime) -> AlertDigest:
    """Begin or change a person's digest. What is chosen anew begins with the next time it is on."""
    row, _ = AlertDigest.objects.get_or_create(user=user)
    for name, value in choices.items():
        setattr(row, name, value)
    row.day = max(filter(None, (row.day, _latest(row, notation_of(user).zone, now=now))))
    row.save()
    return row


def stop_digest(user: User) -> int:
    """Returns whether there was one."""
    return AlertDigest.objects.filter(user=user).delete()[1].get("trackers.AlertDigest", 0)


def notation_of(user: User) -> Notation:
    """How this person reads times."""
    chosen = getattr(user, "time_format", None)
    return chosen.notation() if chosen else Notation()


def make_digests(*, public_url: str, now: datetime) -> int:
    """Write those whose hour has come; returns how many."""
    rows = AlertDigest.objects.select_related("user__time_format").order_by("pk")
    return sum(
        _make_digest(row, public_url=public_url, now=now) for row in rows if _is_due(row, now=now)
    )


def _is_due(row: AlertDigest, *, now: datetime) -> bool:
    latest = _latest(row, notation_of(row.user).zone, now=now)
    return row.day is None or row.day < latest


def _latest(row: AlertDigest, zone: tzinfo, *, now: datetime) -> date:
    return last_occasion(row.every, row.weekday, row.hour, zone, now=now)


def _make_digest(row: AlertDigest, *, public_url: str, now: datetime) -> int:
    """Returns 0 where there is nothing to say, or no recipient; else 1. Figures are read before the
    transaction; of two processes at once, the second waits for the row, and finds the day in it."""
    how = notation_of(row.user)
    with notation.read_as(how):
        composed = _compose(row, how.zone, public_url=public_url, now=now)
    with transaction.atomic():
        current = AlertDigest.objects.select_for_update().filter(pk=row.pk).first()
        if current is None or current.day != row.day:
            return 0
        current.day = _latest(row, how.zone, now=now)
        current.save(update_fields=["day"])
        if composed is None:
            return 0
        made = AlertNotice.objects.create(
            kind=AlertNotice.Kind.DIGEST,
            rule_name=composed.title,
            at=now,
            body=composed.body,
            html=composed.html,
            digest=current,
        )
        [mail] = notice.post(made, [row.user.email], now=now)
        AlertPicture.objects.bulk_create(
            AlertPicture(mail=mail, name=name, png=drawn) for name, drawn in composed.pictures
        )
        # Those that this person may choose now.
        offered = Channel.objects.seen_by(row.user).filter(pk__in=current.channels or [])
        enqueue(
            offered.defer("address"),
            now=now,
            notice=made,
            title=f"{composed.title}, of {row.user}"[:_MAX_TITLE],
            lines=composed.lines,
        )
    return 1


@dataclass(frozen=True, slots=True)
class _Composed:
    title: str
    body: str
    html: str
    pictures: tuple[tuple[str, bytes], ...]
    lines: list[dict[str, Any]]  # of a ChannelMessage


def _compose(row: AlertDigest, zone: tzinfo, *, public_url: str, now: datetime) -> _Composed | None:
    """None where there is nothing to say, or nobody to say it to."""
    user, today = row.user, now.astimezone(zone).date()
    days = days_told(row.every, today)
    alerts = _alerts_since(now - days * _A_DAY, user) if user.has_perm(VIEW) else []
    if not user.is_active or not user.email or not (alerts or row.when_quiet):
        return None
    report = None
    if row.report and user.has_perm(_VIEW_TWEETS):
        report = report_on(row.report, user, zone, until=today, days=days, now=now)
    length = "week" if days == 7 else "day" if days == 1 else f"{days} days"
    title = f"Your {length} until {notation.to_the_minute(now)}"
    of_views: list[Report] = []
    if row.views and user.has_perm(_VIEW_TWEETS):
        since = today - days * _A_DAY
        of_views = list(reports_on_views(row.views, user, since=since, now=now))
    reports = [*([report] if report else []), *of_views]
    parts = list(_digest_parts(user, alerts, reports, days=days, public_url=public_url, now=now))
    charts = report.charts if report else ()
    pictures = [(f"chart-{place}", chart) for place, chart in enumerate(charts)]
    body = "\n\n".join(
        "\n".join([part.title, "-" * len(part.title), *part.lines]) for part in parts
    )
    context = {
        "title": title,
        "parts": parts,
        "pictures": [(name, chart.about) for name, chart in pictures],
        "public_url": public_url,
        "end": end_address(row.pk, public_url),
    }
    return _Composed(
        title,
        body,
        render_to_string("alerts/digest.html", context) if parts else "",
        tuple((name, _drawn(chart)) for name, chart in pictures),
        message_lines(
            (part.title, part.sentences, part.path)
            for part in _without_own(parts, alerts, days=days)
        ),
    )


def _drawn(chart: Chart) -> bytes:
    return png(chart.svg(width=_WIDTH, follows_scheme=False))


def _digest_parts(
    user: User,
    alerts: Sequence[AlertNotice],
    reports: Sequence[Report],
    *,
    days: int,
    public_url: str,
    now: datetime,
) -> Iterator[DigestPart]:
    if user.has_perm(VIEW):
        yield _alerts_part(alerts, days=days)
    for report in reports:
        path = report.path or _PAGE
        yield DigestPart(report.title, tuple(report.lines(public_url)), report, path)
    if user.has_perm(_VIEW_TWEETS):
        yield DigestPart(
            "What grew most in 24 hours", tuple(_grown()) or ("Nothing.",), path="/fastest/"
        )
        yield DigestPart("Freshness", (_freshness(),), path="/operations/")
    if user.has_perm(_VIEW_MONEY):
        lines = list(_money(now.astimezone(UTC).date(), now=now))
        yield DigestPart(
            "Money, by days of UTC", tuple(lines) or (_NOT_SPENT,), path="/operations/"
        )


def _alerts_part(alerts: Sequence[AlertNotice], *, days: int) -> DigestPart:
    length = "24 hours" if days == 1 else f"{days} days"
    lines = _alert_lines(alerts, has_days=days > 1) or [f"None in the last {length}."]
    return DigestPart("Alerts", tuple(lines), path="/alerts/log/")


def _without_own(
    parts: Sequence[DigestPart], alerts: Sequence[AlertNotice], *, days: int
) -> list[DigestPart]:
    """As others may read them: in a channel are more people than the one whose digest it is."""
    shared = _alerts_part([alert for alert in alerts if alert.owner_id is None], days=days)
    return [shared if part.title == shared.title else part for part in parts]


def _alerts_since(at: datetime, user: User) -> list[AlertNotice]:
    seen = AlertNotice.objects.seen_by(user)
    notices = seen.filter(kind=AlertNotice.Kind.ALERT, at__gt=at)
    return list(notices.order_by("-pk")[: _NOTICES_MOST + 1])


def _alert_lines(alerts: Sequence[AlertNotice], *, has_days: bool) -> list[str]:
    """`has_days`: they are of more than one."""
    written = notation.to_the_minute if has_days else notation.clock
    lines = []
    for alert in alerts[:_NOTICES_MOST]:
        more = len(alert.lines) + alert.more - 1
        first = alert.lines[0]["what"] if alert.lines else ""
        name = alert.rule_name or "Trouble"
        text = f"{written(alert.at)}  {name}: {first}"
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
