"""Check at start that only the user who runs the program can read .env, which holds every key."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Warning, register

from tweetwatch.environment import why_unreadable

# The tag of all checks of what is set and stored, as opposed to the code.
INSTALLATION = "installation"


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
