"""When a changed tweet is ranked again among what grows fastest."""

from django.db import migrations, models

METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")


class Migration(migrations.Migration):
    dependencies = [("trackers", "0015_others_came")]

    operations = [
        *(
            migrations.AddField("Tweet", f"ranked_at_{metric}", models.IntegerField(null=True))
            for metric in METRICS
        ),
        migrations.AddField("Tweet", "ranked_again_at", models.DateTimeField(null=True)),
    ]
