"""Write a .env with fresh keys, for this machine only, if there is none."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet

_ENV_PATH = Path(__file__).resolve().parent.parent / ".env"


def _write_env(path: Path) -> bool:
    """False if the file exists: keys that encrypted something are never replaced."""
    text = (
        "# Made for this machine; every variable is explained in .env.example.\n"
        f"SECRET_KEY={secrets.token_urlsafe(50)}\n"
        f"FIELD_KEYS={Fernet.generate_key().decode()}\n"
        "HTTPS=false\n"
    )
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(file, "w") as out:
        out.write(text)
    return True


if __name__ == "__main__":
    print(
        f"wrote {_ENV_PATH} with fresh keys"
        if _write_env(_ENV_PATH)
        else f"{_ENV_PATH} already exists"
    )
