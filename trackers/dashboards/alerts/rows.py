"""A rule, and a notice of the log, as the pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.alerts.notice import LINES_MOST
from trackers.alerts.words import condition
from trackers.dashboards.words import Moment, ago, ahead
from trackers.ingest.sources.models import Source
from trackers.schedule.durations import spoken
from trackers.tweets.models import Author, Tweet

About = AlertRule.About


@dataclass(frozen=True, slots=True)
class RuleRow:
    id: int
    name: str
    kind: str
    condition: str
    subject: str  # what it is about; empty: all
    link: str
    missing: str  # why it can find nothing
    tells: str
    rest: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class MailRow:
    to: str
    state: str
    mood: str  # as in a badge
    at: Moment | None  # when it was sent, or when it is tried next
    error: str


@dataclass(frozen=True, slots=True)
class NoticeRow:
    id: int
    at: Moment
    kind: str
    name: str
    rule: int | None
    lines: Sequence[dict[str, str]]
    more: int
    body: str
    mails: Sequence[MailRow]


def rule_rows(rules: Iterable[AlertRule]) -> list[RuleRow]:
    """Three queries more, however many rules there are."""
    rules = list(rules)
    names: dict[tuple[str, int], str] = {}
    for about, model in ((About.TWEET, Tweet), (About.AUTHOR, Author), (About.SOURCE, Source)):
        ids = [rule.of for rule in rules if rule.about == about and rule.of is not None]
        rows = model._default_manager.in_bulk(ids) if ids else {}
        names |= {(about, id): str(row) for id, row in rows.items()}
    return [_rule_row(rule, names) for rule in rules]


def _rule_row(rule: AlertRule, names: dict[tuple[str, int], str]) -> RuleRow:
    of = rule.of or 0
    name = names.get((rule.about, of), "")
    is_there = rule.about == About.ANY or bool(name)
    return RuleRow(
        id=rule.pk,
        name=rule.name,
        kind=rule.get_kind_display(),
        condition=f"When {condition(rule)}.",
        subject="" if rule.about == About.ANY else _subject_name(rule.about, of, name),
        link=reverse(rule.about, args=[of]) if is_there and name else "",
        missing="" if is_there else _SUBJECT_GONE[rule.about],
        tells=_recipients_text(rule),
        rest=spoken(rule.rest),
        enabled=rule.enabled,
    )


_SUBJECT_GONE: dict[str, str] = {
    About.TWEET: "This tweet is no longer tracked. Track it again, or remove the rule.",
    About.AUTHOR: "This author is not known any more. Remove the rule.",
    About.SOURCE: "This source was removed. Remove the rule, too.",
}


def _subject_name(about: str, of: int, name: str) -> str:
    return f"Tweet {of}" if about == About.TWEET else (name or f"{about} {of}")


def _recipients_text(rule: AlertRule) -> str:
    whom = [*rule.to, *(["subscribers to alerts"] if rule.by_event else [])]
    return ", ".join(whom) or "none"


def notice_rows(
    notices: Iterable[AlertNotice], *, now: datetime, most: int = LINES_MOST
) -> list[NoticeRow]:
    """`most`: at most this many lines of each."""
    return [
        NoticeRow(
            id=notice.pk,
            at=ago(notice.at, now=now),
            kind=notice.kind,
            name=notice.rule_name or ("Daily digest" if notice.body else "Built-in check"),
            rule=notice.rule_id,
            lines=notice.lines[:most],
            more=notice.more + max(0, len(notice.lines) - most),
            body=notice.body,
            mails=[_mail_row(mail, now=now) for mail in notice.mails.all()],
        )
        for notice in notices
    ]


def _mail_row(mail: AlertMail, *, now: datetime) -> MailRow:
    state = AlertMail.State
    if mail.state == state.SENT and mail.sent_at:
        return MailRow(mail.to, "sent", "ready", ago(mail.sent_at, now=now), "")
    if mail.state == state.GIVEN_UP:
        return MailRow(mail.to, "given up", "bad", None, mail.error)
    again = ahead(mail.next_at, now=now) if mail.attempts else None
    return MailRow(mail.to, "waits", "warn", again, mail.error)
