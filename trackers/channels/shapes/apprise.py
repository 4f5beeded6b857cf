"""Services of the long tail, by Apprise: Zulip, Gotify, Pushover, Signal, PagerDuty and more.

Apprise is an extra (`requirements-channels.txt`), and is imported only in a process of its own
(`channels.by_apprise`), which is handed the message as JSON. Apprise 2.3 waits 5.5 seconds between
two requests, whatever the service; so do we.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta

from trackers.channels.by_apprise.schemes import SCHEMES, scheme_of
from trackers.channels.message import Message
from trackers.channels.shapes.shape import Part, Parts, ServiceShape
from trackers.events.delivery.call import Call


def _apprise_request(parts: Parts, message: Message, key: str) -> Call:
    return Call("APPRISE", parts["url"], {}, json.dumps(asdict(message)).encode(), of=key)


APPRISE = ServiceShape(
    label="Another service, by Apprise",
    parts=(
        Part(
            "url",
            "Address",
            "As Apprise writes it, such as pover://user@token. "
            f"It begins with one of {', '.join(SCHEMES)}.",
            "https://appriseit.com/services/",
            pattern=rf"(?i:{'|'.join(SCHEMES)})://[!-~]+",
            wrong="It does not begin with one of these, or has white space.",
        ),
    ),
    request=_apprise_request,
    every=timedelta(seconds=6),
    shown=lambda parts: f"{scheme_of(parts['url'])}://…",
    extra="apprise",
)
