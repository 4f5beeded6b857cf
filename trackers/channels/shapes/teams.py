"""Microsoft Teams: a workflow with the trigger "When a Teams webhook request is received".

learn.microsoft.com, "Create an Incoming Webhook" (2026-04-01) and the connector "Microsoft Teams",
read 2026-11-28: a message with adaptive cards, at most 28 KB; throttled above four requests a
second. A workflow answers 202, and errors are {"error": {"code", "message"}}.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from trackers.channels.message import Line, Message, fitted, one_line, utf8
from trackers.channels.shapes.shape import Parts, ServiceShape, post_json, webhook_url
from trackers.events.delivery.call import Call

_TEAMS_BYTES = 26_000


def _run(text: str, url: str = "", **look: Any) -> dict[str, Any]:
    """A TextRun: unlike a TextBlock it has no Markdown, so nothing in it is special."""
    opens = {"selectAction": {"type": "Action.OpenUrl", "url": url}} if url else {}
    return {"type": "TextRun", "text": text, **look, **opens}


def _block(*runs: dict[str, Any], **look: Any) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [*runs], **look}


def _line_block(line: Line, *, says_rule: bool) -> dict[str, Any]:
    rule = [_run(f"{line.rule}: ", weight="Bolder")] if says_rule and line.rule else []
    over = "Over: " if line.is_over else ""
    return _block(*rule, _run(f"{over}{one_line(line.what, 400)}", line.url), spacing="Small")


def _card(message: Message) -> str:
    rules = {line.rule for line in message.lines}
    body = [_block(_run(one_line(message.title, 120), weight="Bolder", size="Medium"))]
    body += [_line_block(line, says_rule=len(rules) > 1) for line in message.lines]
    if message.more:
        body.append(_block(_run(f"And {message.more:,} more", message.log), spacing="Small"))
    buttons = [("All alerts", message.log), ("Mute", message.mute)]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": [
            {"type": "Action.OpenUrl", "title": title, "url": url} for title, url in buttons if url
        ],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return json.dumps({"type": "message", "attachments": [{"contentType": kind, "content": card}]})


def _teams_request(parts: Parts, message: Message, key: str) -> Call:
    body = json.loads(fitted(message, _card, most=_TEAMS_BYTES, size=utf8))
    return post_json(parts["url"], body, of=key)


TEAMS = ServiceShape(
    label="Microsoft Teams",
    parts=webhook_url(
        "In Teams, beside the channel: Workflows, then “Send webhook alerts to a channel”. "
        "Copy the URL that it shows at the end.",
        "https://support.microsoft.com/office/8ae491c7-0394-4861-ba59-055e33f75498",
    ),
    request=_teams_request,
    every=timedelta(seconds=1),
    words=("error", "message"),
)
