"""`manage.py bus`: the HTTP API of the event bus, served by gunicorn."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from trackers.management.pageless import PagelessCommand

BIND = "127.0.0.1:8100"
# `manage.py` took these from .env; bus_wsgi decides about them itself.
ITS_OWN = {"DATABASE_POOL", "DATABASE_STATEMENT_TIMEOUT"}
# Longer than proxies keep an idle connection, so that they are the ones to close it.
KEEP_ALIVE = 75


class Command(PagelessCommand):
    help = "Serve the HTTP API of the event bus until SIGTERM or Ctrl-C (docs/bus.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--bind", default=BIND, metavar="HOST:PORT", help=f"{BIND} by default; port 0: any"
        )
        parser.add_argument("--workers", type=int, default=2, help="worker processes")
        parser.add_argument("--threads", type=int, default=8, help="threads in each process")

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        workers, threads = options["workers"], options["threads"]
        if workers < 1 or threads < 1:
            raise CommandError("Give at least one worker and one thread.", returncode=2)
        if not settings.BUS_ROOT_TOKEN:
            self.announce(
                "BUS_ROOT_TOKEN is not set, so no client has root access. Create tokens with "
                "`manage.py bus_token add NAME`."
            )
        kept = {name: value for name, value in os.environ.items() if name not in ITS_OWN}
        command = gunicorn(options["bind"], workers=workers, threads=threads)
        sys.stderr.flush()
        # In this same process, so that signals go to gunicorn.
        os.execve(sys.executable, command, kept)  # noqa: S606 - our own program


def gunicorn(bind: str, *, workers: int, threads: int) -> list[str]:
    flags = (
        f"--worker-class=gthread --workers={workers} --threads={threads}"
        f" --keep-alive={KEEP_ALIVE} --no-control-socket"
    )
    config = f"--config={settings.BASE_DIR / 'gunicorn.conf.py'}"
    where = (config, f"--bind={bind}", f"--chdir={settings.BASE_DIR}")
    return [sys.executable, "-m", "gunicorn", "tweetwatch.bus_wsgi", *where, *flags.split()]
