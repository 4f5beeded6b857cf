"""A process that sends one message by Apprise, and ends (`python -m …by_apprise.child`).

stdin: what to send, as `calls` writes it ─> guarded ─> stdout: what was heard
The address is a secret: nothing of Apprise's own log, and no error's own words, leave the process.
"""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import sys
from importlib import import_module
from typing import Any

from trackers.channels.by_apprise.schemes import SCHEMES, scheme_of
from trackers.channels.message import Line, Markup, Message, fitted, one_line
from trackers.events.delivery.addresses import RefusedError

_MAX_TITLE = 120
# What a service takes that says nothing of it, and room for a title that goes before the text.
_MOST_CHARACTERS, _BESIDE = 4000, 20
# Where services say what is wrong.
_WORDS_OF_REFUSALS = (
    "message",
    "msg",
    "errorDescription",
    "error",
    "errors",
    "detail",
    "description",
)
_UNREADABLE = "Apprise cannot read this address: compare it with the service's help."
_PLAIN_TEXT = Markup(escape=lambda text: text)


def _main() -> None:
    asked = json.load(sys.stdin)
    # Even if the process that waits for it is gone.
    signal.alarm(math.ceil(asked["total"]) + 5)
    logging.disable(logging.CRITICAL)
    answer_to = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.write(answer_to, json.dumps(_send_guarded(asked)).encode())
    # A thread may still read an answer that never ends.
    os._exit(0)


def _send_guarded(asked: dict[str, Any]) -> dict[str, Any]:
    """Apprise is imported here, behind the guard."""
    from trackers.channels.by_apprise.guard import Limits, keep_to

    heard = keep_to(
        Limits(
            tuple(asked["allowed"]),
            asked["plain_http"],
            asked["ca_file"],
            asked["connect"],
            asked["total"],
        )
    )
    try:
        is_taken = _notify(asked["url"], _message_of(asked["message"]))
    except RefusedError as refused:
        return {"error": str(refused)}
    except Exception as failure:
        return {"error": heard.error or f"Apprise could not send it ({type(failure).__name__})."}
    if heard.status is None:
        return {"error": heard.error or "Apprise sent nothing: check the address."}
    is_yes = 200 <= heard.status < 300
    return {
        "status": heard.status,
        "error": "It did not take the message" if is_yes and not is_taken else "",
        "retry_after": heard.retry_after,
        "text": _words_of(heard.text),
    }


def _notify(url: str, message: Message) -> bool:
    from apprise.asset import AppriseAsset
    from apprise.common import NotifyFormat, NotifyType, OverflowMode
    from apprise.exception import AppriseException

    module, name = SCHEMES[scheme_of(url)]
    service = getattr(import_module(f"apprise.plugins.{module}"), name)
    parsed = service.parse_url(url)
    if not parsed:
        raise RefusedError(_UNREADABLE)
    try:
        plugin = service(**{**parsed, "asset": AppriseAsset(http_redirects=False)})
    except (TypeError, AppriseException):
        raise RefusedError(_UNREADABLE) from None
    _refuse_options(plugin)
    most = min(plugin.body_maxlen or _MOST_CHARACTERS, _MOST_CHARACTERS)
    title = one_line(message.title, min(_MAX_TITLE, plugin.title_maxlen or _MAX_TITLE))
    if plugin.title_maxlen <= 0:
        most -= len(title) + _BESIDE
    return bool(
        plugin.notify(
            title=title,
            body=fitted(message, _text_below_title, most=most, size=len),
            notify_type=NotifyType.WARNING,
            body_format=NotifyFormat.TEXT,
            overflow=OverflowMode.TRUNCATE,
        )
    )


def _refuse_options(plugin: Any) -> None:
    """What an address may have asked for."""
    plugin.retry = 0
    if not plugin.verify_certificate:
        raise RefusedError("Its address says not to check certificates. Remove verify=no.")
    if plugin.redirects:
        raise RefusedError("Its address says to follow redirects. Remove redirect=yes.")
    if len(plugin) > 1:
        raise RefusedError("Its address names several recipients. Make a channel for each.")


def _text_below_title(message: Message) -> str:
    """The title is shown by itself."""
    return _PLAIN_TEXT.written(message).partition("\n")[2]


def _message_of(sent: dict[str, Any]) -> Message:
    return Message(**{**sent, "lines": tuple(Line(**line) for line in sent["lines"])})


def _words_of(text: bytes) -> str:
    """The service's own words, of the first kilobyte."""
    try:
        body = json.loads(text)
    except ValueError:
        return text[:1024].decode(errors="replace")
    said = [body.get(name) for name in _WORDS_OF_REFUSALS] if isinstance(body, dict) else []
    flat = [", ".join(map(str, one)) if isinstance(one, list) else one for one in said]
    return next((one[:1024] for one in flat if isinstance(one, str) and one), "")


if __name__ == "__main__":
    _main()
