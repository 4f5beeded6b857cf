"""Read `.env`: what the environment does not set, or why that cannot be read."""

from __future__ import annotations

import codecs
import os
from io import StringIO
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

# Nothing starts without these; if the environment has them, no file is needed.
_NEEDED = ("SECRET_KEY", "FIELD_KEYS")


def read_env_file(path: Path) -> None:
    """Take from the file, if there is one, what the environment does not set."""
    fault = why_unreadable(path)
    if fault and not all(os.environ.get(name) for name in _NEEDED):
        raise ImproperlyConfigured(
            f"{fault}, and {' and '.join(_NEEDED)} are not in the environment either. "
            "Make it this user's own (chown, chmod 600), or run as its owner."
        )
    if not fault and path.exists():
        environ.Env.read_env(StringIO(_env_text(path)))


def _env_text(path: Path) -> str:
    """The file's text; ImproperlyConfigured, with the line's number, where it is not UTF-8.

    Editors of Windows put a mark before the first letter. Comments may be in any encoding.
    """
    lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            if not line.lstrip().startswith(b"#"):
                raise ImproperlyConfigured(
                    f"Line {number} of {path} is not UTF-8. Save the file as UTF-8, or write only "
                    "ASCII characters in it."
                ) from None
    return b"\n".join(lines).decode(errors="replace")


def why_unreadable(path: Path) -> str:
    """Why the file cannot be read; empty if it can, or if there is none."""
    try:
        with path.open("rb"):
            return ""
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path} cannot be read by the user {user_name()} ({error.strerror})"


def user_name() -> str:
    import pwd  # Missing on other systems, which `refuse_other_systems` must be able to refuse.

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
