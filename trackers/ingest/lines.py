"""What a person or a file gives us, line by line: ids, addresses, CSV, JSONL.

line ─> Found (an id, perhaps with all that X told of it) or Rejected (its number and why)
A bad line is told of and refuses nothing else.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import orjson

from trackers.xapi import parse_v1, parse_v2
from trackers.xapi.answers import Post
from trackers.xapi.fields import Broken

ID = re.compile(r"[0-9]{1,19}")
ADDRESS = re.compile(
    r"(?:https?://)?(?:(?:www|mobile|m)\.)?(?:twitter|x)\.com/"
    r"(?:i/(?:web/)?|[A-Za-z0-9_]{1,20}/)status(?:es)?/(?P<id>[0-9]{1,19})(?:[/?#].*)?",
    re.IGNORECASE,
)
LARGEST_ID = 2**63 - 1
# The plainest first: beside one of these, `id` is often the row's own number, or 1.2E+18 where a
# spreadsheet was, and `tweet` the text.
ID_COLUMNS = (
    "tweet_id",
    "id_str",
    "tweetid",
    "status_id",
    "id",
    "tweet_url",
    "url",
    "link",
    "tweet",
)
SHOWN = 80


@dataclass(frozen=True, slots=True)
class Found:
    """A tweet to track. `post` is what came with the id, measured at `retrieved_at` if it says."""

    id: int
    post: Post | None = None
    retrieved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    line: int
    text: str
    why: str


def read(lines: Iterable[str], *, format: str = "auto") -> Iterator[Found | Rejected]:
    """Read ids, addresses, CSV or JSONL; `auto` decides by the first line that is not empty.

    Empty lines are passed over, and those that begin with # at the head or among ids.
    """
    # Only the ends of lines are cut: in a table, an empty first cell may be a tab.
    numbered = ((n, line.rstrip("\r\n").lstrip("\ufeff")) for n, line in enumerate(lines, start=1))
    filled = ((n, line) for n, line in numbered if line.strip())
    first = next((one for one in filled if not is_remark(one[1])), None)
    if first is None:
        return
    format = guess(first[1].strip()) if format == "auto" else format
    yield from READERS[format](chain((first,), filled))


def is_remark(line: str) -> bool:
    return line.lstrip().startswith("#")


def guess(line: str) -> str:
    if line.startswith(("{", "[")):
        return "jsonl"
    if (id_of(line) is None and any(c in line for c in ",;\t")) or column_name(line) in ID_COLUMNS:
        return "csv"
    return "ids"


def column_name(cell: str) -> str:
    return cell.strip().strip('"').lower().replace(" ", "_")


def id_of(text: str) -> int | None:
    """The id in an id or in the address of a tweet; None when there is none."""
    text = text.strip().strip('"')
    if ID.fullmatch(text):
        id = int(text)
    elif match := ADDRESS.fullmatch(text):
        id = int(match["id"])
    else:
        return None
    return id if 0 < id <= LARGEST_ID else None


def read_ids(lines: Iterator[tuple[int, str]]) -> Iterator[Found | Rejected]:
    for number, line in lines:
        if is_remark(line):
            continue
        id = id_of(line)
        if id is None:
            yield Rejected(
                number, line.strip()[:SHOWN], "is neither the id nor the address of a tweet"
            )
        else:
            yield Found(id)


def read_csv(lines: Iterator[tuple[int, str]]) -> Iterator[Found | Rejected]:
    """The column is the first that a header names like an id, else the first with an id in it.

    Lines before the first that has either are rejected.
    """
    delimiter, column = ",", 0
    for number, head in lines:
        delimiter = max(",;\t", key=head.count)
        place = place_of_ids(head, delimiter)
        if place is not None:
            column, is_header = place
            lines = lines if is_header else chain(((number, head),), lines)
            break
        yield Rejected(
            number, head[:SHOWN], f"names no column of ids; one of {', '.join(ID_COLUMNS)} would"
        )
    for number, line in lines:
        # A line of its own: a quoted field that runs over several lines is told of, not guessed at.
        try:
            row = next(csv.reader([line], delimiter=delimiter, strict=True))
        except (csv.Error, StopIteration) as fault:
            yield Rejected(number, line[:SHOWN], f"is no line of CSV: {fault}")
            continue
        id = id_of(row[column]) if column < len(row) else None
        if id is None:
            yield Rejected(number, line[:SHOWN], f"has no id in column {column + 1}")
        else:
            yield Found(id)


def place_of_ids(head: str, delimiter: str) -> tuple[int, bool] | None:
    """The column of the ids, and whether the line is a header; None when it tells neither."""
    try:
        cells = next(csv.reader([head], delimiter=delimiter))
    except (csv.Error, StopIteration):
        return None
    names = [column_name(cell) for cell in cells]
    for name in ID_COLUMNS:
        if name in names:
            return names.index(name), True
    column = next((i for i, cell in enumerate(cells) if id_of(cell) is not None), None)
    return None if column is None else (column, False)


def read_jsonl(lines: Iterator[tuple[int, str]]) -> Iterator[Found | Rejected]:
    for number, line in lines:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as fault:
            yield Rejected(number, line[:SHOWN], f"is no JSON: {fault}")
            continue
        for one in posts_in(value):
            try:
                yield found(one)
            except Broken as fault:
                yield Rejected(number, line[:SHOWN], f"is no tweet: {fault}")


def posts_in(value: Any) -> Iterator[Any]:
    """A bare tweet, a list of them, or a whole answer with `data`."""
    if isinstance(value, dict) and isinstance(value.get("data"), dict | list):
        data = value["data"]
        marks = value.get("__twarc")
        for one in data if isinstance(data, list) else [data]:
            yield {**one, "__twarc": marks} if marks and isinstance(one, dict) else one
    elif isinstance(value, list):
        yield from value
    else:
        yield value


def found(value: Any) -> Found:
    """An id, an address, or a tweet as v2 or v1.1 shows it; Broken when it is none of them."""
    if not isinstance(value, dict):
        id = id_of(str(value)) if isinstance(value, int | str) else None
        if id is None:
            raise Broken("neither an id, an address nor an object")
        return Found(id)
    text = value.get("id_str", value.get("id"))
    id = id_of(str(text)) if isinstance(text, int | str) else None
    if id is None:
        raise Broken("there is no id in it")
    if "public_metrics" in value:
        post = parse_v2.read_post({**value, "id": str(id)}, id)
    elif "favorite_count" in value or "retweet_count" in value:
        post = parse_v1.read_status({**value, "id_str": str(id)}, id)
    else:
        return Found(id)
    return Found(id, post, retrieved_at(value))


def retrieved_at(value: Any) -> datetime | None:
    """When twarc fetched it, as twarc notes it."""
    marks = value.get("__twarc") if isinstance(value, dict) else None
    text = marks.get("retrieved_at") if isinstance(marks, dict) else None
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None


READERS = {"ids": read_ids, "csv": read_csv, "jsonl": read_jsonl}
