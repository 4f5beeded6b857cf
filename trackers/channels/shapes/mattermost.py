"""Mattermost's incoming webhooks, which Rocket.Chat takes as well.

developers.mattermost.com, "Incoming webhooks", and docs.mattermost.com, "Product limits", read
2026-11-28: JSON with `text` in Markdown, at most 16,383 characters (Rocket.Chat: 5,000); a refusal
is {"id", "message", "status_code"}.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.channels.message import Markup, Message, backslashed, fitted, utf16
from trackers.channels.shapes.shape import Part, Parts, ServiceShape, post_json
from trackers.events.delivery.call import Call

_MATTERMOST_CHARACTERS = 4000
_MARKDOWN = backslashed("\\*_~`|>#-[]()<!:")
_MATTERMOST_MARKUP = Markup(
    # An invisible space, so that @all and @name notify nobody: names here are X's.
    escape=lambda text: _MARKDOWN(text).replace("@", "@\u200b"),
    bold="**{text}**",
    link="[{text}]({url})",
    line_break="  \n",
)


def _mattermost_request(parts: Parts, message: Message, key: str) -> Call:
    text = fitted(message, _MATTERMOST_MARKUP.written, most=_MATTERMOST_CHARACTERS, size=utf16)
    return post_json(parts["url"], {"text": text}, of=key)


MATTERMOST = ServiceShape(
    label="Mattermost or Rocket.Chat",
    parts=(
        Part(
            "url",
            "Webhook URL",
            "In Mattermost: Integrations, Incoming Webhooks, Add. In Rocket.Chat: Workspace, "
            "Integrations, New, Incoming.",
            "https://developers.mattermost.com/integrate/webhooks/incoming/",
            is_url=True,
        ),
    ),
    request=_mattermost_request,
    every=timedelta(seconds=1),
    words=("message",),
    hints={"Invalid webhook": "Create a new webhook, and enter its URL here."},
)
