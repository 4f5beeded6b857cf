"""Checks at start: only the user who runs the program can read .env, which holds every key, and of
several databases the one that can be written is chosen; sites that frame shares are sites."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error, Warning, register

from tweetwatch.env_file import why_unreadable

# The tag of all checks of what is set and stored, as opposed to the code.
INSTALLATION = "installation"
_SITE = re.compile(r"'none'|https://(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?")


@register(INSTALLATION)
def env_file_is_private(**_: Any) -> list[Warning]:
    path: Path = settings.ENV_FILE
    if fault := why_unreadable(path):
        hint = "Let this user read it, or move it away."
        return [Warning(f"{fault}: only the environment is used.", hint=hint, id="tweetwatch.W002")]
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return []
    if mode & 0o077:
        text = f"Other users can read or change {path} (mode {mode:04o}), which holds every key."
        return [Warning(text, hint=f"chmod 600 {path}", id="tweetwatch.W001")]
    return []


@register(INSTALLATION)
def primary_is_chosen(**_: Any) -> list[Warning]:
    """Of several hosts libpq takes the first that answers, a read-only standby as well."""
    database = settings.DATABASES["default"]
    if "," not in str(database.get("HOST")) or "target_session_attrs" in database["OPTIONS"]:
        return []
    text = "DATABASE_URL names several hosts, and a standby among them cannot be written."
    hint = "Add ?target_session_attrs=read-write to it."
    return [Warning(text, hint=hint, id="tweetwatch.W003")]


@register(INSTALLATION)
def framing_sites_are_sites(**_: Any) -> list[Error]:
    """What a browser does not understand as a site would be no limit, or break the others."""
    return [
        Error(
            f"SHARE_FRAME_ANCESTORS has {site!r}, which is no site.",
            hint="SHARE_FRAME_ANCESTORS=https://news.example,https://*.example.org",
            id="tweetwatch.E001",
        )
        for site in settings.SHARE_FRAME_ANCESTORS
        if not _SITE.fullmatch(site)
    ]
