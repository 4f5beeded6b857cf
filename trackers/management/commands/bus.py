"""`manage.py bus`: the HTTP API of the event bus, served by gunicorn."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import CommandParser

from fakex.arguments import port, whole
from trackers.management.pageless import PagelessCommand

BIND = "127.0.0.1:8100"
# `manage.py` took these from .env; bus_wsgi decides about them itself.
OWN_VARIABLES = {"DATABASE_POOL", "DATABASE_STATEMENT_TIMEOUT"}
# Longer than proxies keep an idle connection, so that they are the ones to close it.
KEEP_ALIVE = 75
MAX_PROCESSES = 1000


class Command(PagelessCommand):
    help = "Serve the HTTP API of the event bus until SIGTERM or Ctrl-C (docs/bus.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--bind",
            type=_bind_address,
            default=BIND,
            metavar="HOST:PORT",
            help=f"{BIND} by default; port 0: any",
        )
        parser.add_argument(
            "--workers", type=whole(1, MAX_PROCESSES), default=2, help="worker processes"
        )
        parser.add_argument(
            "--threads", type=whole(1, MAX_PROCESSES), default=8, help="threads in each process"
        )

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        kept = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
        command = gunicorn(options["bind"], workers=options["workers"], threads=options["threads"])
        sys.stderr.flush()
        # In this same process, so that signals go to gunicorn.
        os.execve(sys.executable, command, kept)  # noqa: S606 - our own program


def _bind_address(text: str) -> str:
    """What gunicorn understands; it ends with a traceback at a port that there is not."""
    if text.startswith(("unix:", "fd://")):
        return text
    host, _, number = text.rpartition(":")
    if not host:
        raise ArgumentTypeError(f"{text} is not HOST:PORT, such as {BIND}")
    port(number)
    return text


def gunicorn(bind: str, *, workers: int, threads: int) -> list[str]:
    flags = f"--workers={workers} --threads={threads} --keep-alive={KEEP_ALIVE} --no-control-socket"
    config = f"--config={settings.BASE_DIR / 'gunicorn.conf.py'}"
    where = (config, f"--bind={bind}", f"--chdir={settings.BASE_DIR}")
    return [sys.executable, "-m", "gunicorn", "tweetwatch.bus_wsgi", *where, *flags.split()]
