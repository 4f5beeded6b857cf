"""Mail servers on this machine: one that takes e-mails, or refuses as told; one that hangs."""

import socket
from contextlib import contextmanager
from datetime import timedelta
from email import message_from_bytes, policy

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tweetwatch.servers import MailServer

SENDER = "tweetwatch@here.example"


class Box:
    """What arrived. `rcpt`, `data`: what the server answers instead of yes."""

    def __init__(self, rcpt="", data="", mail=""):
        self.rcpt, self.data, self.mail = rcpt, data, mail
        self.got = []
        self.meanwhile = None

    async def handle_MAIL(self, server, session, envelope, address, options):
        envelope.mail_from = address
        return self.mail or "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.rcpt:
            return self.rcpt
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.data:
            return self.data
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        if self.meanwhile:
            self.meanwhile()
        return "250 taken"

    @property
    def texts(self):
        return [one.get_content().replace("\r\n", "\n") for one in self.got]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def server(port, **given):
    return MailServer("127.0.0.1", port, SENDER, timedelta(seconds=1), **given)


@contextmanager
def listening(box, *, password=""):
    """The server, as EMAIL_URL would name it."""

    def allows(smtp, session, envelope, mechanism, given):
        return AuthResult(success=given.password == password.encode())

    auth = {"authenticator": allows, "auth_required": True, "auth_require_tls": False}
    control = Controller(box, hostname="127.0.0.1", port=free_port(), **(auth if password else {}))
    control.start()
    try:
        yield server(control.port)
    finally:
        control.stop()


@contextmanager
def hanging():
    """It accepts connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield server(silent.getsockname()[1])
