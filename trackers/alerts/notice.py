"""Turns news into notices, the lines of the log: one per rule and minute, however much it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from trackers.alerts.kinds import Kind
from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.outbox.findings import News

# How many of a rule's alerts in one minute are kept in full; the others are only counted.
LINES_MOST = 20


def make(news: Sequence[News], rules: Iterable[AlertRule], *, now: datetime) -> None:
    """Call it in the transaction of the news. What tweetwatch finds by itself goes to the rules of
    that kind; it is logged even without one."""
    by_id = {one.pk: one for one in rules}
    of_rules: dict[int, list[News]] = {}
    by_itself = []
    for one in news:
        if one.look.rule is None:
            by_itself.append(one)
        else:
            of_rules.setdefault(one.look.rule, []).append(one)
    for id, found in of_rules.items():
        add(by_id[id], found, now=now)
    if by_itself:
        heard = [one for one in by_id.values() if one.kind == Kind.TROUBLE]
        listening: list[AlertRule | None] = [*heard] or [None]
        for rule in listening:
            add(rule, by_itself, now=now)


def add(rule: AlertRule | None, news: Sequence[News], *, now: datetime) -> AlertNotice:
    made = AlertNotice.objects.create(
        rule=rule,
        rule_name=rule.name if rule else "",
        at=now,
        lines=[line(one) for one in news[:LINES_MOST]],
        more=max(0, len(news) - LINES_MOST),
    )
    if rule:
        post(made, rule.to, now=now)
    return made


def line(one: News) -> dict[str, str]:
    look = one.look
    return {
        "what": one.what, "url": look.url, "state": one.state, "kind": look.kind, "of": look.of,
    }  # fmt: skip


def post(notice: AlertNotice, to: Iterable[str], *, now: datetime) -> list[AlertMail]:
    """Queue an e-mail to each address."""
    return AlertMail.objects.bulk_create(
        AlertMail(notice=notice, to=one, made_at=now, next_at=now) for one in dict.fromkeys(to)
    )
