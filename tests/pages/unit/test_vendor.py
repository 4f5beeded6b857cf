from hashlib import sha256

import pytest

from tests.conftest import PROJECT
from tests.pico.trim import PUBLISHED

VENDOR = PROJECT / "trackers" / "static" / "trackers" / "vendor"
# As published on npm; a change here is a change of somebody else's work.
SHA256 = {
    "idiomorph-0.8.0/idiomorph-ext.min.js": "5811b9a7eda14878b7dab4378bf60432e1bb6f11fcfb970cc26540642650181e",  # noqa: E501
    "source-sans-3.052/SourceSans3-Regular.ttf": "4644c81b86ec9caaa76b634889968ed3c4f4f52f054855933acc7c2b21e53b0f",  # noqa: E501
    "uplot-1.6.32/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",  # noqa: E501
    "uplot-1.6.32/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",  # noqa: E501
}
# Trimmed by a script of ours, from what was published.
PICO = "pico-2.1.1/pico.trimmed.css"
PUBLISHED_PICO = "fbc9a63fc9fc9f72d12fd7fc9806e11fa9f77ae4f9cad146b27003a1119ba3db"


def test_the_pico_that_is_trimmed_equals_the_published_one():
    assert sha256(PUBLISHED.read_bytes()).hexdigest() == PUBLISHED_PICO


@pytest.mark.parametrize("path", SHA256)
def test_a_vendored_file_equals_the_published_one(path):
    assert sha256((VENDOR / path).read_bytes()).hexdigest() == SHA256[path]


def test_every_vendored_file_is_listed_with_licence_and_notice():
    files = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    notices = (PROJECT / "THIRD_PARTY_NOTICES.md").read_text()

    assert {path for path in files if "LICENSE" not in path} == {*SHA256, PICO}
    for folder in VENDOR.iterdir():
        assert list(folder.glob("LICENSE*"))
        assert f"vendor/{folder.name}/" in notices


def test_no_vendored_file_names_a_missing_source_map():
    for path in (*SHA256, PICO):
        assert "sourceMappingURL" not in (VENDOR / path).read_text(errors="replace")
