"""The e-mail with a link by which a person sets a new password. The link is made when it is sent,
so that it is stored nowhere.
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
{url}/password/{uid}/{token}/

If it was not you, do nothing: your password stays as it is.
"""


def send_password_link(account: int, server: MailServer, *, public_url: str) -> None:
    """Never call it in a transaction."""
    user = User.objects.filter(pk=account, is_active=True).exclude(email="").first()
    # One that logs in at a provider gets no password by the way.
    if user is None or not user.has_usable_password():
        return
    uid, token = int_to_base36(user.pk), default_token_generator.make_token(user)
    message = EmailMessage(
        subject="[tweetwatch] A new password",
        body=_BODY.format(name=user.get_username(), url=public_url, uid=uid, token=token),
        from_email=server.sender,
        to=[user.email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    verdict = smtp.deliver(message, server)
    if not verdict.is_sent:
        logger.warning("a link for a new password was not sent: %s", verdict.reason)
