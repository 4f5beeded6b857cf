"""CSV that is sent line by line, never held in memory as a whole."""

from __future__ import annotations


class Echo:
    """A file for csv to write to, which hands each line back."""

    def write(self, line: str) -> str:
        return line


# Some spreadsheets also accept the full-width forms of Chinese, Japanese and Korean.
FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


def without_formula(text: str) -> str:
    """Text that no spreadsheet treats as a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text
