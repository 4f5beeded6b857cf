"""Arrivals with their clock, who follows what, the homes that are laid out, and their queues."""

from datetime import timedelta

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


QUEUES = [
    ("timeline:deliver", "trackers.tasks.deliver_arrivals", 10),
    ("timeline:rebuild", "trackers.tasks.rebuild_feeds", 1),
]
CHORE = "trackers.tasks.drop_idle_feeds"
JOBS = [("timelinedelivery", "deliverybucket"), ("feedrebuild", "rebuildbucket")]
ROOM = """
ALTER TABLE trackers_{job} SET (fillfactor = 50);
ALTER TABLE trackers_{bucket} SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
"""


def fill(apps, schema_editor):
    for name, task, size in QUEUES:
        apps.get_model("trackers", "Namespace").objects.get_or_create(
            name=name, defaults={"task": task, "batch_size": size, "buffer_ttl": timedelta(0)}
        )
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name="idle homes",
        defaults={"func": CHORE, "next_run": timezone.now(), "schedule_type": "H"},
    )


def empty(apps, schema_editor):
    names = [name for name, _, _ in QUEUES]
    apps.get_model("trackers", "Namespace").objects.filter(name__in=names).delete()
    apps.get_model("django_q", "Schedule").objects.filter(func=CHORE).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('trackers', '0025_timelines'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DeliveryBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease runs out.')),
                ('lease', models.BigIntegerField(help_text='Fencing token of the claim; null: waiting.', null=True)),
                ('attempts', models.SmallIntegerField(db_default=0, help_text='Leases that ran out since the last success.')),
                ('urgent', models.BooleanField(db_default=False)),
                ('stamp', models.BigIntegerField()),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['due_at', 'id'], name='deliverybucket_due'), models.Index(models.Case(models.When(then=models.F('due_at'), urgent=True)), models.F('id'), condition=models.Q(('urgent', True)), name='deliverybucket_urgent'), models.Index(condition=models.Q(('lease__isnull', False)), fields=['lease'], name='deliverybucket_lease'), models.Index(fields=['stamp'], name='deliverybucket_stamp')],
            },
        ),
        migrations.CreateModel(
            name='FeedRebuild',
            fields=[
                ('key', models.BigIntegerField(primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.SmallIntegerField(db_default=0, default=0, help_text='4: isolated, out of the queue until a person retries it.')),
                ('urgent', models.BooleanField(db_default=False, default=False, help_text='Under backlog it is claimed before what is due longer.')),
                ('stamp', models.BigIntegerField(help_text='Of its bucket; null: it is isolated.', null=True)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(condition=models.Q(('attempts__gte', 4)), fields=['key'], name='feedrebuild_isolated')],
            },
        ),
        migrations.CreateModel(
            name='RebuildBucket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease runs out.')),
                ('lease', models.BigIntegerField(help_text='Fencing token of the claim; null: waiting.', null=True)),
                ('attempts', models.SmallIntegerField(db_default=0, help_text='Leases that ran out since the last success.')),
                ('urgent', models.BooleanField(db_default=False)),
                ('stamp', models.BigIntegerField()),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['due_at', 'id'], name='rebuildbucket_due'), models.Index(models.Case(models.When(then=models.F('due_at'), urgent=True)), models.F('id'), condition=models.Q(('urgent', True)), name='rebuildbucket_urgent'), models.Index(condition=models.Q(('lease__isnull', False)), fields=['lease'], name='rebuildbucket_lease'), models.Index(fields=['stamp'], name='rebuildbucket_stamp')],
            },
        ),
        migrations.CreateModel(
            name='TimelineDelivery',
            fields=[
                ('key', models.BigIntegerField(primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.SmallIntegerField(db_default=0, default=0, help_text='4: isolated, out of the queue until a person retries it.')),
                ('urgent', models.BooleanField(db_default=False, default=False, help_text='Under backlog it is claimed before what is due longer.')),
                ('stamp', models.BigIntegerField(help_text='Of its bucket; null: it is isolated.', null=True)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(condition=models.Q(('attempts__gte', 4)), fields=['key'], name='timelinedelivery_isolated')],
            },
        ),
        migrations.CreateModel(
            name='FeedMark',
            fields=[
                ('origin_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(default=0)),
                ('reach', models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Origin',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('clock', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='FeedSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('strategy', models.CharField(choices=[('read', 'on read: nothing is kept'), ('timed', 'timed buckets: a row a day'), ('sized', 'sized buckets: so many tweets a row'), ('cache', 'capped cache: the newest tweets')], default='read', help_text='On read is always right, costs nothing to keep, and is quick up to some thousand follows a watcher: begin with it. Capped cache: where homes are looked at all the time, or watchers follow many sources. Sized buckets: where people scroll far back, since they are the most compact. Timed buckets: where people ask what happened on a day. After a change homes are answered on read until they are laid out anew.', max_length=10)),
                ('cache_size', models.PositiveIntegerField(default=800, help_text='What is older is read from the sources. Twitter kept 800.', validators=[django.core.validators.MinValueValidator(50), django.core.validators.MaxValueValidator(100000)], verbose_name='tweets in a cache')),
                ('cache_slack', models.PositiveIntegerField(default=50, help_text='A cache grows by so many before it is cut back: cutting each time costs more.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000)], verbose_name='slack of a cache')),
                ('bucket_days', models.PositiveSmallIntegerField(default=1, help_text='More than some 200 tweets a bucket make writing dear: PostgreSQL then rewrites a large value with each tweet.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(366)], verbose_name='days in a timed bucket')),
                ('bucket_size', models.PositiveSmallIntegerField(default=50, help_text='About a page of a home. Above 200 writing gets dear, as above.', validators=[django.core.validators.MinValueValidator(10), django.core.validators.MaxValueValidator(1000)], verbose_name='tweets in a sized bucket')),
                ('depth', models.PositiveIntegerField(default=10000, help_text='So many tweets are put into buckets when a home is laid out; what is older is read from the sources.', validators=[django.core.validators.MinValueValidator(100), django.core.validators.MaxValueValidator(1000000)], verbose_name='depth of buckets')),
                ('follow_backfill', models.PositiveIntegerField(default=200, help_text='So many tweets of what is newly followed are put into a home at once. If it has more, the home is read from the sources below them.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)], verbose_name='backfill of a follow')),
                ('fanout_limit', models.PositiveIntegerField(blank=True, help_text='So many watchers of one source are delivered to, those that came first; the others read it with each page. Empty: all of them. Set it if one source has so many followers that its deliveries take too long.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='fan-out limit')),
                ('async_threshold', models.PositiveIntegerField(default=200, help_text='What has no more followers is delivered by the worker that brought it; what has more, by any. 0: always by any.', verbose_name='asynchronous threshold')),
                ('idle_days', models.PositiveSmallIntegerField(default=21, help_text='The home of who has not looked for so long is not kept; it is answered on read when they come back, and laid out again.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3650)], verbose_name='idle days')),
            ],
            options={
                'verbose_name': 'feed settings',
                'verbose_name_plural': 'feed settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='feedsettings_one_row'), models.CheckConstraint(condition=models.Q(('strategy__in', ['read', 'timed', 'sized', 'cache'])), name='feedsettings_strategy'), models.CheckConstraint(condition=models.Q(('bucket_days__gte', 1), ('bucket_size__gte', 10), ('cache_size__gte', 50), ('depth__gte', 100), ('follow_backfill__gte', 1), ('idle_days__gte', 1), models.Q(('fanout_limit', None), ('fanout_limit__gte', 1), _connector='OR')), name='feedsettings_sizes'), models.CheckConstraint(condition=models.Q(('cache_slack__lte', models.F('cache_size'))), name='feedsettings_slack')],
            },
        ),
        migrations.CreateModel(
            name='Watcher',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('read_at', models.DateTimeField(editable=False, null=True)),
                ('team', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='TimedBucket',
            fields=[
                ('pk', models.CompositePrimaryKey('watcher_id', 'bucket', blank=True, editable=False, primary_key=True, serialize=False)),
                ('bucket', models.IntegerField()),
                ('ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('watcher', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trackers.watcher')),
            ],
        ),
        migrations.CreateModel(
            name='SizedBucket',
            fields=[
                ('pk', models.CompositePrimaryKey('watcher_id', 'n', blank=True, editable=False, primary_key=True, serialize=False)),
                ('n', models.IntegerField()),
                ('ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('min_id', models.BigIntegerField()),
                ('max_id', models.BigIntegerField()),
                ('watcher', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trackers.watcher')),
            ],
        ),
        migrations.CreateModel(
            name='Follow',
            fields=[
                ('pk', models.CompositePrimaryKey('watcher_id', 'origin_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('origin_id', models.BigIntegerField()),
                ('followed_at', models.DateTimeField()),
                ('watcher', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='follows', to='trackers.watcher')),
            ],
        ),
        migrations.CreateModel(
            name='Feed',
            fields=[
                ('pk', models.CompositePrimaryKey('watcher_id', 'strategy', blank=True, editable=False, primary_key=True, serialize=False)),
                ('strategy', models.CharField(max_length=10)),
                ('shape', models.IntegerField(default=0)),
                ('floor', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(default=0, help_text='Tweets that were put into its buckets.')),
                ('built_at', models.DateTimeField(null=True)),
                ('watcher', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='feeds', to='trackers.watcher')),
            ],
        ),
        migrations.CreateModel(
            name='Arrival',
            fields=[
                ('pk', models.CompositePrimaryKey('origin_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('number', models.BigIntegerField()),
                ('tweet_id', models.BigIntegerField()),
                ('xid', models.BigIntegerField()),
                ('horizon', models.BigIntegerField()),
                ('came_at', models.DateTimeField()),
                ('origin', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='trackers.origin')),
            ],
            options={
                'indexes': [models.Index(fields=['tweet_id'], name='arrival_of_tweet')],
            },
        ),
        migrations.AddIndex(
            model_name='watcher',
            index=models.Index(fields=['read_at'], name='watcher_read'),
        ),
        migrations.AddConstraint(
            model_name='watcher',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('team__isnull', False), ('user', None)), models.Q(('team', None), ('user__isnull', False)), _connector='OR'), name='watcher_is_a_user_or_a_team'),
        ),
        migrations.AddIndex(
            model_name='sizedbucket',
            index=models.Index(fields=['watcher', 'max_id', 'n'], name='sizedbucket_newest'),
        ),
        migrations.AddIndex(
            model_name='follow',
            index=models.Index(fields=['origin_id', 'watcher_id'], name='follow_of_origin'),
        ),
        migrations.AddIndex(
            model_name='feed',
            index=models.Index(fields=['strategy'], name='feed_of_strategy'),
        ),
        # One for all origins. No number is kept ready for a session, so that each is drawn when it
        # is written, under the lock of its origin.
        migrations.RunSQL(
            "CREATE SEQUENCE trackers_arrival_number AS bigint CACHE 1",
            "DROP SEQUENCE trackers_arrival_number",
        ),
        # Small values that are written often; a page stays on its page.
        migrations.RunSQL(
            "ALTER TABLE trackers_timedbucket SET (fillfactor = 70);"
            "ALTER TABLE trackers_sizedbucket SET (fillfactor = 70);"
            "ALTER TABLE trackers_origin SET (fillfactor = 50);"
            "ALTER TABLE trackers_feedmark SET (fillfactor = 50);",
            migrations.RunSQL.noop,
        ),
        # As those of the other queues.
        migrations.RunSQL(
            "".join(ROOM.format(job=job, bucket=bucket) for job, bucket in JOBS),
            migrations.RunSQL.noop,
        ),
        migrations.RunPython(fill, empty),
    ]
