"""A person's new e-mail address counts once its owner has opened the link that is sent there. Until
then nothing else is sent to it.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.contrib.auth.models import User
from django.core import signing
from django.core.mail import EmailMessage

from trackers.alerts import smtp
from tweetwatch.servers import MailServer

logger = logging.getLogger(__name__)
_SALT = "tokens.address"
_LASTS = timedelta(days=3)
_BODY = """Somebody who is logged in as {name} at {url} wants to use this e-mail address there.

If it was you, confirm it within three days:

{link}

If it was not you, do nothing: no further e-mail comes.
"""


def send_address_link(account: int, email: str, server: MailServer, *, public_url: str) -> None:
    """Never call it in a transaction."""
    user = User.objects.filter(pk=account, is_active=True).first()
    if user is None:
        return
    signed = signing.dumps([user.pk, user.email, email], salt=_SALT)
    message = EmailMessage(
        subject="[tweetwatch] Your e-mail address",
        body=_BODY.format(
            name=user.get_username(), url=public_url, link=f"{public_url}/account/email/{signed}/"
        ),
        from_email=server.sender,
        to=[email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    verdict = smtp.deliver(message, server)
    if not verdict.is_sent:
        logger.warning("a link for a new e-mail address was not sent: %s", verdict.reason)


def address_to_confirm(signed: str, user: User) -> str:
    """The address; empty if the link is too old, another account's, or was used."""
    try:
        account, before, email = signing.loads(signed, salt=_SALT, max_age=_LASTS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return email if (account, before) == (user.pk, user.email) else ""
