"""`python -m tests.chaos [--json]`: a run by CHAOS_MINUTES and CHAOS_SEED; exit 1: a wrong book.

With CHAOS_ADAPTS=true its interval adapts to how fast tweets grow.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from tempfile import TemporaryDirectory

from tests.chaos import clock
from tests.chaos.books import keep_books
from tests.chaos.ending import ended_by_signals
from tests.chaos.ground import Pace
from tests.chaos.report import to_dict, to_text
from tests.chaos.run import run


def say(sentence):
    print(sentence, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object on stdout, nothing else")
    parser.add_argument("--keep", metavar="DIR", help="leave logs and the database here")
    arguments = parser.parse_args()
    minutes = float(os.environ.get("CHAOS_MINUTES") or 3)
    seed = int(os.environ.get("CHAOS_SEED") or int(time.time()) % 100_000)
    pace = Pace(adapts=os.environ.get("CHAOS_ADAPTS") == "true")
    say(f"seed {seed}: {minutes:g} minutes of faults, about two more before and after them")
    if not clock.available():
        say("Without libfaketime (apt install faketime) no host's clock is shifted.")
    with TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as short:
        directory = arguments.keep or short
        os.makedirs(directory, exist_ok=True)
        evidence = run(seed=seed, minutes=minutes, pace=pace, directory=directory, say=say)
    books = keep_books(evidence, seconds=60 * minutes)
    if arguments.json:
        print(json.dumps(to_dict(evidence, books, seed=seed, minutes=minutes)))
    else:
        print(to_text(books))
    return 0 if all(book.right for book in books) else 1


if __name__ == "__main__":
    with ended_by_signals():
        sys.exit(main())
