"""Credentials as people and programs may see them: never with their secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from trackers.credentials.models import Credential
from trackers.xapi.results import WindowSeen


class WindowRow(TypedDict):
    endpoint: str
    limit: int
    remaining: int
    resets_at: str


class CredentialRow(TypedDict):
    name: str
    kind: str
    api: str
    app: str
    project: str
    state: str
    reason: str
    windows: list[WindowRow]


def describe(credential: Credential) -> CredentialRow:
    return {
        "name": credential.name,
        "kind": credential.kind,
        "api": credential.api,
        "app": credential.app.name,
        "project": credential.project.name,
        "state": credential.state,
        "reason": credential.reason,
        "windows": [_describe_window(window) for window in credential.reported_windows()],
    }


def _describe_window(window: WindowSeen) -> WindowRow:
    return {
        "endpoint": window.endpoint,
        "limit": window.limit,
        "remaining": window.remaining,
        "resets_at": window.resets_at.isoformat(),
    }


def aligned_table(rows: Sequence[CredentialRow]) -> str:
    """Aligned columns with a heading, a line for each credential."""
    lines = [("NAME", "KIND", "API", "APP", "PROJECT", "STATE", "LEFT", "REASON")]
    for row in rows:
        left = ", ".join(
            f"{window['remaining']} of {window['limit']} {window['endpoint']}"
            for window in row["windows"]
        )
        who = (row["name"], row["kind"], row["api"], row["app"], row["project"])
        lines.append((*who, row["state"], left or "not known yet", row["reason"]))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
