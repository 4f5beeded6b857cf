"""Telegram's bots.

core.telegram.org/bots/api and /bots/faq, as of 2026-11: sendMessage takes up to 4,096 characters,
HTML needs & < > escaped; a refusal is {"ok": false, "description", "parameters": {"retry_after"}};
20 messages a minute to a group, one a second to a person.
"""

from __future__ import annotations

from datetime import timedelta
from html import escape

from trackers.channels.message import Markup, Message, fitted, utf16
from trackers.channels.shapes.shape import Part, Parts, ServiceShape, host_of, post_json
from trackers.events.delivery.call import Call

_TELEGRAM_CHARACTERS = 4096
_TELEGRAM_MARKUP = Markup(escape=escape, bold="<b>{text}</b>", link='<a href="{url}">{text}</a>')


def _telegram_request(parts: Parts, message: Message, key: str) -> Call:
    body = {
        "chat_id": parts["chat"],
        "text": fitted(message, _TELEGRAM_MARKUP.written, most=_TELEGRAM_CHARACTERS, size=utf16),
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    server = parts.get("server") or "https://api.telegram.org"
    return post_json(f"{server.rstrip('/')}/bot{parts['token']}/sendMessage", body, of=key)


def _telegram_place(parts: Parts) -> str:
    server = host_of(parts["server"]) if parts.get("server") else "api.telegram.org"
    return f"chat {parts['chat']} at {server}"


TELEGRAM = ServiceShape(
    label="Telegram",
    parts=(
        Part(
            "token",
            "Bot token",
            "Write to @BotFather: /newbot. It gives you the token. Then add the bot to your group.",
            "https://core.telegram.org/bots/features#botfather",
            pattern=r"[0-9]{3,20}:[A-Za-z0-9_-]{20,100}",
            wrong="A bot token is a number, a colon, and letters, such as 123456:ABC-DEF….",
        ),
        Part(
            "chat",
            "Chat id",
            "A number, negative for a group, or @name of a public channel. The bot @userinfobot "
            "tells it.",
            "https://core.telegram.org/bots/api#sendmessage",
            is_secret=False,
            pattern=r"-?[0-9]{1,20}|@[A-Za-z0-9_]{4,64}",
            wrong="A chat id is a number, or @ and a name.",
        ),
        Part(
            "server",
            "Server",
            "Leave it empty, unless you run a Bot API server of your own.",
            "https://core.telegram.org/bots/api#using-a-local-bot-api-server",
            is_secret=False,
            is_optional=True,
            is_url=True,
        ),
    ),
    request=_telegram_request,
    every=timedelta(seconds=3),
    words=("description",),
    wait=("parameters", "retry_after"),
    hints={
        "Unauthorized": "Ask @BotFather for a new token.",
        "Not Found": "Check the bot token.",
        "chat not found": "Add the bot to the chat, and check the chat id.",
        "bot was blocked": "The person has to start the bot again.",
        "bot was kicked": "Add the bot to the group again.",
        "upgraded to a supergroup": "The group has a new chat id. Enter it here.",
    },
    shown=_telegram_place,
)
