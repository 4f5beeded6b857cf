"""Data of another major version are refused in a sentence, and stay as they are."""

import os
import subprocess
import sys

from tests.conftest import PROJECT
from tweetwatch.embedded.versions import data_version

from .conftest import fetch, poll

OLD = "16"


def test_data_of_another_postgresql_version_are_refused_with_what_to_do(server):
    user = server.user(PGSERVER_POSTGRES_VERSION=OLD)
    url = user.url()
    fetch(url, "SELECT 1")
    user.leave()
    assert poll(server.is_over)
    assert data_version(server.place.data) == OLD

    refused = subprocess.run(
        [sys.executable, "manage.py", "status"],
        cwd=PROJECT,
        env={**os.environ, "EMBEDDED_POSTGRES_DIR": str(server.directory)},
        capture_output=True,
        text=True,
    )

    assert (refused.returncode, refused.stderr) == (
        1,
        f"The data in {server.place.data} are of PostgreSQL 16, and version 18, which is "
        f"installed, cannot read them: remove {server.directory}, after a `manage.py backup` by "
        "the program that made them if you need them, and `manage.py restore` that.\n",
    )
    again = server.user(PGSERVER_POSTGRES_VERSION=OLD)
    assert again.url() == url
