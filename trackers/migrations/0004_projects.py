"""Apps and projects become rows above the credentials, and tweets remember who paid for them."""

from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone


def dollars(**given):
    return models.DecimalField(
        max_digits=12,
        decimal_places=6,
        validators=[django.core.validators.MinValueValidator(0)],
        **given,
    )


SPREAD = (
    "No limit when empty. Without a budget for the day it is spread evenly over the days that "
    "are left."
)


def make_apps(apps, schema_editor):
    """The texts of old: the app was the credential's name when empty, the project the app's."""
    project, app = apps.get_model("trackers", "Project"), apps.get_model("trackers", "App")
    for credential in apps.get_model("trackers", "Credential").objects.defer("secrets"):
        name = credential.app_name or credential.name
        owner, _ = project.objects.get_or_create(name=credential.project or name)
        credential.app, _ = app.objects.get_or_create(name=name, defaults={"project": owner})
        credential.save(update_fields=["app"])
    # Windows are kept by app now. X tells of them again with the next reply.
    apps.get_model("trackers", "Window").objects.all().delete()


SCHEDULES = [
    ("rations", "trackers.tasks.ration_money", {"schedule_type": "I", "minutes": 1}),
    ("usage", "trackers.tasks.compare_usage", {"schedule_type": "H"}),
]


def schedule(apps, schema_editor):
    for name, task, often in SCHEDULES:
        apps.get_model("django_q", "Schedule").objects.get_or_create(
            name=name, defaults={"func": task, "next_run": timezone.now(), **often}
        )


class Migration(migrations.Migration):
    dependencies = [
        ("trackers", "0003_defaults"),
        ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True)),
                (
                    "posts_a_day",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="No limit when empty.",
                        null=True,
                        verbose_name="tweet-days a UTC day",
                    ),
                ),
                (
                    "posts_a_month",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text=SPREAD,
                        null=True,
                        verbose_name="tweet-days a month",
                    ),
                ),
                (
                    "money_a_day",
                    dollars(
                        blank=True,
                        help_text="No limit when empty.",
                        null=True,
                        verbose_name="US dollars a UTC day",
                    ),
                ),
                (
                    "money_a_month",
                    dollars(
                        blank=True,
                        help_text="As the tweet-days a month.",
                        null=True,
                        verbose_name="US dollars a month",
                    ),
                ),
                (
                    "price_of_a_post",
                    dollars(
                        default=Decimal("0.005"), help_text="US dollars for each post and UTC day."
                    ),
                ),
                (
                    "price_of_a_user",
                    dollars(
                        default=Decimal("0.010"),
                        help_text="US dollars for each account that is looked up.",
                    ),
                ),
                ("stopped_until", models.DateTimeField(editable=False, null=True)),
                (
                    "stopped_because",
                    models.CharField(blank=True, editable=False, max_length=300),
                ),
                ("stops", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("usage_read_at", models.DateTimeField(editable=False, null=True)),
                ("usage_of_month", models.BigIntegerField(editable=False, null=True)),
                ("ours_of_month", models.BigIntegerField(editable=False, null=True)),
                ("cap", models.BigIntegerField(editable=False, null=True)),
                ("cap_reset_day", models.PositiveSmallIntegerField(editable=False, null=True)),
                ("usage_problem", models.CharField(blank=True, editable=False, max_length=300)),
                ("floors", models.JSONField(default=list, editable=False)),
                ("rationed_at", models.DateTimeField(editable=False, null=True)),
                ("needs", models.PositiveIntegerField(editable=False, null=True)),
                ("waiting", models.PositiveIntegerField(default=0, editable=False)),
                ("runs_dry_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="App",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="apps",
                        to="trackers.project",
                    ),
                ),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Spending",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("posts", models.IntegerField(default=0)),
                ("users", models.IntegerField(default=0)),
                ("posts_reserved", models.IntegerField(default=0)),
                ("users_reserved", models.IntegerField(default=0)),
                ("money", models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ("told_posts", models.IntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spending",
                        to="trackers.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-day"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "day"), name="spending_of_a_day")
                ],
            },
        ),
        migrations.AddField("tweet", "paid_on", models.DateField(null=True)),
        migrations.AddField("tweet", "paid_by", models.IntegerField(null=True)),
        migrations.RenameField("credential", "app", "app_name"),
        migrations.AddField(
            "credential",
            "app",
            models.ForeignKey(
                help_text="The X app the keys belong to. One app per use case is X's rule: several "
                "credentials are the tokens of several users, or of projects of their own.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="credentials",
                to="trackers.app",
            ),
        ),
        migrations.RunPython(make_apps, migrations.RunPython.noop),
        # Else a table with pending triggers is to be altered.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.RemoveField("credential", "app_name"),
        migrations.RemoveField("credential", "project"),
        migrations.AlterField(
            "credential",
            "app",
            models.ForeignKey(
                help_text="The X app the keys belong to. One app per use case is X's rule: several "
                "credentials are the tokens of several users, or of projects of their own.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="credentials",
                to="trackers.app",
            ),
        ),
        migrations.RemoveConstraint("window", "window_of_a_credential"),
        migrations.AddField(
            "window",
            "app",
            models.ForeignKey(
                # There is no window left that could have it.
                default=0,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="windows",
                to="trackers.app",
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            "window",
            "credential",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="windows",
                to="trackers.credential",
            ),
        ),
        migrations.RunPython(schedule, migrations.RunPython.noop),
        migrations.AddConstraint(
            "window",
            models.UniqueConstraint(
                fields=("app", "credential", "endpoint"),
                name="window_of_a_token",
                nulls_distinct=False,
            ),
        ),
    ]
