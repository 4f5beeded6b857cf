"""README and docs show pictures that are there, and no picture lies about unused."""

import re

from tests.conftest import PROJECT

IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def test_every_picture_exists_and_is_used():
    pages = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    visible = {
        (page.parent / path).resolve() for page in pages for path in IMAGE.findall(page.read_text())
    }

    assert visible == {path.resolve() for path in (PROJECT / "docs" / "images").iterdir()}
