"""A batch of tweets is a unit of up to ten look-ups. Who has set another size than 100 keeps it."""

from django.db import migrations, models

NAME = "tweet:update"
REQUEST, UNIT = 100, 1000


def enlarge(apps, schema_editor):
    tweets = apps.get_model("trackers", "Namespace").objects.filter(name=NAME)
    tweets.filter(batch_size=REQUEST).update(batch_size=UNIT)


def restore(apps, schema_editor):
    """The program before this one can look up no more than a request."""
    tweets = apps.get_model("trackers", "Namespace").objects.filter(name=NAME)
    tweets.filter(batch_size__gt=REQUEST).update(batch_size=REQUEST)


class Migration(migrations.Migration):
    dependencies = [("trackers", "0019_versions")]

    operations = [
        migrations.AlterField(
            model_name="namespace",
            name="batch_size",
            field=models.PositiveSmallIntegerField(
                default=100,
                help_text="Keys in a batch at the most; tweets go in whole requests of 100.",
            ),
        ),
        migrations.RunPython(enlarge, restore),
    ]
