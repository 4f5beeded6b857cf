"""Matrix: a message into a room, by any homeserver.

spec.matrix.org v1.16, client-server API, read 2026-11-28: PUT with a transaction id, so that the
same message sent again is the same event; a 429 is M_LIMIT_EXCEEDED with `retry_after_ms` or
Retry-After; an event has at most 65,536 bytes; an empty `m.mentions` notifies nobody.
"""

from __future__ import annotations

from datetime import timedelta
from html import escape
from urllib.parse import quote

from trackers.channels.message import Markup, Message, fitted, utf8
from trackers.channels.shapes.shape import Part, Parts, ServiceShape, host_of, post_json
from trackers.events.delivery.call import Call

_MATRIX_BYTES = 20_000
_MATRIX_PLAIN = Markup(escape=lambda text: text)
_HTML = Markup(
    escape=escape,
    bold="<strong>{text}</strong>",
    link='<a href="{url}">{text}</a>',
    line_break="<br>",
)


def _matrix_request(parts: Parts, message: Message, key: str) -> Call:
    body = {
        "msgtype": "m.notice",
        "body": fitted(message, _MATRIX_PLAIN.written, most=_MATRIX_BYTES, size=utf8),
        "format": "org.matrix.custom.html",
        "formatted_body": fitted(message, _HTML.written, most=_MATRIX_BYTES, size=utf8),
        "m.mentions": {},
    }
    room = quote(parts["room"], safe="")
    url = (
        f"{parts['server'].rstrip('/')}/_matrix/client/v3/rooms/{room}/send/m.room.message/"
        f"{quote(key, safe='')}"
    )
    return post_json(url, body, of=key, method="PUT", token=parts["token"])


MATRIX = ServiceShape(
    label="Matrix",
    parts=(
        Part(
            "server",
            "Homeserver",
            "Such as https://matrix.org.",
            "https://matrix.org/docs/chat_basics/matrix-for-im/",
            is_secret=False,
            is_url=True,
        ),
        Part(
            "token",
            "Access token",
            "Of an account that is in the room, best one made for this. In Element: All settings, "
            "Help & About, Access Token.",
            "https://matrix.org/docs/guides/usage-of-the-client-server-api",
        ),
        Part(
            "room",
            "Room id",
            "In Element: the room's settings, Advanced, Internal room ID. It begins with !.",
            "https://matrix.org/docs/chat_basics/matrix-for-im/",
            is_secret=False,
            pattern=r"![!-~]{1,254}",
            wrong="A room id begins with !. An address with # is only a name for it.",
        ),
    ),
    request=_matrix_request,
    every=timedelta(seconds=1),
    words=("error",),
    wait=("retry_after_ms",),
    wait_unit=0.001,
    hints={
        "access token": "Enter a new access token.",
        "not in room": "Let the account join the room.",
    },
    shown=lambda parts: f"{parts['room']} at {host_of(parts['server'])}",
)
