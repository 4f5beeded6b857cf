"""The queues of sources and of imports. A poll is a request of its own, so a batch is one source."""

from datetime import timedelta

from django.db import migrations

NAMESPACES = [
    ("source:poll", "trackers.tasks.poll_source"),
    ("import:part", "trackers.tasks.import_part"),
]


def fill(apps, schema_editor):
    for name, task in NAMESPACES:
        apps.get_model("trackers", "Namespace").objects.get_or_create(
            name=name, defaults={"task": task, "batch_size": 1, "buffer_ttl": timedelta(0)}
        )


class Migration(migrations.Migration):
    dependencies = [("trackers", "0006_sources")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
