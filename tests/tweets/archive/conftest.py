import pytest

from trackers.tweets.archive import read
from trackers.tweets.archive.store import Directory


@pytest.fixture
def store(tmp_path, settings):
    settings.ARCHIVE = str(tmp_path / "archive")
    return Directory(tmp_path / "archive")


@pytest.fixture(autouse=True)
def archive_is_there():
    """Whatever another test met in this process."""
    read.absence.until = read.disuse.until = 0.0
