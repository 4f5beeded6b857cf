"""The services that a channel may be at."""

from __future__ import annotations

from trackers.channels.shapes.apprise import APPRISE
from trackers.channels.shapes.browser import BROWSER
from trackers.channels.shapes.discord import DISCORD
from trackers.channels.shapes.google_chat import GOOGLE_CHAT
from trackers.channels.shapes.matrix import MATRIX
from trackers.channels.shapes.mattermost import MATTERMOST
from trackers.channels.shapes.ntfy import NTFY
from trackers.channels.shapes.shape import ServiceShape
from trackers.channels.shapes.slack import SLACK
from trackers.channels.shapes.teams import TEAMS
from trackers.channels.shapes.telegram import TELEGRAM

# By the kinds of channels.
SHAPES: dict[str, ServiceShape] = {
    "slack": SLACK,
    "teams": TEAMS,
    "discord": DISCORD,
    "telegram": TELEGRAM,
    "ntfy": NTFY,
    "google_chat": GOOGLE_CHAT,
    "mattermost": MATTERMOST,
    "matrix": MATRIX,
    "apprise": APPRISE,
    "browser": BROWSER,
}
TYPED_SHAPES = {kind: shape for kind, shape in SHAPES.items() if shape.is_typed}
