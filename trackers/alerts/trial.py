"""Tests a rule while a person waits: its e-mails, its channels, and an event. It is logged, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from trackers.alerts import notice
from trackers.alerts.mail import send_these, wait_until
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.smtp import NOT_SET, Verdict
from trackers.alerts.words import condition
from trackers.channels.acts import answers_to, send_tests
from trackers.outbox.models import ALERTS_TOPIC, Topic
from trackers.outbox.publish import NewEvent, publish_events
from tweetwatch.servers import MailServer

# No other process sends it meanwhile. If this one dies, the task sends it.
_A_WHILE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Tested:
    """The outcome, in sentences."""

    sentences: str
    is_well: bool  # all of it succeeded


def try_out(
    rule: AlertRule, server: MailServer | None, *, public_url: str, now: datetime
) -> Tested:
    """Send to all addresses of the rule despite its pause; and to subscribers, if it tells them."""
    what = f"This is a test. The rule tells you when {condition(rule)}."
    url = f"/alerts/{rule.pk}/"
    with transaction.atomic():
        made = AlertNotice.objects.create(
            kind=AlertNotice.Kind.TEST,
            rule=rule,
            rule_name=rule.name,
            owner_id=rule.owner_id,
            at=now,
            lines=[{"what": what, "url": url, "state": "down", "kind": "rule", "of": rule.name}],
        )
        if rule.by_event:
            data = {"rule": rule.name, "state": "test", "what": what}
            publish_events([NewEvent(ALERTS_TOPIC, "create", url=url, data=data)])
        mails = notice.post(made, rule.addresses if server else (), now=now)
        wait_until(mails, now + _A_WHILE)
        messages = send_tests(list(rule.told_channels()), **notice.message_fields(made))
    verdicts = send_these(mails, server, public_url=public_url) if server else []
    answers = answers_to(messages)
    sentences = [
        *_of_mail(rule, server, verdicts, has_channels=bool(messages)),
        *(answer.message for answer in answers),
        *_of_event(rule),
    ]
    is_well = all(one.is_sent for one in verdicts) and bool(server or not rule.addresses)
    is_well = is_well and all(answer.is_done for answer in answers)
    return Tested(
        " ".join(sentences), is_well and bool(rule.addresses or messages or rule.by_event)
    )


def _of_mail(
    rule: AlertRule, server: MailServer | None, verdicts: Sequence[Verdict], *, has_channels: bool
) -> list[str]:
    to = rule.addresses
    if not to and has_channels:
        return []
    if not to:
        return ["It has no e-mail address." if rule.by_event else _NO_RECIPIENTS]
    if server is None:
        return [NOT_SET]
    failed = [
        f"{at}: {one.reason}" for at, one in zip(to, verdicts, strict=False) if not one.is_sent
    ]
    sent = [at for at, one in zip(to, verdicts, strict=False) if one.is_sent]
    return [*([f"A test is on its way to {', '.join(sent)}."] if sent else []), *failed]


_NO_RECIPIENTS = (
    "This rule has no recipients: add an e-mail address or a channel, or also send it as an event."
)


def _of_event(rule: AlertRule) -> list[str]:
    if not rule.by_event:
        return []
    if Topic.objects.filter(name=ALERTS_TOPIC, wanted=True).exists():
        return ["Subscribers to the topic alerts get an event."]
    return ["Nobody subscribes to the topic alerts yet."]
