"""The mark of this installation in the tags of its rules, kept in the database.

It was made from SECRET_KEY. Whoever has rules at X keeps that mark: they stay his, and none is made
anew. A stream that is started for the first time takes a mark of its own.
"""

from django.db import migrations, models
from django.utils.crypto import salted_hmac


def keep_the_mark(apps, _schema_editor):
    mark = salted_hmac("trackers.ingest.stream_sources", "rules").hexdigest()[:8]
    apps.get_model("trackers", "Stream").objects.filter(mark="").update(mark=mark)


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0016_rejections'),
    ]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='mark',
            field=models.CharField(blank=True, db_default='', default='', help_text='Of this installation, in the tags of its rules at X.', max_length=16),
        ),
        migrations.AddField(
            model_name='stream',
            name='rules_read_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='stream',
            name='rules_of_others',
            field=models.IntegerField(db_default=0, default=0, help_text='At X, for the same app. X bills their posts as well.'),
        ),
        migrations.AlterField(
            model_name='gap',
            name='why',
            field=models.CharField(choices=[('budget', 'the pages of a poll were used up'), ('quota', 'X allowed no more requests, or the money ran out'), ('reach', 'X shows nothing older'), ('repeats', 'X sent the same page again and again'), ('stream', 'the stream was not connected'), ('rule', 'X did not have the rule')], max_length=8),
        ),
        migrations.RunPython(keep_the_mark, migrations.RunPython.noop),
    ]
