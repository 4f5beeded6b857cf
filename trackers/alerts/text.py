"""What an e-mail says: its subject, its lines, and why it came."""

from __future__ import annotations

from datetime import UTC
from urllib.parse import urlsplit

from django.core.mail import EmailMessage

from trackers.alerts.models import AlertMail, AlertNotice
from trackers.alerts.words import condition, title_of
from tweetwatch.servers import MailServer

_SUBJECT_MOST = 120


def message(mail: AlertMail, server: MailServer, *, public_url: str) -> EmailMessage:
    notice = mail.notice
    host = urlsplit(public_url).hostname or "tweetwatch"
    return EmailMessage(
        subject=_subject(notice),
        body=_body(notice, public_url),
        from_email=server.sender,
        to=[mail.to],
        headers={
            # The same at each attempt.
            "Message-ID": f"<alert-{mail.notice_id}-{mail.pk}@{host}>",
            "Date": f"{mail.made_at.astimezone(UTC):%a, %d %b %Y %H:%M:%S +0000}",
            # Suppresses out-of-office replies.
            "Auto-Submitted": "auto-generated",
        },
    )


def _subject(notice: AlertNotice) -> str:
    subject = title_of(notice)
    return f"[tweetwatch] {' '.join(subject.split())}"[:_SUBJECT_MOST]


def _body(notice: AlertNotice, public_url: str) -> str:
    if notice.body:
        return f"{notice.body}\n\nChange this e-mail: {public_url}/alerts/\n"
    paragraphs = [
        f"{'Over: ' if one['state'] == 'back' else ''}{one['what']}\n{public_url}{one['url']}"
        for one in notice.lines
    ]
    if notice.more:
        paragraphs.append(f"And {notice.more:,} more.")
    return "\n\n".join([*paragraphs, _why_it_came(notice, public_url)]) + "\n"


def _why_it_came(notice: AlertNotice, public_url: str) -> str:
    rule = notice.rule
    if rule is None:
        return f"-- \nAll alerts: {public_url}/alerts/log/"
    return (
        f"-- \nThe rule “{rule.name}”: tell when {condition(rule)}.\n"
        f"Change it: {public_url}/alerts/{rule.pk}/\nAll alerts: {public_url}/alerts/log/"
    )
