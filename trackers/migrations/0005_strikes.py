"""A key is isolated after four leases that ran out, no longer after three."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0004_projects'),
    ]

    operations = [
        # What was isolated stays so.
        migrations.RunSQL(
            "UPDATE trackers_tweetupdate SET attempts = 4 WHERE attempts = 3",
            migrations.RunSQL.noop,
        ),
        migrations.RemoveIndex(
            model_name='tweetupdate',
            name='tweetupdate_isolated',
        ),
        migrations.AddIndex(
            model_name='tweetupdate',
            index=models.Index(condition=models.Q(('attempts__gte', 4)), fields=['key'], name='tweetupdate_isolated'),
        ),
    ]
