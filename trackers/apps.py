from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate


class TrackersConfig(AppConfig):
    name = "trackers"
    verbose_name = "tweetwatch"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # They register themselves.
        import_module("tweetwatch.checks")
        import_module("tweetwatch.schema").refuse_old_databases()
        import_module("trackers.checks")
        import_module("trackers.timelines.removed_followers")
        import_module("trackers.tokens.left_teams")
        roles = import_module("trackers.roles")
        post_migrate.connect(roles.make_roles, dispatch_uid="roles")
        network = import_module("trackers.xapi.wire.network")
        network.use(network.Route(settings.X_PROXY, settings.X_CA_FILE))
