"""Discord's webhooks.

discord-api-docs of 2026-08-06, "Webhook" and "Rate Limits": `content` of up to 2,000 characters;
without `wait` a message that is not kept is no error; mentions are off with `allowed_mentions`; a
429 has `retry_after` in seconds; a webhook that answers 404 must not be used again. It takes about
30 messages a minute, as Discord's support says.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from trackers.channels.message import Markup, Message, backslashed, fitted, utf16
from trackers.channels.shapes.shape import Parts, ServiceShape, post_json, webhook_url
from trackers.events.delivery.call import Call

_DISCORD_CHARACTERS = 2000
_SUPPRESS_EMBEDS = 1 << 2
# The angle brackets keep a link from being shown as a card.
_DISCORD_MARKUP = Markup(
    escape=backslashed("\\*_~`|>#-[]()<@:"),
    bold="**{text}**",
    link="[{text}](<{url}>)",
)


def _discord_request(parts: Parts, message: Message, key: str) -> Call:
    body = {
        "content": fitted(message, _DISCORD_MARKUP.written, most=_DISCORD_CHARACTERS, size=utf16),
        "allowed_mentions": {"parse": []},
        "flags": _SUPPRESS_EMBEDS,
    }
    # The URL may name a thread of the channel.
    url = f"{parts['url']}{'&' if urlsplit(parts['url']).query else '?'}wait=true"
    return post_json(url, body, of=key)


DISCORD = ServiceShape(
    label="Discord",
    parts=webhook_url(
        "In Discord: Edit Channel, Integrations, Webhooks, New Webhook, Copy Webhook URL.",
        "https://support.discord.com/hc/articles/228383668",
    ),
    request=_discord_request,
    every=timedelta(seconds=2),
    words=("message",),
    wait=("retry_after",),
    hints={"Unknown Webhook": "Create a new webhook in Discord, and enter its URL here."},
    gone=frozenset((404, 410)),
)
