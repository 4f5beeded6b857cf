"""`manage.py qcluster`: the workers. Replaces django-q2's command of that name."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django_q.conf import Conf

from trackers.jobs.processes.cluster import Cluster
from trackers.management.pageless import PagelessCommand
from trackers.tasks import record_statistics
from tweetwatch.schema import wait_for_fitting_database


class Command(PagelessCommand):
    help = "Run a cluster of workers until SIGINT or SIGTERM. Several can run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--run-once", action="store_true", help="work through one round of claims, then stop"
        )
        parser.add_argument(
            "-n", "--name", help="the queue of ordinary tasks to work on, like Q_CLUSTER_NAME"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        if name and name != Conf.CLUSTER_NAME:
            # django-q2 reads the name on import, which has already happened.
            os.execve(  # noqa: S606 - this same command, with the name in the environment
                sys.executable, sys.orig_argv, {**os.environ, "Q_CLUSTER_NAME": name}
            )
        wait_for_fitting_database()
        cluster = Cluster()
        cluster.record = record_statistics
        cluster.stop_requested = options["run_once"]
        try:
            pid = cluster.start()
        except RuntimeError as error:
            raise CommandError(str(error)) from error
        if cluster.start_event.is_set():
            self.announce(f"qcluster {Conf.CLUSTER_NAME}: {Conf.WORKERS} workers, pid {pid}")
        if status := cluster.watch():
            sys.exit(status)
