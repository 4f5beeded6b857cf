"""The link by which a person sets a password, once: in an e-mail, or handed over by whoever
invites. It is made when it is sent or shown, and stored nowhere.
"""

from __future__ import annotations

import logging

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.utils.http import int_to_base36

from trackers.alerts import smtp
from tweetwatch.servers import MailServer

logger = logging.getLogger(__name__)

_BODY = """Somebody, probably you, asked for a new password of {name} at {url}.

Set one here, within three days:
{link}

If it was not you, do nothing: your password stays as it is.
"""


def password_link(user: User, public_url: str) -> str:
    """It works for three days, and until the person logs in or has another password."""
    token = default_token_generator.make_token(user)
    return f"{public_url}/password/{int_to_base36(user.pk)}/{token}/"


def send_password_link(account: int, server: MailServer, *, public_url: str) -> None:
    """Never call it in a transaction."""
    user = User.objects.filter(pk=account, is_active=True).exclude(email="").first()
    # One that logs in at a provider gets no password by the way.
    if user is None or not user.has_usable_password():
        return
    message = EmailMessage(
        subject="[tweetwatch] A new password",
        body=_BODY.format(
            name=user.get_username(), url=public_url, link=password_link(user, public_url)
        ),
        from_email=server.sender,
        to=[user.email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    verdict = smtp.deliver(message, server)
    if not verdict.is_sent:
        logger.warning("a link for a new password was not sent: %s", verdict.reason)
