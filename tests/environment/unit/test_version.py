"""One version: of the code, of the project, of the changelog."""

import re
import tomllib

from tests.conftest import PROJECT
from tweetwatch import VERSION


def test_version_in_code_project_and_changelog_agree():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\S+) - (\S+)$", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert newest is not None
    assert VERSION == project["version"] == newest[1]
