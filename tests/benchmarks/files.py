"""How fast is a file read, and in how much memory? A million rows in each container.

Only reading: what follows is the same for all of them, and measured by `burst`. Each file is read
by a process of its own, of which the kernel knows the most memory that it took since it began: what
`getrusage` says includes that of the process that started it.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
from pyarrow import parquet

from tests.benchmarks.results import Bar, Result
from tests.benchmarks.workshop import Workshop

ROWS = 1_000_000
FIRST, STEP = 1_212_092_628_029_698_055, 4_194_313
# Of one that reads; a document of a gigabyte is to need no more. In one that is a single line, up
# to 16 MB may be one value, which is in memory as objects.
MOST_MB, MOST_MB_OF_ONE_LINE = 120, 220
READ = """
import sys, time, resource, os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()
from tests.ingest.files.outcomes import count_tweets
began = time.process_time()
count = count_tweets(sys.argv[1])
took = time.process_time() - began
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(count, took, int(status["VmHWM"].split()[0]) / 1024,
      resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def ids(count: int) -> Iterator[int]:
    return iter(range(FIRST, FIRST + count * STEP, STEP))


def objects(count: int) -> Iterator[str]:
    for id in ids(count):
        yield json.dumps(
            {"id": id, "id_str": str(id), "full_text": "words " * 20, "lang": "en",
             "created_at": "Wed Jan 01 00:00:01 +0000 2020", "favorite_count": 3,
             "retweet_count": 1, "user": {"id_str": "1001", "screen_name": "someone"}}
        )  # fmt: skip


def lines(path: Path, texts: Iterator[str], *, encoding: str = "utf-8") -> None:
    with path.open("w", encoding=encoding) as file:
        file.writelines(f"{text}\n" for text in texts)


def of_ids(path: Path, count: int) -> None:
    lines(path, map(str, ids(count)))


def of_utf_16(path: Path, count: int) -> None:
    lines(path, map(str, ids(count)), encoding="utf-16")


def several(path: Path, count: int) -> None:
    all = [*ids(count)]
    lines(path, (" ".join(map(str, all[at : at + 10])) for at in range(0, count, 10)))


def of_table(path: Path, count: int) -> None:
    rows = (f'{n},https://x.com/a/status/{id},"some, words"' for n, id in enumerate(ids(count)))
    lines(path, (row for some in (["n,url,text"], rows) for row in some))


def of_jsonl(path: Path, count: int) -> None:
    lines(path, objects(count))


def packed(path: Path, count: int) -> None:
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(f"{each}\n" for each in objects(count))


def one_line(path: Path, count: int) -> None:
    """A page of search, in which all tweets stand in one line."""
    with path.open("w") as file:
        file.write('{"search_metadata": {"count": 1}, "statuses": [')
        for place, each in enumerate(objects(count)):
            file.write(f"{', ' if place else ''}{each}")
        file.write("]}")


def archive(path: Path, count: int) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
        made.open("data/tweets.js", "w", force_zip64=True) as file,
    ):
        file.write(b"window.YTD.tweets.part0 = [\n")
        for place, each in enumerate(objects(count)):
            text = json.dumps({"tweet": json.loads(each)}, indent=2)
            file.write(f"{',' if place else ''}{text}\n".encode())
        file.write(b"]\n")


def of_parquet(path: Path, count: int) -> None:
    parquet.write_table(pyarrow.table({"tweet_id": [*ids(count)]}), path)


def of_workbook(path: Path, count: int) -> None:
    from tests.ingest.files.workbooks import text, workbook

    rows = ([text(f"https://x.com/a/status/{id}")] for id in ids(min(count, 1_000_000)))
    path.write_bytes(workbook([[text("url")], *rows]))


ONE_LINE = "JSON in one line"
CONTAINERS: dict[str, Callable[[Path, int], None]] = {
    "ids, one a line": of_ids,
    "ids, ten a line": several,
    "UTF-16": of_utf_16,
    "CSV with links": of_table,
    "JSONL": of_jsonl,
    "JSONL, gzip": packed,
    ONE_LINE: one_line,
    "ZIP of X's archive": archive,
    "Parquet": of_parquet,
    "Excel": of_workbook,
}
# These need their whole memory, in a process of their own.
SHEETS = {"Parquet", "Excel"}


def run(shop: Workshop) -> Result:
    count = shop.size.many(ROWS)
    rows, most, of_one_line = [], 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, write in CONTAINERS.items():
            shop.say(f"files: {name}")
            path = Path(folder) / "file"
            write(path, count)
            told = subprocess.run(
                [sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": "."},
            ).stdout  # fmt: skip
            tweets, seconds, memory, sheet = map(float, told.split())
            assert tweets == count, f"{name}: {tweets:,.0f} of {count:,} tweets"
            if name == ONE_LINE:
                of_one_line = memory
            elif name not in SHEETS:
                most = max(most, memory)
            rows.append(
                {"file": name, "MB": round(path.stat().st_size / 1e6),
                 "tweets per CPU second": round(count / seconds), "memory (MB)": round(memory),
                 "of the sheet's process": round(sheet) if name in SHEETS else None}
            )  # fmt: skip
            path.unlink()
    bars = [
        Bar("memory for each text container", most, MOST_MB, "at most", "MB"),
        Bar("of JSON in one line", of_one_line, MOST_MB_OF_ONE_LINE, "at most", "MB"),
    ]
    return Result("files", rows, bars)
