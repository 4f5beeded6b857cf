from __future__ import annotations

from django.apps import AppConfig, apps


class Rivals(AppConfig):
    name = "tests.benchmarks.timelines"
    label = "rivals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        if apps.is_installed("actstream"):
            from actstream import registry

            registry.register(*(apps.get_model(name) for name in REGISTERED))


REGISTERED = ("auth.User", "trackers.Source", "trackers.Tweet")
