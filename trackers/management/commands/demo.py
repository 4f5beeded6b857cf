"""`manage.py demo`: everything on this machine, with a fake X, and nothing left when it ends.

demo ─┬─ embedded PostgreSQL (a fresh one)
      ├─ fakex     (the X that is asked)
      ├─ qcluster  (the workers)
      ├─ stream    (the posts that appear meanwhile)
      ├─ deliver   (events to their subscribers)
      └─ gunicorn  (the pages)
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from trackers.management import demo_folder
from trackers.management.children import Child, end

MARK = "TWEETWATCH_DEMO"
RESTARTS_MOST = 5
FIRST_LOOKS_WITHIN = 60.0
LIVE_TAG = "launch"
ENOUGH = 0.9

BANNER = """
  tweetwatch is running:  {address}

      user      admin
      password  {password}   (made for this run)

  {tweets} tweets of a fake X are tracked; their figures move as they are checked.
  What that X answered: {fake}/_fake/log
  Logs: {logs}

  Ctrl-C ends everything.
"""


class Command(BaseCommand):
    # The checks look into the database, which here is to be made first.
    requires_system_checks = ()
    help = "Run it all with a fake X: database, workers and pages; Ctrl-C ends everything."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the pages; 0: any free one")
        parser.add_argument("--tweets", type=int, default=3000, help="how many are tracked")
        parser.add_argument("--seed", type=int, default=7, help="which world the fake X tells of")
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument(
            "--clock-speed", type=float, default=1.0, help="how much faster the fake's tweets age"
        )
        parser.add_argument(
            "--directory",
            type=Path,
            default=settings.BASE_DIR / "var" / "demo",
            help="where its database and logs go: a new folder, or an earlier demo's, which is "
            "emptied first",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        directory: Path = options["directory"].resolve()
        if os.environ.get(MARK) != str(directory):
            begin_again(directory, workers=options["workers"])
        signal.signal(signal.SIGTERM, interrupt)
        children: list[Child] = []
        claimed = demo_folder.claim(directory)
        try:
            self.run(directory, children, options)
        except KeyboardInterrupt:
            self.stdout.write("\nEnding …")
        finally:
            self.end(children)
            os.close(claimed)

    def run(self, directory: Path, children: list[Child], options: dict[str, Any]) -> None:
        port = free_port(options["port"])
        logs = demo_folder.empty(directory)
        address = f"http://127.0.0.1:{port}/"

        self.stdout.write("Starting a PostgreSQL of its own …")
        call_command("migrate", verbosity=0)
        self.stdout.write("Starting a fake X …")
        fake = self.start_fake(children, logs, options)
        password = prepare(fake)
        self.stdout.write("Starting the workers and the pages …")
        env = child_env(X_API_BASE_URL=fake)
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
        workers = Child("workers", [*manage, "qcluster"], log=logs / "workers.log", env=env)
        children.append(workers)
        listen = [*manage, "stream"]
        children.append(Child("the stream", listen, log=logs / "stream.log", env=env))
        send = [*manage, "deliver"]
        children.append(Child("deliveries", send, log=logs / "deliver.log", env=env))
        children.append(Child("pages", gunicorn(port), log=logs / "pages.log", env=env))
        count = self.wait_for_first_looks(children)
        self.wait_until(children, lambda: is_listening(port), "The pages did not start")
        self.stdout.write(
            BANNER.format(
                address=address, password=password, tweets=f"{count:,}", fake=fake, logs=logs
            )
        )
        self.stdout.flush()
        while True:
            self.look_after(children)
            time.sleep(0.5)

    def start_fake(self, children: list[Child], logs: Path, options: dict[str, Any]) -> str:
        """The fake's address, once it listens and this database tracks its tweets."""
        port = free_port(0)
        given = {"port": port, "start": int(time.time() * 1000)} | {
            name: options[name] for name in ("seed", "tweets", "clock_speed")
        }
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        command = [sys.executable, "-m", "trackers.fakex", *flags]
        fake = Child("the fake X", command, log=logs / "fakex.log", env=child_env())
        children.append(fake)
        self.wait_until(children, lambda: is_listening(port), "The fake X did not start")
        return f"http://127.0.0.1:{port}"

    def wait_for_first_looks(self, children: list[Child]) -> int:
        """Until nearly every tweet was looked up once, or for a minute; how many are tracked."""
        from trackers.tweets.models import Tweet

        total, told = Tweet.objects.count(), 0
        deadline = time.monotonic() + FIRST_LOOKS_WITHIN
        while True:
            self.look_after(children)
            done = Tweet.objects.exclude(measurements=0, missing_since=None).count()
            if done > told:
                self.stdout.write(f"  {done:,} of {total:,} tweets looked up")
                told = done
            if done >= ENOUGH * total or (done and time.monotonic() > deadline):
                return total
            if time.monotonic() > 2 * FIRST_LOOKS_WITHIN + deadline:
                lines = children[1].last_lines()
                raise CommandError(f"No tweet was looked up; the workers' last words:\n{lines}")
            time.sleep(0.5)

    def wait_until(
        self, children: list[Child], condition: Callable[[], bool], failure: str
    ) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            self.look_after(children)
            if time.monotonic() > deadline:
                raise CommandError(f"{failure}:\n{children[-1].last_lines()}")
            time.sleep(0.1)

    def look_after(self, children: list[Child]) -> None:
        """A child that died is started anew; one that keeps dying ends the demo."""
        for child in children:
            if not child.has_died():
                continue
            died = f"{child.name} {child.how_it_died()}"
            if child.restarts >= RESTARTS_MOST:
                raise CommandError(f"{died} again; its last words:\n{child.last_lines()}")
            self.stderr.write(f"{died} and is started again; its log: {child.log}")
            time.sleep(0.5)
            child.restart()

    def end(self, children: list[Child]) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        for killed in end(children):
            self.stderr.write(f"{killed} did not end when asked and was killed.")
        self.stdout.write("Everything has ended.")


def begin_again(directory: Path, *, workers: int) -> NoReturn:
    """The same command with the demo's settings in its environment: they are read at the start."""
    sys.stdout.flush()
    env = {
        **os.environ,
        MARK: str(directory),
        "EMBEDDED_POSTGRES_DIR": str(directory / demo_folder.POSTGRES),
        # Empty: the demo never touches a database that somebody uses.
        "DATABASE_URL": "",
        "DATABASE_POOL": "false",
        "HTTPS": "false",
        "DEBUG": "false",
        "BEHIND_PROXY": "false",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "CSRF_TRUSTED_ORIGINS": "",
        "WORKERS": str(workers),
        "PYTHONUNBUFFERED": "1",
    }
    os.execve(sys.executable, sys.orig_argv, env)  # noqa: S606 - this same program


def child_env(**given: str) -> dict[str, str]:
    """The web decides about its pool itself."""
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_POOL"}
    return {**kept, **given}


def gunicorn(port: int) -> list[str]:
    flags = f"--bind=127.0.0.1:{port} --worker-class=gthread --threads=8 --no-control-socket"
    config = f"--config={settings.BASE_DIR / 'gunicorn.conf.py'}"
    return [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", config, *flags.split()]


def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def free_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CommandError(
                f"Port {port} cannot be used ({error.strerror}): choose another with --port."
            ) from None
        chosen: int = probe.getsockname()[1]
        return chosen


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def prepare(fake: str) -> str:
    """A credential for the fake, an admin, and the fake's tweets tracked; the admin's password."""
    from django.contrib.auth.models import User

    from trackers.credentials.models import Credential
    from trackers.ingest.files.track_lines import track_lines
    from trackers.ingest.sources.models import Source
    from trackers.money.projects import App

    Credential.objects.create(
        name="demo",
        kind=Credential.Kind.BEARER,
        app=App.objects.named("demo"),
        secrets={"bearer_token": secrets.token_urlsafe(40)},
    )
    password = secrets.token_urlsafe(9)
    User.objects.create_superuser("admin", "", password)
    with urllib.request.urlopen(f"{fake}/_fake/ids", timeout=30) as answer:  # noqa: S310
        ids = json.load(answer)["ids"]
    track_lines(ids, came_from="the demo")
    Source.objects.create(kind=Source.Kind.STREAM, of=f"#{LIVE_TAG}", owner="demo")
    let_posts_appear(fake)
    return password


def let_posts_appear(fake: str) -> None:
    """One every few seconds, from now on, that the demo's stream is to find."""
    flow = {"rate": 0.3, "authors": 20, "tags": [LIVE_TAG], "tagged": 0.5}
    request = urllib.request.Request(  # noqa: S310 - our own fake
        f"{fake}/_fake/posts",
        data=json.dumps(flow).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310
        return
