"""The version of the program, from pyproject.toml."""

from __future__ import annotations

import tomllib

from django.conf import settings


def version() -> str:
    told = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
    return str(told["project"]["version"])
