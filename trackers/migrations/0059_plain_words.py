"""Help texts and labels in plain English: state only, no SQL."""

import datetime
import django.contrib.postgres.fields
import django.contrib.postgres.validators
import django.core.validators
import django.db.models.deletion
import re
import trackers.events.subscribers.rules
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', "0058_alerts"),
    ]

    operations = [
        migrations.AlterField(
            model_name='apitoken',
            name='scope',
            field=models.CharField(choices=[('read', 'read: view only'), ('write', 'write: also change tweets, sources, timelines and follows'), ('admin', 'admin: also change subscribers, intervals and queues')], default='read', help_text='What a program may do with it, within what its user may do.', max_length=5),
        ),
        migrations.AlterField(
            model_name='bulkact',
            name='source',
            field=models.BigIntegerField(help_text='The source that is removed together with tweets that came from nowhere else.', null=True),
        ),
        migrations.AlterField(
            model_name='credential',
            name='app',
            field=models.ForeignKey(help_text='The X app that the keys belong to. X allows one app per use case, so several credentials are tokens of several users, or belong to separate projects.', on_delete=django.db.models.deletion.PROTECT, related_name='credentials', to='trackers.app'),
        ),
        migrations.AlterField(
            model_name='credential',
            name='expires_at',
            field=models.DateTimeField(editable=False, help_text='When the access token expires; null: X did not say.', null=True),
        ),
        migrations.AlterField(
            model_name='credential',
            name='refreshing_until',
            field=models.DateTimeField(editable=False, help_text='Not used before then: its tokens are being renewed or, after a failure, will be renewed then.', null=True),
        ),
        migrations.AlterField(
            model_name='credential',
            name='refused',
            field=models.PositiveSmallIntegerField(default=0, editable=False, help_text='Consecutive refusals by X.'),
        ),
        migrations.AlterField(
            model_name='deliverybucket',
            name='attempts',
            field=models.SmallIntegerField(db_default=0, help_text='Leases that expired since the last success.'),
        ),
        migrations.AlterField(
            model_name='deliverybucket',
            name='due_at',
            field=models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease expires.'),
        ),
        migrations.AlterField(
            model_name='deliverybucket',
            name='owed_since',
            field=models.DateTimeField(help_text='When its keys became due, kept from its first claim on; null: due_at.', null=True),
        ),
        migrations.AlterField(
            model_name='feed',
            name='total',
            field=models.BigIntegerField(default=0, help_text='Tweets put into its buckets.'),
        ),
        migrations.AlterField(
            model_name='feedrebuild',
            name='stamp',
            field=models.BigIntegerField(help_text='The stamp of its bucket; null: isolated.', null=True),
        ),
        migrations.AlterField(
            model_name='feedrebuild',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog, claimed before keys that have been due for longer.'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='async_threshold',
            field=models.PositiveIntegerField(default=200, help_text='A source with up to this many followers is delivered by the worker that found the tweet, one with more by any worker. 0: always by any worker.', verbose_name='asynchronous threshold'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='bucket_days',
            field=models.PositiveSmallIntegerField(default=1, help_text='Above about 200 tweets per bucket, writes become expensive: PostgreSQL then rewrites a large value for each tweet.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(366)], verbose_name='days per timed bucket'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='bucket_size',
            field=models.PositiveSmallIntegerField(default=50, help_text='About one page of a home. Above 200, writes become expensive, as above.', validators=[django.core.validators.MinValueValidator(10), django.core.validators.MaxValueValidator(1000)], verbose_name='tweets per sized bucket'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='cache_size',
            field=models.PositiveIntegerField(default=800, help_text='Older tweets are read from the sources. Twitter kept 800.', validators=[django.core.validators.MinValueValidator(50), django.core.validators.MaxValueValidator(100000)], verbose_name='tweets in a cache'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='cache_slack',
            field=models.PositiveIntegerField(default=50, help_text='A cache grows by this many tweets before it is trimmed: trimming at every write costs more.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100000)], verbose_name='cache slack'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='depth',
            field=models.PositiveIntegerField(default=10000, help_text='This many tweets are put into buckets when a home is built; older ones are read from the sources.', validators=[django.core.validators.MinValueValidator(100), django.core.validators.MaxValueValidator(1000000)], verbose_name='depth of buckets'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='embed',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('text', 'the text'), ('author', "the author's name")], max_length=10), blank=True, default=list, help_text='What a home stores as it was first seen. Leave this empty unless homes serve as an archive: a page then looks everything up, which costs nothing noticeable (0.10 ms for 50 tweets, 0.12 ms embedded) and shows edits and new names. Embedded text stays as first seen, and is marked where it differs from the current one. Deleted tweets disappear either way. Works with the capped cache only: in buckets, each new tweet would rewrite the text of all the others (14 times slower when measured).', size=None, verbose_name='embedded'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='fanout_limit',
            field=models.PositiveIntegerField(blank=True, help_text='Deliver a source to this many watchers, the earliest first; the others read it with each page. Leave empty for all. Set it if a source has so many followers that its deliveries take too long.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='fan-out limit'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='follow_backfill',
            field=models.PositiveIntegerField(default=200, help_text='This many tweets of a newly followed source are put into the home at once; older ones are read from the sources.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)], verbose_name='follow backfill'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='idle_days',
            field=models.PositiveSmallIntegerField(default=21, help_text='A home that has not been viewed for this many days is dropped. When its watcher returns, it is answered on read and rebuilt.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3650)], verbose_name='idle days'),
        ),
        migrations.AlterField(
            model_name='feedsettings',
            name='strategy',
            field=models.CharField(choices=[('read', 'on read: nothing is stored'), ('timed', 'timed buckets: one row per day'), ('sized', 'sized buckets: a fixed number of tweets per row'), ('cache', 'capped cache: only the newest tweets')], default='read', help_text='Start with “on read”: it stores nothing, is always right, and is fast for watchers with up to a few thousand follows. Choose the capped cache if homes are viewed all the time or watchers follow very many sources; sized buckets, the most compact, if people scroll far back; timed buckets if people look up particular days. After a change, homes are answered on read until they are rebuilt.', max_length=10),
        ),
        migrations.AlterField(
            model_name='importbucket',
            name='attempts',
            field=models.SmallIntegerField(db_default=0, help_text='Leases that expired since the last success.'),
        ),
        migrations.AlterField(
            model_name='importbucket',
            name='due_at',
            field=models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease expires.'),
        ),
        migrations.AlterField(
            model_name='importbucket',
            name='owed_since',
            field=models.DateTimeField(help_text='When its keys became due, kept from its first claim on; null: due_at.', null=True),
        ),
        migrations.AlterField(
            model_name='importjob',
            name='stamp',
            field=models.BigIntegerField(help_text='The stamp of its bucket; null: isolated.', null=True),
        ),
        migrations.AlterField(
            model_name='importjob',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog, claimed before keys that have been due for longer.'),
        ),
        migrations.AlterField(
            model_name='interval',
            name='accuracy',
            field=models.FloatField(blank=True, help_text="The change in a tweet's figures that may be missed between two look-ups, 0.05 for 5 %. Leave empty for a fixed interval.", null=True),
        ),
        migrations.AlterField(
            model_name='interval',
            name='at_least',
            field=models.DurationField(blank=True, help_text='The longest interval, however quiet a tweet is.', null=True, verbose_name='at least every'),
        ),
        migrations.AlterField(
            model_name='interval',
            name='at_most',
            field=models.DurationField(blank=True, help_text='The shortest interval, however fast a tweet grows.', null=True, verbose_name='at most every'),
        ),
        migrations.AlterField(
            model_name='interval',
            name='enabled',
            field=models.BooleanField(default=True, help_text='A disabled row is ignored.'),
        ),
        migrations.AlterField(
            model_name='interval',
            name='jitter',
            field=models.FloatField(default=0.05, help_text='A look-up is up to this share of the interval earlier or later, at random (0 to 0.5), so that tweets that arrived together spread out.'),
        ),
        migrations.AlterField(
            model_name='interval',
            name='younger_than',
            field=models.DurationField(help_text='Applies to tweets younger than this.', unique=True),
        ),
        migrations.AlterField(
            model_name='milestone',
            name='at',
            field=models.BigIntegerField(help_text='A tweet whose figure rises to this or more triggers one milestone event. It can trigger another only after falling below 90 % of this, so a figure that wavers around it triggers no more.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000000000000000)]),
        ),
        migrations.AlterField(
            model_name='milestone',
            name='metric',
            field=models.CharField(choices=[('retweets', 'retweets'), ('replies', 'replies'), ('likes', 'likes'), ('quotes', 'quotes'), ('bookmarks', 'bookmarks'), ('impressions', 'impressions')], help_text='Applies to every tracked tweet. What a tweet already had when first measured does not count.', max_length=11),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='arrivals_per_second',
            field=models.PositiveIntegerField(default=1000, help_text='Bulk arrivals are spread out to this many keys a second.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='batch_size',
            field=models.PositiveSmallIntegerField(default=100, help_text='Most keys in one batch. Tweets are taken in whole requests of 100.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='buffer_ttl',
            field=models.DurationField(default=datetime.timedelta(seconds=2), help_text='How long the oldest due key waits for a full batch before a partial one is claimed.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='failures',
            field=models.PositiveIntegerField(default=0, editable=False, help_text='Consecutive failed requests.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='lease',
            field=models.DurationField(default=datetime.timedelta(seconds=60), help_text='How long a claim lasts. When it expires, the keys of a dead worker are due again.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='retry_first',
            field=models.DurationField(default=datetime.timedelta(seconds=5), help_text='Back-off after the first failed request. It doubles with each further failure.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='retry_most',
            field=models.DurationField(default=datetime.timedelta(seconds=600), help_text='Longest back-off between failed requests.'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='room',
            field=models.PositiveSmallIntegerField(editable=False, help_text="Keys of the last batch that fitted X's limits; null: all of them.", null=True),
        ),
        migrations.AlterField(
            model_name='pollbucket',
            name='attempts',
            field=models.SmallIntegerField(db_default=0, help_text='Leases that expired since the last success.'),
        ),
        migrations.AlterField(
            model_name='pollbucket',
            name='due_at',
            field=models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease expires.'),
        ),
        migrations.AlterField(
            model_name='pollbucket',
            name='owed_since',
            field=models.DateTimeField(help_text='When its keys became due, kept from its first claim on; null: due_at.', null=True),
        ),
        migrations.AlterField(
            model_name='project',
            name='money_a_day',
            field=models.DecimalField(blank=True, decimal_places=6, help_text='Leave empty for no limit.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)], verbose_name='US dollars a UTC day'),
        ),
        migrations.AlterField(
            model_name='project',
            name='money_a_month',
            field=models.DecimalField(blank=True, decimal_places=6, help_text='Leave empty for no limit. Without a daily budget, what is left is spread evenly over the remaining days.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)], verbose_name='US dollars a month'),
        ),
        migrations.AlterField(
            model_name='project',
            name='posts_a_day',
            field=models.PositiveIntegerField(blank=True, help_text='Leave empty for no limit.', null=True, verbose_name='tweet-days a UTC day'),
        ),
        migrations.AlterField(
            model_name='project',
            name='posts_a_month',
            field=models.PositiveIntegerField(blank=True, help_text='Leave empty for no limit. Without a daily budget, what is left is spread evenly over the remaining days.', null=True, verbose_name='tweet-days a month'),
        ),
        migrations.AlterField(
            model_name='project',
            name='price_of_a_post',
            field=models.DecimalField(decimal_places=6, default=Decimal('0.005'), help_text='US dollars per post and UTC day.', max_digits=12, validators=[django.core.validators.MinValueValidator(0)]),
        ),
        migrations.AlterField(
            model_name='project',
            name='price_of_a_user',
            field=models.DecimalField(decimal_places=6, default=Decimal('0.010'), help_text='US dollars per account looked up.', max_digits=12, validators=[django.core.validators.MinValueValidator(0)]),
        ),
        migrations.AlterField(
            model_name='rebuildbucket',
            name='attempts',
            field=models.SmallIntegerField(db_default=0, help_text='Leases that expired since the last success.'),
        ),
        migrations.AlterField(
            model_name='rebuildbucket',
            name='due_at',
            field=models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease expires.'),
        ),
        migrations.AlterField(
            model_name='rebuildbucket',
            name='owed_since',
            field=models.DateTimeField(help_text='When its keys became due, kept from its first claim on; null: due_at.', null=True),
        ),
        migrations.AlterField(
            model_name='replanning',
            name='overdue',
            field=models.PositiveBigIntegerField(default=0, help_text='Tweets that were already due; they are spread out from the start.'),
        ),
        migrations.AlterField(
            model_name='replanning',
            name='tweets',
            field=models.PositiveBigIntegerField(default=0, help_text='Estimated number of tweets.'),
        ),
        migrations.AlterField(
            model_name='source',
            name='backfill',
            field=models.DurationField(blank=True, default=datetime.timedelta(days=1), help_text='How far back the first poll reads. Leave empty for as far as X shows.', null=True),
        ),
        migrations.AlterField(
            model_name='source',
            name='late_by',
            field=models.DurationField(blank=True, help_text='How late a post may appear, counted from the time in its id, and still be found by the next poll. Leave empty for the default of its kind (see .env.example).', null=True),
        ),
        migrations.AlterField(
            model_name='source',
            name='of',
            field=models.CharField(help_text="A username, a search query, the number or address of a list, or a rule for X's filtered stream.", max_length=1024),
        ),
        migrations.AlterField(
            model_name='source',
            name='owner',
            field=models.CharField(blank=True, help_text='Whose source it is: a label of your own.', max_length=60),
        ),
        migrations.AlterField(
            model_name='source',
            name='pages',
            field=models.PositiveSmallIntegerField(default=10, help_text='Most pages of 100 posts that one poll reads. Anything beyond them is a gap, which is filled later.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(500)]),
        ),
        migrations.AlterField(
            model_name='sourcepoll',
            name='stamp',
            field=models.BigIntegerField(help_text='The stamp of its bucket; null: isolated.', null=True),
        ),
        migrations.AlterField(
            model_name='sourcepoll',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog, claimed before keys that have been due for longer.'),
        ),
        migrations.AlterField(
            model_name='stream',
            name='heard_at',
            field=models.DateTimeField(help_text='When the last line or keep-alive arrived.', null=True),
        ),
        migrations.AlterField(
            model_name='stream',
            name='mark',
            field=models.CharField(blank=True, db_default='', default='', help_text="Marks this installation's rules at X, in their tags.", max_length=16),
        ),
        migrations.AlterField(
            model_name='stream',
            name='rules_of_others',
            field=models.IntegerField(db_default=0, default=0, help_text='Rules at X for the same app that are not ours. X bills their posts as well.'),
        ),
        migrations.AlterField(
            model_name='stream',
            name='state',
            field=models.CharField(choices=[('connecting', 'Connecting'), ('open', 'Open'), ('waiting', 'Waiting to reconnect'), ('stopped', 'Stopped')], default='stopped', max_length=10),
        ),
        migrations.AlterField(
            model_name='stretch',
            name='demand',
            field=models.FloatField(help_text='Look-ups a second without stretching.', null=True),
        ),
        migrations.AlterField(
            model_name='stretch',
            name='room',
            field=models.FloatField(help_text="Look-ups a second that X's rate limits allow.", null=True),
        ),
        migrations.AlterField(
            model_name='stretch',
            name='windows',
            field=models.FloatField(db_default=1.0, help_text="1: X's rate limits leave room for all look-ups."),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='at_least',
            field=models.BigIntegerField(blank=True, help_text='Only changes of tweets whose figure is this or more.', null=True, validators=[django.core.validators.MinValueValidator(0)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='authors',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Author ids, separated by commas. Leave empty for all.', size=None, validators=[django.contrib.postgres.validators.ArrayMaxLengthValidator(1000)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='callback',
            field=models.CharField(help_text='The https address that batches are sent to.', max_length=2000, validators=[trackers.events.subscribers.rules.check_callback]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='concurrency',
            field=models.PositiveSmallIntegerField(default=4, help_text='Most batches in flight at once.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='max_events',
            field=models.PositiveIntegerField(default=100, help_text='Most events in one batch.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='name',
            field=models.CharField(help_text='Lower-case letters, digits, : _ and -. It cannot be changed later.', max_length=64, unique=True, validators=[django.core.validators.RegexValidator(re.compile('\\A[a-z0-9:_-]{1,64}\\Z'), 'A name has 1 to 64 of the characters a to z, 0 to 9, : _ and -.')]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='newest_only',
            field=models.BooleanField(default=True, help_text='If several changes of a tweet wait in one batch, deliver only the newest.'),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='ordered',
            field=models.BooleanField(default=False, help_text='Deliver one batch at a time, in order. A failed batch holds up all later ones.'),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='rate',
            field=models.PositiveIntegerField(blank=True, help_text='Most events a second, on average. Leave empty for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='sources',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Source numbers, as in the addresses of their pages. Leave empty for all.', size=None, validators=[django.contrib.postgres.validators.ArrayMaxLengthValidator(1000)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='timeout_ms',
            field=models.PositiveIntegerField(default=500, help_text='Milliseconds that a batch waits for more events, counted from its first.', validators=[django.core.validators.MaxValueValidator(3600000)]),
        ),
        migrations.AlterField(
            model_name='subscriber',
            name='with_data',
            field=models.BooleanField(default=False, help_text="Send the tweet's figures too, not only its address."),
        ),
        migrations.AlterField(
            model_name='timeline',
            name='seq',
            field=models.BigIntegerField(db_default=0, default=0, help_text='Counts the writes that added something.'),
        ),
        migrations.AlterField(
            model_name='timelinedelivery',
            name='stamp',
            field=models.BigIntegerField(help_text='The stamp of its bucket; null: isolated.', null=True),
        ),
        migrations.AlterField(
            model_name='timelinedelivery',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog, claimed before keys that have been due for longer.'),
        ),
        migrations.AlterField(
            model_name='timelineentry',
            name='dead_at',
            field=models.DateTimeField(help_text='When it was deleted, or when its timeline expired if that was later.', null=True),
        ),
        migrations.AlterField(
            model_name='topic',
            name='events',
            field=models.BigIntegerField(db_default=0, default=0, help_text='Events since the topic was created, counted as they are fanned out.'),
        ),
        migrations.AlterField(
            model_name='tweetbucket',
            name='attempts',
            field=models.SmallIntegerField(db_default=0, help_text='Leases that expired since the last success.'),
        ),
        migrations.AlterField(
            model_name='tweetbucket',
            name='due_at',
            field=models.DateTimeField(help_text='When it may next be claimed; while it is claimed, when its lease expires.'),
        ),
        migrations.AlterField(
            model_name='tweetbucket',
            name='owed_since',
            field=models.DateTimeField(help_text='When its keys became due, kept from its first claim on; null: due_at.', null=True),
        ),
        migrations.AlterField(
            model_name='tweetcensus',
            name='took',
            field=models.DurationField(default=datetime.timedelta(0), help_text='0: no full count was needed.'),
        ),
        migrations.AlterField(
            model_name='tweetupdate',
            name='for_money_until',
            field=models.DateTimeField(help_text='Waits for money while this equals its due time; null: does not wait.', null=True),
        ),
        migrations.AlterField(
            model_name='tweetupdate',
            name='stamp',
            field=models.BigIntegerField(help_text='The stamp of its bucket; null: isolated.', null=True),
        ),
        migrations.AlterField(
            model_name='tweetupdate',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False, help_text='Under backlog, claimed before keys that have been due for longer.'),
        ),
        migrations.AlterField(
            model_name='window',
            name='limited',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='Consecutive 429s; those of concurrent requests count once.'),
        ),
        migrations.AlterField(
            model_name='window',
            name='refused',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='Consecutive 403s, which concern this endpoint only.'),
        ),
    ]
