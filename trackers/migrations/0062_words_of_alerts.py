"""Help texts and labels of alerts, and others, in plain English: state only, no SQL."""


import datetime
import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0061_changes_to_many_tweets'),
    ]

    operations = [
        migrations.AlterField(
            model_name='alertrule',
            name='at',
            field=models.BigIntegerField(default=0, help_text='For fast growth: the gain per hour. For tweets above the usual: those with fewer than this are ignored.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000000000000000)], verbose_name='at least'),
        ),
        migrations.AlterField(
            model_name='alertrule',
            name='kind',
            field=models.CharField(choices=[('velocity', 'It grows fast'), ('milestone', 'It reaches a milestone'), ('usual', 'It does far better than usual'), ('lateness', 'Checks are late'), ('credential', 'A credential fails'), ('source', 'A source leaks or is hidden'), ('budget', 'A budget runs dry today or tomorrow'), ('trouble', 'Requests keep failing, or the stream is down')], max_length=10),
        ),
        migrations.AlterField(
            model_name='alertrule',
            name='lasting',
            field=models.DurationField(default=datetime.timedelta(seconds=300), help_text='How long it must be that late.', verbose_name='for at least'),
        ),
        migrations.AlterField(
            model_name='alertrule',
            name='of',
            field=models.BigIntegerField(blank=True, help_text='The number of the tweet, author or source.', null=True, verbose_name='id'),
        ),
        migrations.AlterField(
            model_name='alertrule',
            name='rest',
            field=models.DurationField(default=datetime.timedelta(seconds=3600), help_text='After an alert, the rule is silent about the same thing for this long.', validators=[django.core.validators.MinValueValidator(datetime.timedelta(seconds=60)), django.core.validators.MaxValueValidator(datetime.timedelta(days=30))], verbose_name='pause after an alert'),
        ),
        migrations.AlterField(
            model_name='alertrule',
            name='to',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.EmailField(max_length=254), blank=True, default=list, help_text='Addresses, separated by commas. Leave empty for no e-mails.', size=10, verbose_name='e-mail to'),
        ),
        migrations.AlterField(
            model_name='forecastday',
            name='known_looks',
            field=models.FloatField(help_text='Of tweets that were known by then.', null=True),
        ),
        migrations.AlterField(
            model_name='forecastday',
            name='new_looks',
            field=models.FloatField(help_text='Of tweets expected to arrive.', null=True),
        ),
        migrations.AlterField(
            model_name='interval',
            name='accuracy',
            field=models.FloatField(blank=True, help_text="The change in a tweet's figures that may be missed between two look-ups, 0.05 for 5%. Leave empty for a fixed interval.", null=True),
        ),
        migrations.AlterField(
            model_name='milestone',
            name='at',
            field=models.BigIntegerField(help_text='A tweet whose figure rises to this or more triggers one milestone event. It can trigger another only after falling below 90% of this, so a figure that wavers around it triggers no more.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000000000000000)]),
        ),
        migrations.AlterField(
            model_name='topic',
            name='name',
            field=models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator('\\A[a-z_]{1,64}\\Z', 'Use up to 64 lowercase letters and underscores.')]),
        ),
    ]
