"""SQL in files: `sql/claim.sql` beside the module that sends it, read once, as that is imported.

A `{name}` in a file is a placeholder for a table of a queue, a number, or a piece of SQL that
several statements share; the statement's own values are psycopg's `%(name)s`. Other braces are
SQL's own. A file whose name begins with an underscore is such a piece. Comments stay in the file:
what is sent is `plain`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from tweetwatch.database import compact_sql

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

# The statements made of each file.
loaded_statements: dict[Path, list[str]] = {}


def statement(module: str, name: str, *, open: Collection[str] = (), **parts: object) -> str:
    """The text of `sql/<name>.sql` beside the module (its `__file__`), its placeholders filled.

    Those in `open`, and those within a part, stay for a second `fill`. KeyError: another
    placeholder has no part, or a part no placeholder.
    """
    file = Path(module).resolve().parent / "sql" / f"{name}.sql"
    text = compact_sql(file.read_text())
    if unused := parts.keys() - set(PLACEHOLDER.findall(text)):
        raise KeyError(f"{file} has no {', '.join(sorted(unused))}")
    filled = compact_sql(fill(text, {**{name: f"{{{name}}}" for name in open}, **parts}))
    loaded_statements.setdefault(file, []).append(filled)
    return filled


def fill(text: str, parts: Mapping[str, object]) -> str:
    """The text with each {name} replaced by the part of that name. KeyError: there is none."""
    return PLACEHOLDER.sub(lambda match: str(parts[match[1]]), text)
