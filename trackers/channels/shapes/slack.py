"""Slack's incoming webhooks.

docs.slack.dev, "Sending messages using incoming webhooks" and "Rate limits", read 2026-11-28: JSON
with `text`, an answer of `ok`; one message a second, then a 429 with Retry-After; refusals as a
word: invalid_payload (400), action_prohibited and invalid_token (403), channel_not_found and
no_service (404), channel_is_archived (410). Texts should not exceed 4,000 characters.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.channels.message import Markup
from trackers.channels.shapes.shape import ServiceShape, text_to_url, webhook_url

_SLACK_CHARACTERS = 4000
# "Formatting text for app surfaces": only these three have to be escaped, and by that also
# <!channel> and <@person>, which would notify.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SLACK_MARKUP = Markup(
    escape=lambda text: text.translate(_ENTITIES), bold="*{text}*", link="<{url}|{text}>"
)
_NEW_WEBHOOK = "Create a new webhook in Slack, and enter its URL here."

SLACK = ServiceShape(
    label="Slack",
    parts=webhook_url(
        "In Slack's page of your app, under Incoming Webhooks: add one for a channel, and copy "
        "its URL. It begins with https://hooks.slack.com/services/.",
        "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
    ),
    request=text_to_url(
        _SLACK_MARKUP,
        most=_SLACK_CHARACTERS,
        size=len,
        unfurl_links=False,
        unfurl_media=False,
    ),
    every=timedelta(seconds=1),
    hints={
        "invalid_token": _NEW_WEBHOOK,
        "no_service": _NEW_WEBHOOK,
        "channel_is_archived": "Restore the channel in Slack, or create a webhook for another one.",
        "channel_not_found": _NEW_WEBHOOK,
        "action_prohibited": "An administrator of the workspace does not allow it.",
    },
    gone=frozenset((404, 410)),
)
