"""A bar over the bytes of the tables, while a backup is made or restored."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from tqdm import tqdm


class TableBar:
    """Drawn only on a terminal; moves when the next table is reached."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.sizes: dict[str, int] = {}
        self.reached = ""
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            if kind is None:
                self.bar.update(self.bar.total - self.bar.n)
            self.bar.close()

    def begin(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        total = sum(sizes.values())
        self.bar = tqdm(desc=self.label, total=total, unit="B", unit_scale=True, disable=None)

    def reach(self, table: str) -> None:
        self.bar.update(self.sizes.get(self.reached, 0))
        self.bar.set_postfix_str(table)
        self.reached = table
