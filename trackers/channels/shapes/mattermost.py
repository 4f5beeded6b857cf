"""Mattermost's incoming webhooks, which Rocket.Chat takes as well.

developers.mattermost.com, "Incoming webhooks", and docs.mattermost.com, "Product limits", read
2026-11-28: JSON with `text` in Markdown, at most 16,383 characters (Rocket.Chat: 5,000); a refusal
is {"id", "message", "status_code"}.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.channels.message import Markup, backslashed
from trackers.channels.shapes.shape import ServiceShape, text_to_url, webhook_url

_MATTERMOST_CHARACTERS = 4000
_MARKDOWN = backslashed("\\*_~`|>#-[]()<!:")
_MATTERMOST_MARKUP = Markup(
    # An invisible space, so that @all and @name notify nobody: names here are X's.
    escape=lambda text: _MARKDOWN(text).replace("@", "@\u200b"),
    bold="**{text}**",
    link="[{text}]({url})",
    line_break="  \n",
)

MATTERMOST = ServiceShape(
    label="Mattermost or Rocket.Chat",
    parts=webhook_url(
        "In Mattermost: Integrations, Incoming Webhooks, Add. In Rocket.Chat: Workspace, "
        "Integrations, New, Incoming.",
        "https://developers.mattermost.com/integrate/webhooks/incoming/",
    ),
    request=text_to_url(_MATTERMOST_MARKUP, most=_MATTERMOST_CHARACTERS),
    every=timedelta(seconds=1),
    words=("message",),
    hints={"Invalid webhook": "Create a new webhook, and enter its URL here."},
)
