"""What an e-mail says: its subject, its lines, why it came, and how not to get it any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.core import signing
from django.core.mail import EmailMessage

from trackers.alerts.models import AlertMail, AlertNotice
from trackers.alerts.words import condition, title_of
from tweetwatch import notation
from tweetwatch.amounts import amount
from tweetwatch.notation import Notation
from tweetwatch.servers import MailServer

_SUBJECT_MOST = 120
# Of an e-mail after quiet hours: notices, and lines of each.
_JOINED_MOST, _LINES_MOST = 50, 5
_END_SIGNER = signing.Signer(salt="alerts.digest.end")


def message(mails: Sequence[AlertMail], server: MailServer, *, public_url: str) -> EmailMessage:
    """`mails`: more than one, where they waited through quiet hours; in the order of their ids."""
    mail = mails[0]
    notice = mail.notice
    host = urlsplit(public_url).hostname or "tweetwatch"
    made = _Alternatives if notice.html else EmailMessage
    with notation.read_as(_notation_of(mail.to)):
        body = _joined_body(mails, public_url) if len(mails) > 1 else _body(notice, public_url)
    message = made(
        subject=_subject(mails),
        body=body,
        from_email=server.sender,
        to=[mail.to],
        headers={
            # The same at each attempt.
            "Message-ID": f"<alert-{mail.notice_id}-{mail.pk}@{host}>",
            "Date": f"{mail.made_at.astimezone(UTC):%a, %d %b %Y %H:%M:%S +0000}",
            # Suppresses out-of-office replies.
            "Auto-Submitted": "auto-generated",
            **_unsubscribe_headers(notice, public_url),
        },
    )
    if notice.html:
        message.attach(_illustrated(mail))
    return message


def _notation_of(address: str) -> Notation:
    """How the person of this address reads times; UTC where it is no account's."""
    people = User.objects.select_related("time_format").filter(email__iexact=address)
    chosen = getattr(people.filter(is_active=True).order_by("pk").first(), "time_format", None)
    return chosen.notation() if chosen else Notation()


class _Alternatives(EmailMessage):
    """The text, and after it what says the same for who reads HTML."""

    mixed_subtype = "alternative"


def _illustrated(mail: AlertMail) -> MIMEMultipart:
    """The HTML with its pictures."""
    related = MIMEMultipart("related")
    related.attach(MIMEText(mail.notice.html, "html", "utf-8"))
    for picture in mail.pictures.order_by("pk"):
        image = MIMEImage(bytes(picture.png), "png")
        image["Content-ID"] = f"<{picture.name}>"
        image["Content-Disposition"] = f'inline; filename="{picture.name}.png"'
        related.attach(image)
    return related


def _unsubscribe_headers(notice: AlertNotice, public_url: str) -> dict[str, str]:
    """RFC 8058: a mailbox's own button ends the digest, by an address that needs no login."""
    if notice.digest_id is None:
        return {}
    headers = {"List-Unsubscribe": f"<{end_address(notice.digest_id, public_url)}>"}
    if public_url.startswith("https:"):
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def end_address(digest: int, public_url: str) -> str:
    return f"{public_url}/alerts/digest/end/{_END_SIGNER.sign(str(digest))}/"


def digest_to_end(signed: str) -> int | None:
    """Which digest an address ends; None if it is not ours. It lasts as long as the digest."""
    try:
        return int(_END_SIGNER.unsign(signed))
    except (signing.BadSignature, ValueError):
        return None


def _subject(mails: Sequence[AlertMail]) -> str:
    subject = title_of(mails[0].notice)
    if len(mails) > 1:
        said = sum(len(mail.notice.heard) + mail.notice.more for mail in mails)
        subject = f"{amount(said, 'alert')} in your quiet hours"
    return f"[tweetwatch] {' '.join(subject.split())}"[:_SUBJECT_MOST]


def _joined_body(mails: Sequence[AlertMail], public_url: str) -> str:
    """Of what came first most is said; the log has all."""
    paragraphs = []
    for mail in mails[:_JOINED_MOST]:
        notice = mail.notice
        lines = [f"{one['what']}\n{public_url}{one['url']}" for one in notice.heard[:_LINES_MOST]]
        more = len(notice.heard) - len(lines) + notice.more
        title = f"{title_of(notice)}, {notation.to_the_minute(notice.at)}"
        paragraphs += [title, *lines, *([f"And {more:,} more."] if more else [])]
    if len(mails) > _JOINED_MOST:
        paragraphs.append(f"And {amount(len(mails) - _JOINED_MOST, 'more e-mail')}.")
    return "\n\n".join([*paragraphs, f"-- \nAll alerts: {public_url}/alerts/log/"]) + "\n"


def _body(notice: AlertNotice, public_url: str) -> str:
    if notice.body:
        end = f"\nEnd it: {end_address(notice.digest_id, public_url)}" if notice.digest_id else ""
        return f"{notice.body}\n\n-- \nChange this e-mail: {public_url}/alerts/#digest{end}\n"
    paragraphs = [
        f"{'Over: ' if one['state'] == 'back' else ''}{one['what']}\n{public_url}{one['url']}"
        for one in notice.heard
    ]
    if notice.more:
        paragraphs.append(f"And {notice.more:,} more.")
    paragraphs.append(f"Raised at {notation.to_the_minute(notice.at)}.")
    return "\n\n".join([*paragraphs, _why_it_came(notice, public_url)]) + "\n"


def _why_it_came(notice: AlertNotice, public_url: str) -> str:
    rule = notice.rule
    if rule is None:
        return f"-- \nAll alerts: {public_url}/alerts/log/"
    return (
        f"-- \nThe rule “{rule.name}”: tell when {condition(rule)}.\n"
        f"Change it: {public_url}/alerts/{rule.pk}/\nAll alerts: {public_url}/alerts/log/"
    )
