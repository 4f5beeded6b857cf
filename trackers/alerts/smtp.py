"""Hands one e-mail to the mail server, and says in one sentence what went wrong and what helps.

The server's replies are shown shortened, without control characters and without the password.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from dataclasses import dataclass

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend
from django.core.mail.message import sanitize_address

from tweetwatch.servers import MailServer

NOT_SET = "No mail server is set. Set EMAIL_URL in the environment, then restart."
_MAX_REASON, _MAX_ERROR_LENGTH = 120, 300
_LATER = "The e-mail will be retried."
# Errors of one e-mail, or one address.
_OF_ONE = (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, UnicodeError)


@dataclass(frozen=True, slots=True)
class Verdict:
    reason: str = ""  # why it was not sent, and the next step; empty: it was
    is_final: bool = False  # trying again is useless
    is_of_all: bool = False  # the next e-mail would fail as well

    @property
    def is_sent(self) -> bool:
        return not self.reason


_SENT = Verdict()


def deliver(message: EmailMessage, server: MailServer) -> Verdict:
    """Never call it in a transaction: it waits up to EMAIL_TIMEOUT for each reply of the server."""
    backend = EmailBackend(
        host=server.host,
        port=server.port,
        username=server.user,
        password=server.password,
        use_tls=server.security == "tls",
        use_ssl=server.security == "ssl",
        timeout=max(1, int(server.timeout.total_seconds())),
    )
    try:
        backend.open()
        assert backend.connection is not None
        to = [sanitize_address(one, "utf-8") for one in message.recipients()]
        backend.connection.sendmail(server.sender, to, _bytes_of(message))
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        return _verdict(error, server)
    finally:
        _quit_quietly(backend)
    return _SENT


def _bytes_of(message: EmailMessage) -> bytes:
    return message.message().as_bytes(linesep="\r\n")  # type: ignore[call-arg]


def _quit_quietly(backend: EmailBackend) -> None:
    """A QUIT that fails does not change whether the server has accepted the e-mail."""
    connection, backend.connection = backend.connection, None
    if connection is not None:
        try:
            connection.quit()
        except (OSError, smtplib.SMTPException):
            connection.close()


def _verdict(error: Exception, server: MailServer) -> Verdict:
    reason, is_final = _why(error, server)
    is_of_one = isinstance(error, _OF_ONE)
    return Verdict(reason[:_MAX_ERROR_LENGTH], is_final, is_of_all=not is_of_one)


def _why(error: Exception, server: MailServer) -> tuple[str, bool]:
    """The most specific first: most of these are each other's subclasses, and OSErrors."""
    at = server.place
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, answer = next(iter(error.recipients.values()), (550, b""))
            sentence = f"The mail server refuses the address: {_quoted(code, answer, server)}."
            return f"{sentence} Correct it in the rule, or in the account.", code >= 500
        case smtplib.SMTPSenderRefused():
            sentence = _quoted(error.smtp_code, error.smtp_error, server)
            return (
                f"The mail server refuses the sender {server.sender}: {sentence}. Set EMAIL_FROM.",
                False,
            )
        case smtplib.SMTPAuthenticationError():
            sentence = _quoted(error.smtp_code, error.smtp_error, server)
            return (
                f"The mail server refuses the user name or the password: {sentence}. "
                "Check EMAIL_URL.",
                False,
            )
        case smtplib.SMTPDataError():
            sentence = _quoted(error.smtp_code, error.smtp_error, server)
            return f"The mail server rejects the e-mail: {sentence}.", error.smtp_code >= 500
        case smtplib.SMTPNotSupportedError():
            return (
                f"The mail server {at} does not offer what EMAIL_URL asks for (STARTTLS, or a "
                "login). Check EMAIL_URL.",
                False,
            )
        case smtplib.SMTPServerDisconnected():
            return f"The mail server {at} hung up, or did not answer in time. {_LATER}", False
        case smtplib.SMTPResponseException():
            sentence = _quoted(error.smtp_code, error.smtp_error, server)
            return f"The mail server {at} refuses: {sentence}. {_LATER}", False
        case ssl.SSLCertVerificationError():
            return (
                f"The certificate of the mail server {at} is not valid: {error.verify_message}. "
                "Use the name in its certificate in EMAIL_URL.",
                False,
            )
        case ssl.SSLError():
            return (
                f"No secure connection to {at}: {error.reason or 'TLS failed'}. Port 587 mostly "
                "takes smtp+tls, and 465 smtp+ssl; check EMAIL_URL.",
                False,
            )
        case TimeoutError():
            waited = f"{server.timeout.total_seconds():g} s"
            return f"The mail server {at} did not answer within {waited}. {_LATER}", False
        case ConnectionRefusedError():
            return f"Nothing listens at {at}. Start the mail server, or check EMAIL_URL.", False
        case socket.gaierror():
            return f"There is no host {server.host}. Check EMAIL_URL.", False
        case UnicodeError():
            sentence = "The address cannot be used in an e-mail"
            return f"{sentence}. Correct it in the rule, or in the account.", True
        case OSError():
            sentence = error.strerror or str(error)
            return f"The mail server {at} cannot be reached: {sentence}. {_LATER}", False
    return f"What answers at {at} is not a mail server. Check EMAIL_URL.", False


def _quoted(code: int, answer: bytes | str, server: MailServer) -> str:
    """The server's own words, on one line."""
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    plain = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if server.password:
        plain = plain.replace(server.password, "…")
    return f"{code} {plain}"[:_MAX_REASON].strip().rstrip(".")
