"""Where money is short, new days are begun later. The table has one row."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0056_tags'),
    ]

    operations = [
        migrations.AddField(
            model_name='stretch',
            name='money',
            field=models.FloatField(db_default=1.0, help_text='Of waits that end on another UTC day. 1: there is money for all.'),
        ),
        migrations.AddField(
            model_name='stretch',
            name='days_demand',
            field=models.FloatField(help_text='Tweet-days a day with `money` 1.', null=True),
        ),
        migrations.AddField(
            model_name='stretch',
            name='days_room',
            field=models.FloatField(help_text='Tweet-days a day that the budgets allow; null: no limit.', null=True),
        ),
        migrations.AddField(
            model_name='stretch',
            name='budget',
            field=models.CharField(db_default='', help_text='The budgets that set this limit, in words.', max_length=200),
        ),
    ]
