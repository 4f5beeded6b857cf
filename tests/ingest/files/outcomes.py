"""What becomes of a file: read as `track` reads it, without a database.

`python -m tests.ingest.files` prints the table of docs/files.md.
"""

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from trackers.ingest.files.archive import Archive, is_zip
from trackers.ingest.files.cut_archive import with_tweets
from trackers.ingest.files.firstbytes import check_first_bytes, first_bytes
from trackers.ingest.files.limits import NO_LIMITS, Taken
from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.opening import lines_of
from trackers.ingest.files.sheets import SheetLines, kind_of_sheet
from trackers.ingest.found_tweets import FoundTweet, Options, UnreadableError

FOLDER = Path(__file__).parent / "of_people"


@dataclass
class Outcome:
    ids: list[int] = field(default_factory=list)
    dated: int = 0  # how many come with counts that say when they were measured
    rejected: dict[int, str] = field(default_factory=dict)  # by line, the last reason
    notes: list[str] = field(default_factory=list)
    refused: str = ""


def outcome_of(data: bytes, **options) -> Outcome:
    outcome = Outcome()
    file = io.BytesIO(data)
    chosen = Options(on_note=outcome.notes.append, **options)
    try:
        for lines in texts_of(file, outcome.notes):
            for each in read_tweets(lines, options=chosen):
                if not isinstance(each, FoundTweet):
                    outcome.rejected[each.line] = each.why
                    continue
                outcome.ids.append(each.id)
                outcome.dated += each.retrieved_at is not None
                outcome.notes += [each.odd] if each.odd else []
    except UnreadableError as fault:
        outcome.refused = str(fault)
    return outcome


def count_tweets(path: str) -> int:
    """Without keeping any of them."""
    with open(path, "rb") as file:
        return sum(
            isinstance(each, FoundTweet)
            for lines in texts_of(file, [])
            for each in read_tweets(lines)
        )


def texts_of(file, notes):
    if kind := kind_of_sheet(file):
        yield lines_of(SheetLines(file, kind), passed=lambda _: None)
        return
    if not is_zip(file):
        notes += filter(None, [check_first_bytes(first_bytes(file))])
        yield lines_of(file, passed=lambda _: None)
        return
    archive = Archive(file)
    for member, _ in with_tweets(archive, limits=NO_LIMITS):
        notes.append(member.name)
        yield archive.lines(member.name, passed=lambda _: None, limits=NO_LIMITS, taken=Taken())
    notes += filter(None, [archive.left_out_note()])


def table() -> str:
    """The table of all files."""
    rows = ["| file | tracked | rejected, with the first line | said |", "|---|---|---|---|"]
    for path in sorted(FOLDER.iterdir()):
        outcome = outcome_of(path.read_bytes())
        first = next(iter(sorted(outcome.rejected.items())), None)
        lines = f"{len(outcome.rejected)} (line {first[0]} {first[1]})" if first else "0"
        said = f"refused: {outcome.refused}" if outcome.refused else "; ".join(outcome.notes)
        cells = (path.name, str(len(set(outcome.ids))), lines, said)
        rows.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def zipped(**members) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return packed.getvalue()
