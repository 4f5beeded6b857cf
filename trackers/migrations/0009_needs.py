"""A sample of the queue for estimates, and since when batches wait for the floors of a new day."""

from django.db import migrations, models
from django.db.models.lookups import GreaterThanOrEqual, LessThan

HASH = models.Func(models.F("key"), function="hashint8", output_field=models.IntegerField())


class Migration(migrations.Migration):
    dependencies = [("trackers", "0008_rests")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="floors_wanted_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddIndex(
            model_name="tweetupdate",
            index=models.Index(
                HASH,
                condition=models.Q(GreaterThanOrEqual(HASH, 0), LessThan(HASH, 2**32 // 32)),
                name="tweetupdate_sample",
            ),
        ),
    ]
