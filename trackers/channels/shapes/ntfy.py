"""ntfy: messages to phones and browsers, from ntfy.sh or a server of one's own.

ntfy's docs/publish.md (v2.13) and its server.go, read 2026-11-28: JSON to the root URL, a message
of at most 4,096 bytes (longer ones become attachments), topics of 64 letters, digits, - and _; a
refusal is {"code", "http", "error"}; a burst of 60, then a message every five seconds.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.channels.message import Markup, Message, fitted, one_line, utf8
from trackers.channels.shapes.shape import Part, Parts, ServiceShape, host_of, post_json
from trackers.events.delivery.call import Call

_NTFY_BYTES = 4000
# Phones show no Markdown. What a tap opens is given beside the text.
_NTFY_MARKUP = Markup(escape=lambda text: text, link="{text}\n{url}")


def _ntfy_text(message: Message) -> str:
    """The title is shown by itself."""
    return _NTFY_MARKUP.written(message).partition("\n")[2]


def _ntfy_request(parts: Parts, message: Message, key: str) -> Call:
    [first, *others] = message.lines
    body = {
        "topic": parts["topic"],
        "title": one_line(message.title, 120),
        "message": fitted(message, _ntfy_text, most=_NTFY_BYTES, size=utf8),
        "click": message.log if others else first.url,
    }
    return post_json(f"{parts['server'].rstrip('/')}/", body, of=key, token=parts.get("token", ""))


NTFY = ServiceShape(
    label="ntfy",
    parts=(
        Part(
            "server",
            "Server",
            "https://ntfy.sh, or your own.",
            "https://docs.ntfy.sh/install/",
            is_secret=False,
            is_url=True,
            default="https://ntfy.sh",
        ),
        Part(
            "topic",
            "Topic",
            "The name that you subscribe to in the app. Who knows it can read it, so choose one "
            "that is hard to guess.",
            "https://docs.ntfy.sh/publish/",
            pattern=r"[-_A-Za-z0-9]{1,64}",
            wrong="A topic has up to 64 letters, digits, - and _.",
        ),
        Part(
            "token",
            "Access token",
            "Only for a protected topic: in ntfy's web app, under Account, Access tokens.",
            "https://docs.ntfy.sh/publish/#access-tokens",
            is_optional=True,
        ),
    ),
    request=_ntfy_request,
    every=timedelta(seconds=5),
    words=("error",),
    hints={
        "forbidden": "Enter an access token that may write to the topic.",
        "unauthorized": "Check the access token.",
    },
    shown=lambda parts: host_of(parts["server"]),
)
