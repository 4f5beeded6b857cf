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
class RuleLine:
    """`subject`: what it is about; empty: all. `missing`: why it can find nothing."""

    id: int
    name: str
    kind: str
    said: str
    subject: str
    link: str
    missing: str
    tells: str
    rest: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class MailLine:
    """`mood` as in a badge; `at`: when it was sent, or when it is tried next."""

    to: str
    state: str
    mood: str
    at: Moment | None
    error: str


@dataclass(frozen=True, slots=True)
class NoticeLine:
    id: int
    at: Moment
    kind: str
    name: str
    rule: int | None
    lines: Sequence[dict[str, str]]
    more: int
    body: str
    mails: Sequence[MailLine]


def rule_lines(rules: Iterable[AlertRule]) -> list[RuleLine]:
    """Three queries more, however many rules there are."""
    rules = list(rules)
    names: dict[tuple[str, int], str] = {}
    for about, model in ((About.TWEET, Tweet), (About.AUTHOR, Author), (About.SOURCE, Source)):
        ids = [one.of for one in rules if one.about == about and one.of is not None]
        found = model._default_manager.in_bulk(ids) if ids else {}
        names |= {(about, id): str(row) for id, row in found.items()}
    return [rule_line(one, names) for one in rules]


def rule_line(rule: AlertRule, names: dict[tuple[str, int], str]) -> RuleLine:
    of = rule.of or 0
    name = names.get((rule.about, of), "")
    is_there = rule.about == About.ANY or bool(name)
    return RuleLine(
        id=rule.pk,
        name=rule.name,
        kind=rule.get_kind_display(),
        said=f"When {condition(rule)}.",
        subject="" if rule.about == About.ANY else called(rule.about, of, name),
        link=reverse(rule.about, args=[of]) if is_there and name else "",
        missing="" if is_there else GONE[rule.about],
        tells=tells(rule),
        rest=spoken(rule.rest),
        enabled=rule.enabled,
    )


GONE: dict[str, str] = {
    About.TWEET: "This tweet is no longer tracked. Track it again, or remove the rule.",
    About.AUTHOR: "This author is not known any more. Remove the rule.",
    About.SOURCE: "This source was removed. Remove the rule, too.",
}


def called(about: str, of: int, name: str) -> str:
    return f"Tweet {of}" if about == About.TWEET else (name or f"{about} {of}")


def tells(rule: AlertRule) -> str:
    whom = [*rule.to, *(["subscribers to alerts"] if rule.by_event else [])]
    return ", ".join(whom) or "none"


def notice_lines(
    notices: Iterable[AlertNotice], *, now: datetime, most: int = LINES_MOST
) -> list[NoticeLine]:
    """`most`: at most this many lines of each."""
    return [
        NoticeLine(
            id=one.pk,
            at=ago(one.at, now=now),
            kind=one.kind,
            name=one.rule_name or ("Daily digest" if one.body else "Built-in check"),
            rule=one.rule_id,
            lines=one.lines[:most],
            more=one.more + max(0, len(one.lines) - most),
            body=one.body,
            mails=[mail_line(mail, now=now) for mail in one.mails.all()],
        )
        for one in notices
    ]


def mail_line(mail: AlertMail, *, now: datetime) -> MailLine:
    state = AlertMail.State
    if mail.state == state.SENT and mail.sent_at:
        return MailLine(mail.to, "sent", "ready", ago(mail.sent_at, now=now), "")
    if mail.state == state.GIVEN_UP:
        return MailLine(mail.to, "given up", "bad", None, mail.error)
    again = ahead(mail.next_at, now=now) if mail.attempts else None
    return MailLine(mail.to, "waits", "warn", again, mail.error)
