# Scopes of tokens, how often each asks, and answers to POSTs with an Idempotency-Key.

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SCOPES = [
    ("read", "read: look, and change nothing"),
    ("write", "write: also tweets, sources, timelines and follows"),
    ("admin", "admin: also subscribers, intervals and queues"),
]
HELP = "What a program may do with it, as far as its user may."


class Migration(migrations.Migration):

    dependencies = [
        ("trackers", "0044_priority_words"),
    ]

    operations = [
        # Tokens that are there may still do all that they could; new ones begin with the least.
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(choices=SCOPES, default="admin", help_text=HELP, max_length=5),
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(choices=SCOPES, default="read", help_text=HELP, max_length=5),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(("scope__in", ["read", "write", "admin"])),
                name="apitoken_scope",
            ),
        ),
        migrations.CreateModel(
            name="ApiAnswer",
            fields=[
                ("pk", models.CompositePrimaryKey("token_id", "key", blank=True, editable=False, primary_key=True, serialize=False)),
                ("token_id", models.BigIntegerField()),
                ("key", models.UUIDField()),
                ("asked", models.UUIDField()),
                ("status", models.SmallIntegerField(null=True)),
                ("content_type", models.CharField(blank=True, db_default="", default="", max_length=100)),
                ("answer", models.BinaryField(null=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "indexes": [models.Index(fields=["at"], name="apianswer_oldest")],
            },
        ),
        migrations.CreateModel(
            name="ApiUse",
            fields=[
                ("token", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="trackers.apitoken")),
                ("begun_at", models.DateTimeField()),
                ("used", models.IntegerField()),
            ],
        ),
        # Every request writes its row: in place, and not into the log.
        migrations.RunSQL(
            "ALTER TABLE trackers_apiuse SET UNLOGGED; "
            "ALTER TABLE trackers_apiuse SET (fillfactor = 50)",
            migrations.RunSQL.noop,
        ),
    ]
