"""Archives months as a process that dies at a step: whenever a file or a transaction is touched.

For each number that it reads, a child that kills itself there; it writes which step that was,
or how the child ended.
"""

import os
import signal
import sys
from pathlib import Path

import django
import obstore

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()

from pyarrow import compute, parquet  # noqa: E402, F401 - each child would import them

from tests.tweets.archive.samples import archive  # noqa: E402
from trackers.tweets import archive as archive_package  # noqa: E402
from trackers.tweets.archive.store import configured  # noqa: E402

# Before each of these, which come from pathlib and os, or from obstore; after each of ours, and
# after each end of a transaction. How often a driver waits for the server is no step: that differs
# from run to run.
CALLS = {
    "directory": {"fsync", "rename", "link", "unlink"},
    # What is read is copied to this disk first.
    "bucket": {"put", "open_writer", "close", "get", "unlink"},
}
_OF_OBSTORE = {obstore.put, obstore.open_writer, obstore.get}
OURS = {
    *("read_range", "read_back", "delete_written", "register", "remove_unfinished"),
    *("read_facts", "read_checkpoints", "note_untracked"),
}
COMMIT = "__exit__"
_ARCHIVE = str(Path(archive_package.__file__).parent)


def is_step(called):
    if called.__name__ == "close":
        return type(called.__self__).__name__ == "WritableFile"
    return called in _OF_OBSTORE or called.__name__ in CALLS["directory"]


def die_at(step):
    left = step

    def look(frame, event, called):
        nonlocal left
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if event == "c_call" and is_step(called):
            reached = called.__name__
        elif event == "return" and (
            (name in OURS and file.startswith(_ARCHIVE))
            or (name == COMMIT and file.endswith("db/transaction.py"))
        ):
            reached = name
        else:
            return
        left -= 1
        if not left:
            os.write(sys.stdout.fileno(), f"killed at {reached}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


if __name__ == "__main__":
    store = configured()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            die_at(int(line))
            worked = archive(store)
            os._exit(0 if worked.is_done else 2)
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        if ended != -signal.SIGKILL:
            print(f"exit {ended}", flush=True)
