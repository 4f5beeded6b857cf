"""Archives months as a process that dies at a step: whenever a file or a transaction is touched.

For each number that it reads, a child that kills itself there; it writes whether that was reached.
"""

import os
import signal
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()

from pyarrow import compute, parquet  # noqa: E402, F401 - each child would import them

from tests.tweets.archive.samples import archive  # noqa: E402
from trackers.tweets.archive.store import Directory  # noqa: E402

# Before each of these, which come from pathlib and os; after each of ours, and after each end of a
# transaction.
CALLS = {"fsync", "rename", "link", "unlink"}
OURS = {"read_range", "read_back", "delete_written", "register", "remove_unfinished"}


def die_at(step):
    left = step

    def look(frame, event, called):
        nonlocal left
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        ends = event == "return" and (
            name in OURS or (name == "__exit__" and file.endswith("db/transaction.py"))
        )
        if ends or (event == "c_call" and called.__name__ in CALLS):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


if __name__ == "__main__":
    store = Directory(Path(sys.argv[1]))
    for line in sys.stdin:
        child = os.fork()
        if not child:
            die_at(int(line))
            worked = archive(store)
            os._exit(0 if worked.is_done else 2)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print("killed" if killed else f"exit {os.waitstatus_to_exitcode(status)}", flush=True)
