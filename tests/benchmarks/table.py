"""A result as lines of text: its table, its bars, its notes."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.results import Bar, Result, Value


def lines(result: Result) -> Iterator[str]:
    yield ""
    yield result.name
    yield from table(result)
    for bar in result.bars:
        yield "  " + judged(bar)
    for note in result.notes:
        yield f"  {note}"
    yield ""


def table(result: Result) -> Iterator[str]:
    if not result.rows:
        return
    columns = list(dict.fromkeys(name for row in result.rows for name in row))
    cells = [[text(row.get(name)) for name in columns] for row in result.rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for row in (columns, *cells):
        first, *rest = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join([first, *rest]).rstrip()


def judged(bar: Bar) -> str:
    said = "met   " if bar.met else "MISSED"
    kind = " (a book)" if bar.book else ""
    unit = f" {bar.unit}" if bar.unit else ""
    return f"{said} {bar.name}{kind}: {text(bar.measured)}{unit}, {bar.sense} {text(bar.bound)}"


def text(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
