"""Sends the waiting e-mails: claimed, sent outside a transaction, settled.

claim ─ attempts + 1, tried again later ─> SMTP ─> sent, or why not

At least once: if a process is killed after the server accepted an e-mail and before `settle`, it is
sent again. It has the same Message-ID then, by which most mailboxes show it once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Lower, Now
from django.utils import timezone

from trackers.alerts import smtp, text
from trackers.alerts.models import AlertMail, AlertPicture
from trackers.alerts.notice import quiet_addresses
from trackers.alerts.smtp import Verdict
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.servers import MailServer

logger = logging.getLogger(__name__)

# After that long nobody needs it.
_GIVEN_UP_AFTER = timedelta(days=1)
FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)
_GIVEN_UP = "Given up after a day. "

# The wait doubles with each attempt. It begins with the claim, so that an e-mail whose process
# died is not tried at once by the next one, which may die of it too.
# SKIP LOCKED: several may send concurrently, and do not wait for each other's claims. What waited
# through quiet hours goes with the first of it, whose row is the lock of all.
_CLAIM_MAIL = """
    UPDATE trackers_alertmail m SET
        attempts = least(m.attempts + 1, 32767),
        next_at = clock_timestamp()
                  + least(%(first)s * power(2, least(m.attempts, 20)), %(longest)s)
    FROM (
        SELECT id, "to", held FROM trackers_alertmail d
        WHERE state = 'waiting' AND next_at <= clock_timestamp()
          AND lower("to") <> ALL(%(quiet)s::text[])
          AND NOT (held AND EXISTS (
              SELECT FROM trackers_alertmail o
              WHERE o.state = 'waiting' AND o.held AND o."to" = d."to" AND o.id < d.id))
        ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) due
    WHERE m.id = due.id OR due.held AND m.held AND m.state = 'waiting' AND m."to" = due."to"
    RETURNING m.id
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """How many e-mails were sent, how many are tried again, how many were given up."""

    sent: int = 0
    later: int = 0
    given_up: int = 0


def send(server: MailServer | None, *, public_url: str, deadline: Deadline) -> Sent:
    """Send what waits, until nothing does, time is up, or the server fails: then the rest would
    fail too. Without a server everything waits."""
    if server is None:
        return Sent(given_up=_give_up_unsent())
    counts = dict.fromkeys(AlertMail.State.values, 0)
    while not deadline.is_over and (mails := claim_mails()):
        verdict = smtp.deliver(text.message(mails, server, public_url=public_url), server)
        for mail in mails:
            counts[_settle_mail(mail, verdict)] += 1
        if verdict.is_of_all and not verdict.is_sent:
            break
    return Sent(counts["sent"], counts["waiting"], counts["given_up"])


def waits() -> bool:
    """Whether any e-mail is to be sent now."""
    due = AlertMail.objects.filter(state=AlertMail.State.WAITING, next_at__lte=Now())
    quiet = quiet_addresses(now=timezone.now())
    return due.annotate(low=Lower("to")).exclude(low__in=quiet).exists()


def claim_mails() -> list[AlertMail]:
    """What the next e-mail says: one row, or what waited for its address through quiet hours. One
    e-mail at a time: an e-mail that was claimed but not reached would wait needlessly."""
    params: dict[str, Any] = {
        "first": FIRST_WAIT, "longest": _LONGEST_WAIT,
        "quiet": sorted(quiet_addresses(now=timezone.now())),
    }  # fmt: skip
    with cursor() as db:
        ids = [id for (id,) in db.execute(_CLAIM_MAIL, params)]
    return list(AlertMail.objects.select_related("notice__rule").filter(pk__in=ids))


def _settle_mail(mail: AlertMail, verdict: Verdict) -> str:
    """Store the outcome; returns its state. Only while it still waits: another process may have
    sent it meanwhile."""
    waiting = AlertMail.objects.filter(pk=mail.pk, state=AlertMail.State.WAITING)
    if verdict.is_sent:
        waiting.update(state=AlertMail.State.SENT, sent_at=Now(), error="")
        AlertPicture.objects.filter(mail=mail).delete()
        return AlertMail.State.SENT
    logger.warning("an e-mail of alerts was not sent: %s", verdict.reason)
    if verdict.is_final:
        waiting.update(state=AlertMail.State.GIVEN_UP, error=verdict.reason)
        AlertPicture.objects.filter(mail=mail).delete()
        return AlertMail.State.GIVEN_UP
    waiting.update(error=verdict.reason)
    if waiting.filter(made_at__lte=Now() - _GIVEN_UP_AFTER).update(
        state=AlertMail.State.GIVEN_UP, error=f"{_GIVEN_UP}{verdict.reason}"[:300]
    ):
        AlertPicture.objects.filter(mail=mail).delete()
        return AlertMail.State.GIVEN_UP
    return AlertMail.State.WAITING


def _give_up_unsent() -> int:
    """Give up what has waited for a day without a server."""
    waiting = AlertMail.objects.filter(state=AlertMail.State.WAITING)
    count = waiting.filter(made_at__lte=Now() - _GIVEN_UP_AFTER).update(
        state=AlertMail.State.GIVEN_UP, error=f"{_GIVEN_UP}{smtp.NOT_SET}"
    )
    if count:
        AlertPicture.objects.filter(mail__state=AlertMail.State.GIVEN_UP).delete()
    return count


def send_these(mails: Iterable[AlertMail], server: MailServer, *, public_url: str) -> list[Verdict]:
    """Send them at once, while a person waits: a test. What fails is not tried again; once the
    server has failed for all, the rest are not tried."""
    verdicts: list[Verdict] = []
    for mail in mails:
        last = verdicts[-1] if verdicts else None
        verdict = last if last and last.is_of_all and not last.is_sent else None
        if verdict is None:
            verdict = smtp.deliver(text.message([mail], server, public_url=public_url), server)
        _settle_mail(mail, verdict if verdict.is_sent else replace(verdict, is_final=True))
        verdicts.append(verdict)
    return verdicts


def wait_until(mails: Iterable[AlertMail], at: datetime) -> None:
    """Keep others from sending them before then."""
    AlertMail.objects.filter(pk__in=[one.pk for one in mails]).update(
        next_at=at, attempts=F("attempts") + 1
    )
