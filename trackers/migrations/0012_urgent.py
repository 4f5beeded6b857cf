"""Under backlog the urgent keys have a share of every batch; an index of its own finds them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0011_reserved_not_negative'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog it is claimed before what is due longer.'),
        ),
        migrations.AddField(
            model_name='sourcepoll',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog it is claimed before what is due longer.'),
        ),
        migrations.AddField(
            model_name='tweetupdate',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog it is claimed before what is due longer.'),
        ),
        migrations.AddIndex(
            model_name='importjob',
            index=models.Index(models.Case(models.When(then=models.F('due_at'), urgent=True)), condition=models.Q(('urgent', True)), name='importjob_urgent'),
        ),
        migrations.AddIndex(
            model_name='sourcepoll',
            index=models.Index(models.Case(models.When(then=models.F('due_at'), urgent=True)), condition=models.Q(('urgent', True)), name='sourcepoll_urgent'),
        ),
        migrations.AddIndex(
            model_name='tweetupdate',
            index=models.Index(models.Case(models.When(then=models.F('due_at'), urgent=True)), condition=models.Q(('urgent', True)), name='tweetupdate_urgent'),
        ),
    ]
