"""`manage.py demo`: everything on this machine, with a fake X; nothing stays when it ends.

demo ─┬─ embedded PostgreSQL (a fresh one)
      ├─ fakex     (stands in for X)
      ├─ qcluster  (the workers)
      ├─ stream    (posts as they appear)
      ├─ deliver   (events to their subscribers, and alerts to channels)
      ├─ a subscriber and fake chats, which are the demo's own
      └─ gunicorn  (the pages)
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from fakex.arguments import number, port, whole
from fakex.options import MOST_TWEETS
from trackers.management import demo_folder, demo_scene
from trackers.management.child_processes import Child, end_children
from trackers.tweets.models import Tweet

DEMO_VARIABLE = "TWEETWATCH_DEMO"
DEFAULT_PORT = 8000
MAX_RESTARTS = 5
FIRST_LOOKUPS_WITHIN = 60.0
LOOKED_UP_SHARE = 0.9

BANNER = """
  tweetwatch is running:  {address}

      user      admin
      password  {password}   (made for this run)

  {tweets} tweets of a fake X are tracked; their figures change as they are checked.
  What the fake X answered: {fake}/_fake/log
  Alerts that fake chats were sent: {chats}/
  Logs: {logs}

  Ctrl-C stops everything.
"""


class Command(BaseCommand):
    # The checks look into the database, which is yet to be created here.
    requires_system_checks = ()
    help = "Run everything with a fake X: database, workers and pages. Ctrl-C stops it all."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port",
            type=port,
            help=f"port of the pages; {DEFAULT_PORT} by default, or any free one if that is in "
            "use; 0: any",
        )
        parser.add_argument(
            "--tweets", type=whole(0, MOST_TWEETS), default=3000, help="how many tweets to track"
        )
        parser.add_argument("--seed", type=int, default=7, help="seed of the fake X's world")
        parser.add_argument("--workers", type=whole(1, 256), default=2)
        parser.add_argument(
            "--clock-speed",
            type=number(0, 1e6, above=True),
            default=1.0,
            help="how much faster the fake's tweets age",
        )
        parser.add_argument(
            "--directory",
            type=Path,
            default=settings.BASE_DIR / "var" / "demo",
            help="where its database and logs go: a new folder, or an earlier demo's, which is "
            "emptied first",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # SIGINT too: a shell without job control makes its background processes ignore it.
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, _interrupt)
        directory: Path = options["directory"].resolve()
        if os.environ.get(DEMO_VARIABLE) != str(directory):
            _restart_with_settings(directory, workers=options["workers"])
        children: list[Child] = []
        claimed = demo_folder.lock_folder(directory)
        try:
            self.run(directory, children, options)
        except KeyboardInterrupt:
            self.stdout.write("\nStopping …")
        finally:
            self.end(children)
            os.close(claimed)

    def run(self, directory: Path, children: list[Child], options: dict[str, Any]) -> None:
        port = self.port_of_pages(options["port"])
        logs = demo_folder.empty_folder(directory)
        address = f"http://127.0.0.1:{port}/"

        self.stdout.write("Starting PostgreSQL …")
        call_command("migrate", verbosity=0)
        self.stdout.write("Starting a fake X …")
        start_ms = int(time.time() * 1000)
        fake = self.start_fake(children, logs, options, start_ms=start_ms)
        self.stdout.write("Creating a week of history …")
        begun = timezone.now()
        world = demo_scene.world_of(options, start_ms=start_ms)
        callback = self.start_receiver(children, logs)
        chats = self.start_chats(children, logs)
        password = demo_scene.prepare_scene(fake, world, callback=callback, chats=chats)
        self.stdout.write("Starting the workers and the pages …")
        env = _child_env(X_API_BASE_URL=fake, PUBLIC_URL=address.rstrip("/"))
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
        workers = Child("workers", [*manage, "qcluster"], log=logs / "workers.log", env=env)
        children.append(workers)
        listen = [*manage, "stream"]
        children.append(Child("the stream", listen, log=logs / "stream.log", env=env))
        send = [*manage, "deliver"]
        children.append(Child("deliveries", send, log=logs / "deliver.log", env=env))
        children.append(Child("pages", gunicorn(port), log=logs / "pages.log", env=env))
        count = self.wait_for_first_lookups(children, workers, begun)
        self.wait_until(children, lambda: is_listening(port), "The pages did not start")
        self.stdout.write(
            BANNER.format(
                address=address,
                password=password,
                tweets=f"{count:,}",
                fake=fake,
                chats=chats,
                logs=logs,
            )
        )
        self.stdout.flush()
        while True:
            self.look_after(children)
            time.sleep(0.5)

    def port_of_pages(self, wanted: int | None) -> int:
        if wanted is not None:
            return free_port(wanted)
        if _is_free(DEFAULT_PORT):
            return DEFAULT_PORT
        port = free_port(0)
        self.stdout.write(f"Port {DEFAULT_PORT} is in use, so the pages are on port {port}.")
        return port

    def start_fake(
        self, children: list[Child], logs: Path, options: dict[str, Any], *, start_ms: int
    ) -> str:
        """The fake's address, once it listens."""
        port = free_port(0)
        flag_values = {"port": port, "start": start_ms} | {
            name: options[name] for name in ("seed", "tweets", "clock_speed")
        }
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in flag_values.items()]
        command = [sys.executable, "-m", "fakex", *flags]
        fake = Child("the fake X", command, log=logs / "fakex.log", env=_child_env())
        children.append(fake)
        self.wait_until(children, lambda: is_listening(port), "The fake X did not start")
        return f"http://127.0.0.1:{port}"

    def start_receiver(self, children: list[Child], logs: Path) -> str:
        """The address of the demo's own subscriber, once it listens."""
        port = free_port(0)
        command = [sys.executable, "-m", "trackers.management.demo_receiver", str(port)]
        receiver = Child("a subscriber", command, log=logs / "receiver.log", env=_child_env())
        children.append(receiver)
        self.wait_until(children, lambda: is_listening(port), "The demo's subscriber did not start")
        return f"http://127.0.0.1:{port}/"

    def start_chats(self, children: list[Child], logs: Path) -> str:
        """The address of the fakes of Slack and its like, once they listen."""
        port = free_port(0)
        command = [sys.executable, "-m", "trackers.management.fake_services", str(port)]
        children.append(Child("fake chats", command, log=logs / "chats.log", env=_child_env()))
        self.wait_until(children, lambda: is_listening(port), "The fake chats did not start")
        return f"http://127.0.0.1:{port}"

    def wait_for_first_lookups(self, children: list[Child], workers: Child, begun: datetime) -> int:
        """Until nearly all tweets were looked up since, or for a minute; return how many there
        are."""
        # Without those that the stream and the poll bring meanwhile.
        tweets = Tweet.objects.filter(tracked_at__lt=begun)
        total, reported = tweets.count(), 0
        deadline = time.monotonic() + FIRST_LOOKUPS_WITHIN
        while True:
            self.look_after(children)
            done = tweets.filter(Q(measured_until__gte=begun) | Q(missing_since__gte=begun)).count()
            if done > reported:
                self.stdout.write(f"  {done:,} of {total:,} tweets looked up")
                reported = done
            if done >= LOOKED_UP_SHARE * total or (done and time.monotonic() > deadline):
                return total
            if time.monotonic() > 2 * FIRST_LOOKUPS_WITHIN + deadline:
                lines = workers.last_lines()
                raise CommandError(f"No tweet was looked up. The end of the workers' log:\n{lines}")
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
        """Restart a child that died; one that keeps dying ends the demo."""
        for child in children:
            if not child.has_died():
                continue
            died = f"{child.name} {child.how_it_died()}"
            if child.restarts >= MAX_RESTARTS:
                raise CommandError(f"{died} again. The end of its log:\n{child.last_lines()}")
            self.stderr.write(f"{died}; restarting it. Its log: {child.log}")
            time.sleep(0.5)
            child.restart()

    def end(self, children: list[Child]) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        for killed in end_children(children):
            self.stderr.write(f"{killed} did not stop when asked, and was killed.")
        self.stdout.write("Everything has stopped.")


def _restart_with_settings(directory: Path, *, workers: int) -> NoReturn:
    """Run the same command with the demo's settings in its environment, where they are read."""
    sys.stdout.flush()
    env = {
        **os.environ,
        DEMO_VARIABLE: str(directory),
        "EMBEDDED_POSTGRES_DIR": str(directory / demo_folder.POSTGRES),
        # Empty: the demo never touches a database in use.
        "DATABASE_URL": "",
        "DATABASE_POOL": "false",
        "HTTPS": "false",
        "DEBUG": "false",
        "BEHIND_PROXY": "false",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "CSRF_TRUSTED_ORIGINS": "",
        "WORKERS": str(workers),
        "PYTHONUNBUFFERED": "1",
        **demo_scene.SETTINGS,
    }
    os.execve(sys.executable, sys.orig_argv, env)  # noqa: S606 - this same program


def _child_env(**variables: str) -> dict[str, str]:
    """The web server decides about its connection pool itself."""
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_POOL"}
    return {**kept, **variables}


def gunicorn(port: int) -> list[str]:
    flags = f"--bind=127.0.0.1:{port} --no-control-socket"
    config = f"--config={settings.BASE_DIR / 'gunicorn.conf.py'}"
    return [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", config, *flags.split()]


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def free_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CommandError(
                f"Port {port} cannot be used ({error.strerror}): choose another with --port or "
                "make demo PORT=…. Without either, a free one is used."
            ) from None
        chosen: int = probe.getsockname()[1]
        return chosen


def _is_free(port: int) -> bool:
    try:
        return free_port(port) == port
    except CommandError:
        return False


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
