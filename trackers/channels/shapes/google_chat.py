"""Google Chat's incoming webhooks.

developers.google.com/workspace/chat, "Build as a webhook", "Format messages" and "Usage limits",
read 2026-11-28: JSON with `text`; 60 writes a minute in a space, of all its apps; a 429 has no
Retry-After; a refusal is {"error": {"code", "message", "status"}}. Texts are kept to 4,096
characters.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.channels.message import Markup
from trackers.channels.shapes.shape import ServiceShape, text_to_url, webhook_url

_GOOGLE_CHAT_CHARACTERS = 4000
# There is no escape, and <users/all> would notify everybody.
_LOOK_ALIKE = str.maketrans({"<": "‹", ">": "›", "|": "¦"})
_GOOGLE_CHAT_MARKUP = Markup(
    escape=lambda text: text.translate(_LOOK_ALIKE), bold="*{text}*", link="<{url}|{text}>"
)

GOOGLE_CHAT = ServiceShape(
    label="Google Chat",
    parts=webhook_url(
        "In Google Chat, in the menu of the space: Apps & integrations, Webhooks. It begins "
        "with https://chat.googleapis.com/.",
        "https://developers.google.com/workspace/chat/quickstart/webhooks",
    ),
    request=text_to_url(_GOOGLE_CHAT_MARKUP, most=_GOOGLE_CHAT_CHARACTERS),
    every=timedelta(seconds=1),
    words=("error", "message"),
)
