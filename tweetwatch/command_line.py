"""Run a command of manage.py: what keeps it from its work is told in a sentence.

Exit status: 0 done, 1 nothing could be done, 2 usage, 130 Ctrl-C (docs/commands.md). Unforeseen
errors keep their traceback, since they are our faults; `--traceback` shows that of all others.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from tweetwatch.interrupts import INTERRUPTED, INTERRUPTED_SENTENCE, keep_status, raise_on_interrupt

_EXIT_DONE, _EXIT_FAILED, EXIT_USAGE = 0, 1, 2
_MAX_ERROR_LENGTH = 500
# Errors of writing to a standard output, which are no fault of a file.
_OUTPUT_FAULTS = {
    errno.ENOSPC: "there is no space left on it",
    errno.EBADF: "it is closed",
    errno.EIO: "the device does not accept it",
}


def run_command(argv: Sequence[str]) -> int:
    """Run the command that the arguments name; its exit status."""
    _open_what_is_closed()
    if wrong := next((argument for argument in argv[1:] if not _is_utf8(argument)), None):
        _say(
            f"The argument {_quoted_argument(wrong)} is not UTF-8. Give it in UTF-8, or rename the "
            "file."
        )
        return EXIT_USAGE
    try:
        try:
            status = _execute(argv)
        finally:
            # Here, where it can be reported, and not when the interpreter ends.
            sys.stdout.flush()
        return keep_status(status)
    except KeyboardInterrupt:
        # A second Ctrl-C ends what still takes its time.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _say(INTERRUPTED_SENTENCE)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough.
        _drop_output()
        return keep_status(_EXIT_DONE)
    except Exception as error:
        sentence = _sentence_of(error)
        if sentence is None or "--traceback" in argv:
            raise
        if isinstance(error, OSError):
            _drop_output()
        _say(sentence)
        return keep_status(_EXIT_FAILED)


def _execute(argv: Sequence[str]) -> int:
    import django
    from django.core.management import execute_from_command_line

    # What a start makes stays to the end. Not looked at by the collector meanwhile, it is there a
    # tenth sooner; nor afterwards, so that processes forked from this one share its memory.
    gc.disable()
    # Before the command is looked for: with a wrong setting it would not be found.
    django.setup()
    gc.freeze()
    gc.enable()
    raise_on_interrupt()
    try:
        execute_from_command_line(list(argv))
    except SystemExit as ending:
        if isinstance(ending.code, str):
            _say(ending.code)
            return _EXIT_FAILED
        # Django has said so already, but ends with 1.
        return EXIT_USAGE if _is_unknown(argv) else ending.code or _EXIT_DONE
    return _EXIT_DONE


def _is_unknown(argv: Sequence[str]) -> bool:
    from django.core.management import get_commands

    named = argv[1] if len(argv) > 1 else "help"
    return not named.startswith("-") and named not in {"help", "version", *get_commands()}


def _sentence_of(error: Exception) -> str | None:
    """What happened and what to do, if the cause is outside the program; else None."""
    import psycopg
    from django.core.exceptions import ImproperlyConfigured
    from django.db import ProgrammingError

    from tweetwatch.database import LOST
    from tweetwatch.embedded import EmbeddedPostgresError

    match error:
        case ImproperlyConfigured() | EmbeddedPostgresError():
            return str(error)
        case ProgrammingError() if isinstance(
            error.__cause__, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn
        ):
            return "The database is not migrated to this version: run `manage.py migrate`."
        case ProgrammingError() if isinstance(
            error.__cause__, psycopg.errors.InsufficientPrivilege
        ):
            return (
                f"The database does not let our account do this: {_one_line(error)}. "
                "docs/postgresql.md says what it may do."
            )
        case Exception() if isinstance(error, (*LOST, psycopg.OperationalError)):
            return (
                f"The database cannot be used: {_one_line(error)}. Check DATABASE_URL, and that "
                "PostgreSQL runs."
            )
        case OSError():
            return _file_sentence(error)
        case EOFError() if sys.stdin.isatty():
            # Ctrl-D, where something was asked for.
            return "The input ended before everything was entered."
    return None


def _file_sentence(error: OSError) -> str | None:
    if error.filename:
        return f"{os.fsdecode(error.filename)}: {error.strerror}."
    if error.errno in _OUTPUT_FAULTS:
        return f"Standard output cannot be written: {_OUTPUT_FAULTS[error.errno]}."
    return None


def _one_line(error: Exception) -> str:
    """Without libpq's question, which ours replaces."""
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines if not line.startswith("Is the server")).rstrip(".")
    return text if len(text) <= _MAX_ERROR_LENGTH else f"{text[: _MAX_ERROR_LENGTH - 1]}…"


def _is_utf8(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _quoted_argument(argument: str) -> str:
    return f"“{os.fsencode(argument).decode(errors='backslashreplace')}”"


def _say(sentence: str) -> None:
    with suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


def _open_what_is_closed() -> None:
    """Give the descriptors 0, 1 and 2 to files: the next socket would get one that is free.

    Standard output then still refuses what is written, since it is opened for reading alone.
    """
    for number, (name, flags, mode) in enumerate(
        (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_RDWR, "w"))
    ):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, flags), number)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _drop_output() -> None:
    """Discard what is left in the buffer, or it would be tried again at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
