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
_CHECK_URL = "Check EMAIL_URL."
_CORRECT_IT = "Correct it in the rule, or in the account."
# Errors of one e-mail, or one address. All of smtplib's are OSErrors.
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
    except (OSError, UnicodeError) as error:
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
        except OSError:
            connection.close()


def _verdict(error: OSError | UnicodeError, server: MailServer) -> Verdict:
    reason, is_final = _why(error, server)
    is_of_one = isinstance(error, _OF_ONE)
    return Verdict(reason[:_MAX_ERROR_LENGTH], is_final, is_of_all=not is_of_one)


def _why(error: OSError | UnicodeError, server: MailServer) -> tuple[str, bool]:
    """What went wrong and what helps; and whether trying again is useless."""
    answer: bytes | str
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, answer = next(iter(error.recipients.values()), (550, b""))
        case smtplib.SMTPResponseException():
            code, answer = error.smtp_code, error.smtp_error
        case UnicodeError():
            return f"The address cannot be used in an e-mail. {_CORRECT_IT}", True
        case _:
            return _why_unreachable(error, server), False
    is_final = code >= 500 and isinstance(error, _OF_ONE)
    return _why_refused(error, _quoted(code, answer, server), server), is_final


def _why_refused(error: Exception, reply: str, server: MailServer) -> str:
    """`reply`: what the server says."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            return f"The mail server refuses the address: {reply}. {_CORRECT_IT}"
        case smtplib.SMTPSenderRefused():
            return f"The mail server refuses the sender {server.sender}: {reply}. Set EMAIL_FROM."
        case smtplib.SMTPAuthenticationError():
            refused = "The mail server refuses the user name or the password"
            return f"{refused}: {reply}. {_CHECK_URL}"
        case smtplib.SMTPDataError():
            return f"The mail server rejects the e-mail: {reply}."
    return f"The mail server {server.place} refuses: {reply}. {_LATER}"


def _why_unreachable(error: OSError, server: MailServer) -> str:
    """The most specific first: most of these are OSErrors, and some are each other's subclasses."""
    at = server.place
    match error:
        case smtplib.SMTPNotSupportedError():
            return (
                f"The mail server {at} does not offer what EMAIL_URL asks for (STARTTLS, or a "
                f"login). {_CHECK_URL}"
            )
        case smtplib.SMTPServerDisconnected():
            return f"The mail server {at} hung up, or did not answer in time. {_LATER}"
        case ssl.SSLCertVerificationError():
            return (
                f"The certificate of the mail server {at} is not valid: {error.verify_message}. "
                "Use the name in its certificate in EMAIL_URL."
            )
        case ssl.SSLError():
            return (
                f"No secure connection to {at}: {error.reason or 'TLS failed'}. Port 587 mostly "
                "takes smtp+tls, and 465 smtp+ssl; check EMAIL_URL."
            )
        case TimeoutError():
            waited = f"{server.timeout.total_seconds():g} s"
            return f"The mail server {at} did not answer within {waited}. {_LATER}"
        case ConnectionRefusedError():
            return f"Nothing listens at {at}. Start the mail server, or check EMAIL_URL."
        case socket.gaierror():
            return f"There is no host {server.host}. {_CHECK_URL}"
    return f"The mail server {at} cannot be reached: {error.strerror or error}. {_LATER}"


def _quoted(code: int, answer: bytes | str, server: MailServer) -> str:
    """The server's own words, on one line."""
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    plain = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if server.password:
        plain = plain.replace(server.password, "…")
    return f"{code} {plain}"[:_MAX_REASON].strip().rstrip(".")
