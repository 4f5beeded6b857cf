"""A cluster in a process of its own: `python -m tests.jobs.cluster.program ours|stock '{…}' …`.

The second argument is laid over Q_CLUSTER; what follows goes to the qcluster command.
"""

import importlib
import json
import os
import sys

COMMANDS = {
    "ours": "trackers.management.commands.qcluster",
    "stock": "django_q.management.commands.qcluster",
}


def main(which, settings_over, *arguments):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    import django
    from django.conf import settings

    settings.Q_CLUSTER.update(json.loads(settings_over))
    django.setup()
    if which == "ours":
        from trackers.jobs.processes.cluster import Cluster

        # Ten times as often as people get it, so that tests wait less.
        Cluster.look_every, Cluster.stop_margin = 0.5, 2.0
    # Checks of pages and of settings are other tests; a start is quicker without.
    command = importlib.import_module(COMMANDS[which]).Command()
    command.run_from_argv(["manage.py", "qcluster", "--skip-checks", *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
