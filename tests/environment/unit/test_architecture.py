"""docs/architecture.md names every room of the code, and nothing that is not there; nor does CI."""

import re
from pathlib import Path

from tests.conftest import PROJECT

TEXT = (PROJECT / "docs" / "architecture.md").read_text()
CODE = [PROJECT / name for name in ("trackers", "tweetwatch", "fakex", "tests")]
FILES = [path.relative_to(PROJECT).as_posix() for top in CODE for path in top.rglob("*.*")]
# Django's own kinds of packages, which every project has.
DJANGOS = {"migrations", "commands"}
ROOMS = [
    path.parent.name
    for top in ("trackers", "fakex")
    for path in sorted((PROJECT / top).glob("**/__init__.py"))
    if path.parent.name not in DJANGOS | {"trackers"}
]


def test_every_package_is_named_in_the_architecture():
    assert len(ROOMS) > 40
    assert [room for room in ROOMS if not re.search(rf"`(?:\w+/)*{room}[`/]", TEXT)] == []


def test_every_named_file_exists():
    named = re.findall(r"`([\w/]+\.(?:py|js|txt))`", TEXT)

    assert len(named) > 20
    assert [name for name in named if not exists(name)] == []


def test_every_named_module_exists():
    named = re.findall(r"`([a-z_]+/[a-z_/]+[a-z_])`", TEXT)

    assert len(named) > 20
    assert [name for name in named if not exists(f"{name}.py") and not is_package(name)] == []


def test_every_test_that_ci_and_the_docs_name_exists():
    """A file that has moved would make pytest run none of those that are named beside it."""
    texts = [*(PROJECT / ".ci").iterdir(), *PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")]
    named = {name for text in texts for name in re.findall(r"tests/[\w/]+\.py", text.read_text())}

    assert len(named) > 40
    assert sorted(name for name in named if not (PROJECT / name).exists()) == []


def exists(name):
    return (PROJECT / name).is_file() or any(file.endswith(f"/{name}") for file in FILES)


def is_package(name):
    return any(Path(*top.parts, name).is_dir() for top in (*CODE, PROJECT))
