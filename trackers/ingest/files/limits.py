"""How much one import may contain: a few kilobytes, well packed, can be gigabytes of lines."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import filesizeformat

from trackers.ingest.found_tweets import TooLargeError

# Tweets are packed to a tenth or a twentieth, nothing but zeros to a thousandth.
_MOST_RATIO, _RATIO_MATTERS_FROM = 200, 1 << 20
# From this share of a limit on, the user is told about it.
_NEAR_LIMIT = 0.8
_INSTEAD = "Split the file, or set a higher {} in .env."


@dataclass(slots=True)
class Taken:
    """How much was read, unpacked."""

    bytes: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The most bytes, unpacked, and the most lines of one import."""

    bytes: int
    lines: int

    def check(self, taken: Taken) -> None:
        """Raises TooLargeError, with a sentence that names the limit."""
        if taken.lines > self.lines:
            raise TooLargeError(
                f"It has more than {self.lines:,} lines, the most that one import may have. "
                + _INSTEAD.format("IMPORT_MOST_LINES")
            )
        if taken.bytes > self.bytes:
            raise TooLargeError(
                f"It has more than {size(self.bytes)} in it, the most that one import may have. "
                + _INSTEAD.format("IMPORT_MOST_BYTES")
            )

    def check_ratio(self, *, packed: int, unpacked: int) -> None:
        if unpacked > _RATIO_MATTERS_FROM + _MOST_RATIO * packed:
            raise TooLargeError(
                f"It unpacks to more than {_MOST_RATIO} times its size, which no file of tweets "
                "should. If it is one, unpack it first."
            )

    def near(self, taken: Taken) -> str:
        """A sentence when a limit is nearly reached; else empty."""
        for had, most, what, name in (
            (taken.lines, self.lines, f"{self.lines:,} lines", "IMPORT_MOST_LINES"),
            (taken.bytes, self.bytes, size(self.bytes), "IMPORT_MOST_BYTES"),
        ):
            if had >= _NEAR_LIMIT * most:
                share = f"{had / most:.0%}"
                return f"This is {share} of the {what} that one import may have ({name})."
        return ""


def size(bytes: int) -> str:
    # Django puts a no-break space between number and unit, which terminals do not show.
    return filesizeformat(bytes).replace("\xa0", " ")


NO_LIMITS = Limits(bytes=1 << 63, lines=1 << 63)
