"""Tags, names and links in posts: as X recognised them, beside the texts."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

NAMES = ("hashtags", "cashtags", "mentions", "domains")


class Migration(migrations.Migration):
    dependencies = [("trackers", "0024_scores")]

    operations = [
        *(
            migrations.AddField("tweettext", name, ArrayField(models.TextField(), null=True))
            for name in NAMES
        ),
        migrations.AddField("tweettext", "links", models.JSONField(null=True)),
    ]
