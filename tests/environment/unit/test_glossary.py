"""The glossary: one word for one thing, in names and in texts.

The table "Words" of docs/architecture.md says what each word replaces: `in backticks`, a name or
a part of one, that no name in code, statements, templates, metrics and JSON has; "in quotes",
words that no page and no document says.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
ARCHITECTURE = PROJECT / "docs/architecture.md"
SECTION = re.compile(r"^## Words$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
# Comments, and literals: values are not names.
SQL_NOISE = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|https?://\S+", re.DOTALL)
HTML = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)


def rows():
    """The cells of each row: the term, what it is, what it replaces."""
    section = SECTION.search(ARCHITECTURE.read_text())
    lines = [line for line in section[0].splitlines() if line.startswith("| **")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def replaced():
    """What is not said any more: names by their parts, and words of texts."""
    cells = [cells[2] for cells in rows()]
    names = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    texts = {text for cell in cells for text in re.findall(r'"([^"]+)"', cell)}
    return names, texts


@cache
def parts(name):
    """`open_gaps` and `OpenGaps` are open, gaps."""
    return tuple(part.lower() for part in PART.findall(name))


def has(name, wanted):
    """Whether the name has these parts, one after the other; in the plural, too."""
    mine, size = parts(name), len(wanted)
    return any(
        mine[at : at + size - 1] == wanted[:-1]
        and mine[at + size - 1] in (wanted[-1], f"{wanted[-1]}s")
        for at in range(len(mine) - size + 1)
    )


def names_in_python(tree):
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr


def python_files():
    for part in ("trackers", "tweetwatch", "fakex"):
        for path in (PROJECT / part).rglob("*.py"):
            if "tests" not in path.relative_to(PROJECT).parts:
                yield path
    yield PROJECT / "docs/tweetwatch_client.py"


@cache
def names():
    """Each name, and where it stands."""
    collected = defaultdict(set)
    for path in python_files():
        where = str(path.relative_to(PROJECT))
        collected[path.stem].add(where)
        if "migrations" in path.parts:
            continue
        for name in names_in_python(ast.parse(path.read_text())):
            collected[name].add(where)
    for path in (PROJECT / "trackers").rglob("*.sql"):
        for name in WORD.findall(SQL_NOISE.sub(" ", path.read_text())):
            collected[name].add(str(path.relative_to(PROJECT)))
    for path in (PROJECT / "templates").rglob("*.html"):
        for tag in TAG.findall(path.read_text()):
            for name in WORD.findall(re.sub(r'"[^"]*"', " ", tag)):
                collected[name].add(str(path.relative_to(PROJECT)))
    for path in [PROJECT / "trackers/dashboards/metrics.py", *(PROJECT / "deploy").rglob("*.*")]:
        for name in re.findall(r"tweetwatch_\w+", path.read_text()):
            collected[name].add(str(path.relative_to(PROJECT)))
    for name in json_names(json.loads((PROJECT / "docs/openapi.json").read_text())):
        collected[name].add("docs/openapi.json")
    return collected


def json_names(schema):
    """The names of properties, parameters and parts of paths."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (part for path in schema.get("paths", {}) for part in WORD.findall(path))
        if "in" in schema and "name" in schema:
            yield schema["name"]
    for value in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(value, dict | list):
            yield from json_names(value)


@cache
def texts():
    """What people read, by file: documents without code, and templates without tags."""
    pages = {
        path: HTML.sub(" ", path.read_text()) for path in (PROJECT / "templates").rglob("*.html")
    }
    documents = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    texts = {path: CODE.sub(" ", path.read_text()) for path in documents}
    texts[ARCHITECTURE] = CODE.sub(" ", SECTION.sub("", ARCHITECTURE.read_text()))
    return {
        str(path.relative_to(PROJECT)): " ".join(text.split()).lower()
        for path, text in (pages | texts).items()
    }


# A synonym that is another thing's own name.
EXCEPTIONS = {
    # The source documents' own call keeps its word, and the claim that it leads to; and so does
    # PostgreSQL's catalogue of schemas, pg_namespace.
    "namespace": {
        "trackers/jobs/queue.py",
        "trackers/jobs/claim.py",
        "trackers/backups/sql/objects.sql",
    },
}


def test_no_name_has_a_word_that_the_glossary_replaces():
    synonyms, _ = replaced()

    left = {
        (synonym, name): sorted(files)
        for synonym in synonyms
        for name, places in names().items()
        if has(name, parts(synonym)) and (files := places - EXCEPTIONS.get(synonym, set()))
    }

    assert not left, "docs/architecture.md, Words, has a better one"


def test_no_text_says_a_word_that_the_glossary_replaces():
    _, synonyms = replaced()

    left = {
        (synonym, path)
        for synonym in synonyms
        for path, text in texts().items()
        if re.search(rf"(?<![\w-]){re.escape(synonym)}(?![\w-])", text)
    }

    assert not left, "docs/architecture.md, Words, has a better one"


def test_the_glossary_is_read():
    synonyms, words = replaced()

    assert len(rows()) >= 60
    assert len(synonyms) >= 20
    assert len(words) >= 10
    assert has("open_gaps", parts("gap"))
    assert not has("stopgap", parts("gap"))
