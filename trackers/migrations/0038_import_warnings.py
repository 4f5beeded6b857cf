"""Imports count warnings, say how much was in the file, and which files of an archive they read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trackers", "0037_given_up_gaps")]

    operations = [
        migrations.AddField(
            model_name="import",
            name="unpacked",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="import",
            name="lines",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="import",
            name="files",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="import",
            name="warnings",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="rejectedline",
            name="tracked",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RemoveConstraint(model_name="rejectedline", name="rejected_line_once"),
        migrations.AddConstraint(
            model_name="rejectedline",
            constraint=models.UniqueConstraint(
                fields=("source", "tracked", "line"), name="rejected_line_once"
            ),
        ),
    ]
