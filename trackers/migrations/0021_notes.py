"""What people write on tweets, sets and days."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

KINDS = [
    ("tweet", "a tweet"), ("author", "an author"), ("source", "a source"), ("tag", "a tag"),
    ("day", "a day"),
]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("trackers", "0020_checkpoints"),
    ]

    operations = [
        migrations.CreateModel(
            "Note",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=KINDS, max_length=10)),
                ("key", models.CharField(max_length=100)),
                ("at", models.DateTimeField()),
                ("text", models.TextField(max_length=1000)),
                (
                    "written_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "written_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("changed_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index("kind", "key", "at", name="note_by_thing")],
            },
        ),
    ]
