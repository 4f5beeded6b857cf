"""Every table of Django's models, as of 1.0: names, columns in their order, indexes, constraints.

Made from the models by a program, a line for each column, index and constraint. The tables that
Django cannot declare, and how the others are stored, are in 0002.
"""

import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.contrib.postgres.validators import ArrayMaxLengthValidator
from django.core import validators
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.models import functions, lookups
from django.db.models.expressions import CombinedExpression

from trackers.credentials.secrets import EncryptedJSONField
from trackers.events.subscribers.rules import check_callback
from trackers.tweets.models import RealField

ID = (
    "id",
    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
)
METRICS = [
    ("retweets", "retweets"),
    ("replies", "replies"),
    ("likes", "likes"),
    ("quotes", "quotes"),
    ("bookmarks", "bookmarks"),
    ("views", "views"),
]
HASH = models.Func(models.F("key"), function="hashint8", output_field=models.IntegerField())
# What counts as a word (tweets.finding.words): the search uses exactly this expression.
WORDS = (
    "to_tsvector('simple', translate(regexp_replace(regexp_replace("
    "%(expressions)s, 'https?://\\S+', ' ', 'gi'),"
    " '([\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3005-\\u30FF\\u3400-\\u9FFF\\uF900-\\uFAFF])',"
    " ' \\1 ', 'g'), './_-+&<>@:=~', '            '))"
)


def words_of(column):
    return models.Func(column, output_field=SearchVectorField(), template=WORDS)


def job(name):
    """What one kind of queue waits for."""
    return migrations.CreateModel(
        name,
        [
            ("key", models.BigIntegerField(primary_key=True, serialize=False)),
            ("due_at", models.DateTimeField()),
            (
                "strikes",
                models.SmallIntegerField(
                    db_default=0,
                    default=0,
                    help_text="4: isolated, out of the queue until a person retries it.",
                ),
            ),
            (
                "urgent",
                models.BooleanField(
                    db_default=False,
                    default=False,
                    help_text="Under backlog, claimed before keys that have been due for longer.",
                ),
            ),
            (
                "stamp",
                models.BigIntegerField(
                    help_text="The stamp of its bucket; null: isolated.", null=True
                ),
            ),
        ],
        {
            "indexes": [
                models.Index(
                    condition=models.Q(("strikes__gte", 4)),
                    fields=["key"],
                    name=f"{name.lower()}_isolated",
                )
            ]
        },
    )


def bucket(name):
    """Its keys that are due together."""
    return migrations.CreateModel(
        name,
        [
            ID,
            (
                "due_at",
                models.DateTimeField(
                    help_text="When it may next be claimed; while it is claimed, when its lease expires."
                ),
            ),
            (
                "lease",
                models.BigIntegerField(
                    help_text="Fencing token of the claim; null: waiting.", null=True
                ),
            ),
            (
                "strikes",
                models.SmallIntegerField(
                    db_default=0, help_text="Leases that expired since the last success."
                ),
            ),
            ("urgent", models.BooleanField(db_default=False)),
            ("stamp", models.BigIntegerField()),
            ("keys", ArrayField(base_field=models.BigIntegerField(), size=None)),
            (
                "due_since",
                models.DateTimeField(
                    help_text="When its keys became due, kept from its first claim on; null: due_at.",
                    null=True,
                ),
            ),
        ],
        {
            "indexes": [
                models.Index(fields=["due_at", "id"], name=f"{name.lower()}_due"),
                models.Index(
                    models.Case(models.When(then=models.F("due_at"), urgent=True)),
                    models.F("id"),
                    condition=models.Q(("urgent", True)),
                    name=f"{name.lower()}_urgent",
                ),
                models.Index(
                    condition=models.Q(("lease__isnull", False)),
                    fields=["lease"],
                    name=f"{name.lower()}_lease",
                ),
                models.Index(fields=["stamp"], name=f"{name.lower()}_stamp"),
                models.Index(
                    condition=models.Q(("due_since__isnull", False)),
                    fields=["due_since"],
                    name=f"{name.lower()}_due_since",
                ),
            ],
        },
    )


class CreateModels(Operation):
    """All at once: one by one, Django draws up the neighbours of each anew, for half a second."""

    def __init__(self, operations):
        self.operations = operations

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    "PackedSamples",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tweet_id",
                                "month",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("tweet_id", models.BigIntegerField()),
                        ("month", models.DateField()),
                        ("taken_at", ArrayField(base_field=models.DateTimeField(), size=None)),
                        (
                            "measured_until",
                            ArrayField(base_field=models.DateTimeField(), size=None),
                        ),
                        ("measurements", ArrayField(base_field=models.IntegerField(), size=None)),
                        (
                            "retweets",
                            ArrayField(base_field=models.IntegerField(null=True), size=None),
                        ),
                        (
                            "replies",
                            ArrayField(base_field=models.IntegerField(null=True), size=None),
                        ),
                        ("likes", ArrayField(base_field=models.IntegerField(null=True), size=None)),
                        (
                            "quotes",
                            ArrayField(base_field=models.IntegerField(null=True), size=None),
                        ),
                        (
                            "bookmarks",
                            ArrayField(base_field=models.IntegerField(null=True), size=None),
                        ),
                        (
                            "views",
                            ArrayField(base_field=models.BigIntegerField(null=True), size=None),
                        ),
                    ],
                    {"db_table": "trackers_packedsamples", "managed": False},
                ),
                migrations.CreateModel(
                    "Sample",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tweet_id",
                                "taken_at",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("tweet_id", models.BigIntegerField()),
                        ("taken_at", models.DateTimeField()),
                        ("measured_until", models.DateTimeField()),
                        ("measurements", models.IntegerField()),
                        ("retweets", models.IntegerField(null=True)),
                        ("replies", models.IntegerField(null=True)),
                        ("likes", models.IntegerField(null=True)),
                        ("quotes", models.IntegerField(null=True)),
                        ("bookmarks", models.IntegerField(null=True)),
                        ("views", models.BigIntegerField(null=True)),
                    ],
                    {"db_table": "trackers_sample", "managed": False},
                ),
                migrations.CreateModel(
                    "Author",
                    [
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("username", models.CharField(blank=True, max_length=50)),
                        ("name", models.CharField(blank=True, max_length=200)),
                        ("protected", models.BooleanField(default=False)),
                        ("checked_at", models.DateTimeField(null=True)),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("checked_at", None)),
                                fields=["id"],
                                name="author_unnamed",
                            ),
                            models.Index(
                                functions.Collate(functions.Lower("username"), "C"),
                                name="author_username",
                            ),
                            GinIndex(words_of("name"), name="author_words"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Tweet",
                    [
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("created_at", models.DateTimeField(null=True)),
                        ("tracked_at", models.DateTimeField()),
                        ("came_from", models.CharField(blank=True, max_length=200)),
                        ("paused", models.BooleanField(default=False)),
                        ("missing_since", models.DateTimeField(null=True)),
                        (
                            "missing_reason",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("not_found", "deleted"),
                                    ("protected", "protected"),
                                    ("suspended", "author suspended"),
                                    ("unauthorized", "not visible to us"),
                                    ("unavailable", "unavailable, reason unknown"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("gone_at", models.DateTimeField(null=True)),
                        ("taken_at", models.DateTimeField(null=True)),
                        ("measured_until", models.DateTimeField(null=True)),
                        ("measurements", models.IntegerField(default=0)),
                        ("retweets", models.IntegerField(null=True)),
                        ("replies", models.IntegerField(null=True)),
                        ("likes", models.IntegerField(null=True)),
                        ("quotes", models.IntegerField(null=True)),
                        ("bookmarks", models.IntegerField(null=True)),
                        ("views", models.BigIntegerField(null=True)),
                        (
                            "author",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=models.PROTECT,
                                to="trackers.author",
                            ),
                        ),
                        ("paid_on", models.DateField(null=True)),
                        ("paid_by", models.IntegerField(null=True)),
                        (
                            "unreadable_reason",
                            models.CharField(blank=True, db_default="", max_length=200),
                        ),
                        ("unreadable_since", models.DateTimeField(null=True)),
                        ("newest", models.BigIntegerField(null=True)),
                        ("version_of", models.BigIntegerField(null=True)),
                        ("withheld", models.TextField(blank=True, db_default="")),
                        ("pace", RealField(null=True)),
                    ],
                    {
                        "indexes": [
                            models.Index(fields=["author", "-id"], name="tweet_by_author"),
                            models.Index(
                                condition=models.Q(("missing_reason", "unauthorized")),
                                fields=["author"],
                                name="tweet_hidden",
                            ),
                            models.Index(
                                condition=models.Q(("gone_at", None), _negated=True),
                                fields=["id"],
                                name="tweet_gone",
                            ),
                            models.Index(
                                condition=models.Q(("paused", True)),
                                fields=["id"],
                                name="tweet_paused",
                            ),
                            models.Index(
                                condition=models.Q(
                                    ("gone_at", None),
                                    models.Q(("missing_since", None), _negated=True),
                                ),
                                fields=["id"],
                                name="tweet_missing",
                            ),
                            models.Index(
                                condition=models.Q(("unreadable_since", None), _negated=True),
                                fields=["id"],
                                name="tweet_unreadable",
                            ),
                            models.Index(
                                condition=models.Q(("version_of", None), _negated=True),
                                fields=["version_of"],
                                name="tweet_version_of",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Interval",
                    [
                        ID,
                        (
                            "younger_than",
                            models.DurationField(
                                help_text="Applies to tweets younger than this.", unique=True
                            ),
                        ),
                        (
                            "every",
                            models.DurationField(help_text="Time from one look-up to the next."),
                        ),
                        (
                            "jitter",
                            models.FloatField(
                                default=0.05,
                                help_text="A look-up is up to this share of the interval earlier or later, at random (0 to 0.5), so that tweets that arrived together spread out.",
                            ),
                        ),
                        (
                            "enabled",
                            models.BooleanField(
                                default=True, help_text="A disabled row is ignored."
                            ),
                        ),
                        (
                            "accuracy",
                            models.FloatField(
                                blank=True,
                                help_text="The change in a tweet's figures that may be missed between two look-ups, 0.05 for 5%. Leave empty for a fixed interval.",
                                null=True,
                            ),
                        ),
                        (
                            "at_least",
                            models.DurationField(
                                blank=True,
                                help_text="The longest interval, however quiet a tweet is.",
                                null=True,
                                verbose_name="at least every",
                            ),
                        ),
                        (
                            "at_most",
                            models.DurationField(
                                blank=True,
                                help_text="The shortest interval, however fast a tweet grows.",
                                null=True,
                                verbose_name="at most every",
                            ),
                        ),
                    ],
                    {
                        "ordering": ["younger_than"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("younger_than__gt", timedelta(0))),
                                name="interval_younger_than_positive",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("every__gte", timedelta(seconds=1))),
                                name="interval_every_at_least_a_second",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("every__lte", timedelta(days=365))),
                                name="interval_every_at_most_a_year",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("jitter__gte", 0), ("jitter__lte", 0.5)),
                                name="interval_jitter_share",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("accuracy", None), ("at_least", None), ("at_most", None)
                                    ),
                                    models.Q(
                                        ("accuracy__gte", 0.001),
                                        ("accuracy__lte", 0.5),
                                        ("at_least__gte", models.F("at_most")),
                                        ("at_least__lte", models.F("younger_than")),
                                        ("at_most__gte", timedelta(seconds=1)),
                                    ),
                                    _connector="OR",
                                ),
                                name="interval_adapts",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Queue",
                    [
                        (
                            "name",
                            models.CharField(max_length=60, primary_key=True, serialize=False),
                        ),
                        (
                            "task",
                            models.CharField(
                                help_text="Dotted name of the function that is called with each batch.",
                                max_length=200,
                            ),
                        ),
                        (
                            "batch_size",
                            models.PositiveSmallIntegerField(
                                default=100,
                                help_text="Most keys in one batch. Tweets are taken in whole requests of 100.",
                            ),
                        ),
                        (
                            "buffer_ttl",
                            models.DurationField(
                                default=timedelta(seconds=2),
                                help_text="How long the oldest due key waits for a full batch before a partial one is claimed.",
                            ),
                        ),
                        (
                            "lease",
                            models.DurationField(
                                default=timedelta(seconds=60),
                                help_text="How long a claim lasts. When it expires, the keys of a dead worker are due again.",
                            ),
                        ),
                        (
                            "retry_first",
                            models.DurationField(
                                default=timedelta(seconds=5),
                                help_text="Back-off after the first failed request. It doubles with each further failure.",
                            ),
                        ),
                        (
                            "retry_most",
                            models.DurationField(
                                default=timedelta(seconds=600),
                                help_text="Longest back-off between failed requests.",
                            ),
                        ),
                        (
                            "arrivals_per_second",
                            models.PositiveIntegerField(
                                default=1000,
                                help_text="Bulk arrivals are spread out to this many keys a second.",
                            ),
                        ),
                        (
                            "arrivals_until",
                            models.DateTimeField(
                                editable=False,
                                help_text="When the last key of the bulk arrivals is due.",
                                null=True,
                            ),
                        ),
                        (
                            "paused",
                            models.BooleanField(
                                default=False, help_text="Nothing is claimed while this is set."
                            ),
                        ),
                        ("held_until", models.DateTimeField(blank=True, editable=False, null=True)),
                        (
                            "held_reason",
                            models.CharField(blank=True, editable=False, max_length=400),
                        ),
                        ("held_by_failures", models.BooleanField(default=False, editable=False)),
                        (
                            "failures",
                            models.PositiveIntegerField(
                                default=0, editable=False, help_text="Consecutive failed requests."
                            ),
                        ),
                        (
                            "save_failures",
                            models.PositiveIntegerField(
                                default=0,
                                editable=False,
                                help_text="Consecutive batches that the database could not save. While there are some, one request at a time tries whether it can again.",
                            ),
                        ),
                        (
                            "trial_until",
                            models.DateTimeField(
                                editable=False,
                                help_text="A worker tries it until then, at the latest.",
                                null=True,
                            ),
                        ),
                        (
                            "capacity",
                            models.PositiveSmallIntegerField(
                                editable=False,
                                help_text="Keys of the last batch that fitted X's limits; null: all of them.",
                                null=True,
                            ),
                        ),
                    ],
                    {
                        "ordering": ["name"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("batch_size__gte", 1), ("batch_size__lte", 1000)
                                ),
                                name="queue_batch_size",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("buffer_ttl__gte", timedelta(0)),
                                    ("buffer_ttl__lt", models.F("lease")),
                                ),
                                name="queue_buffer_ttl_below_lease",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("retry_first__gt", timedelta(0)),
                                    ("retry_most__gte", models.F("retry_first")),
                                ),
                                name="queue_retry_ladder",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("arrivals_per_second__gte", 1)),
                                name="queue_arrivals_per_second",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "QueueCounters",
                    [
                        ID,
                        ("queue", models.CharField(max_length=60)),
                        ("minute", models.DateTimeField()),
                        ("host", models.CharField(max_length=255)),
                        ("pid", models.IntegerField()),
                        ("batches", models.IntegerField(default=0)),
                        ("asked", models.IntegerField(default=0)),
                        ("measured", models.IntegerField(default=0)),
                        ("changed", models.IntegerField(default=0)),
                        ("missing", models.IntegerField(default=0)),
                        ("failed", models.IntegerField(default=0)),
                        ("late", models.JSONField(default=list)),
                    ],
                    {
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("minute", "queue", "host", "pid"),
                                name="counters_of_a_minute",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "TweetText",
                    [
                        (
                            "tweet",
                            models.OneToOneField(
                                on_delete=models.CASCADE,
                                primary_key=True,
                                serialize=False,
                                to="trackers.tweet",
                            ),
                        ),
                        ("text", models.TextField()),
                        ("lang", models.CharField(blank=True, max_length=10)),
                        (
                            "edit_history",
                            ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("conversation_id", models.BigIntegerField(null=True)),
                        (
                            "media_keys",
                            ArrayField(base_field=models.TextField(), null=True, size=None),
                        ),
                        ("quoted", models.BigIntegerField(null=True)),
                        ("replied_to", models.BigIntegerField(null=True)),
                        ("retweeted", models.BigIntegerField(null=True)),
                    ],
                    {"indexes": [GinIndex(words_of("text"), name="tweettext_words")]},
                ),
                migrations.CreateModel(
                    "TweetUpdate",
                    [
                        ("key", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("due_at", models.DateTimeField()),
                        (
                            "strikes",
                            models.SmallIntegerField(
                                db_default=0,
                                default=0,
                                help_text="4: isolated, out of the queue until a person retries it.",
                            ),
                        ),
                        (
                            "urgent",
                            models.BooleanField(
                                db_default=False,
                                default=False,
                                help_text="Under backlog, claimed before keys that have been due for longer.",
                            ),
                        ),
                        (
                            "stamp",
                            models.BigIntegerField(
                                help_text="The stamp of its bucket; null: isolated.", null=True
                            ),
                        ),
                        (
                            "for_money_until",
                            models.DateTimeField(
                                help_text="Waits for money while this equals its due time; null: does not wait.",
                                null=True,
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("strikes__gte", 4)),
                                fields=["key"],
                                name="tweetupdate_isolated",
                            ),
                            models.Index(
                                HASH,
                                condition=models.Q(
                                    lookups.GreaterThanOrEqual(HASH, 0),
                                    lookups.LessThan(HASH, 134217728),
                                ),
                                name="tweetupdate_sample",
                            ),
                            models.Index(
                                condition=models.Q(("for_money_until__isnull", False)),
                                fields=["key"],
                                name="tweetupdate_for_money",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Worker",
                    [
                        ID,
                        ("cluster", models.UUIDField()),
                        ("host", models.CharField(max_length=255)),
                        ("pid", models.IntegerField()),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("main", "Main"),
                                    ("sentinel", "Sentinel"),
                                    ("worker", "Worker"),
                                    ("pusher", "Pusher"),
                                    ("monitor", "Monitor"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("started_at", models.DateTimeField()),
                        ("seen_at", models.DateTimeField()),
                        ("doing", models.CharField(blank=True, max_length=200)),
                        ("doing_since", models.DateTimeField(null=True)),
                        ("done_at", models.DateTimeField(null=True)),
                    ],
                    {
                        "ordering": ["host", "cluster", "kind", "pid"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("cluster", "host", "pid"), name="worker_process"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Project",
                    [
                        ID,
                        ("name", models.CharField(max_length=60, unique=True)),
                        (
                            "posts_a_day",
                            models.PositiveIntegerField(
                                blank=True,
                                help_text="Leave empty for no limit.",
                                null=True,
                                verbose_name="tweet-days a UTC day",
                            ),
                        ),
                        (
                            "posts_a_month",
                            models.PositiveIntegerField(
                                blank=True,
                                help_text="Leave empty for no limit. Without a daily budget, what is left is spread evenly over the remaining days.",
                                null=True,
                                verbose_name="tweet-days a month",
                            ),
                        ),
                        (
                            "money_a_day",
                            models.DecimalField(
                                blank=True,
                                decimal_places=6,
                                help_text="Leave empty for no limit.",
                                max_digits=12,
                                null=True,
                                validators=[validators.MinValueValidator(0)],
                                verbose_name="US dollars a UTC day",
                            ),
                        ),
                        (
                            "money_a_month",
                            models.DecimalField(
                                blank=True,
                                decimal_places=6,
                                help_text="Leave empty for no limit. Without a daily budget, what is left is spread evenly over the remaining days.",
                                max_digits=12,
                                null=True,
                                validators=[validators.MinValueValidator(0)],
                                verbose_name="US dollars a month",
                            ),
                        ),
                        (
                            "price_of_a_post",
                            models.DecimalField(
                                decimal_places=6,
                                default=Decimal("0.005"),
                                help_text="US dollars per post and UTC day.",
                                max_digits=12,
                                validators=[validators.MinValueValidator(0)],
                            ),
                        ),
                        (
                            "price_of_an_owned_post",
                            models.DecimalField(
                                db_default=Decimal("0.001"),
                                decimal_places=6,
                                default=Decimal("0.001"),
                                help_text="US dollars per post by the account that owns the app, or that mentions it, if a source of that account reads it with its own tokens.",
                                max_digits=12,
                                validators=[validators.MinValueValidator(0)],
                            ),
                        ),
                        (
                            "price_of_a_user",
                            models.DecimalField(
                                decimal_places=6,
                                default=Decimal("0.010"),
                                help_text="US dollars per account looked up.",
                                max_digits=12,
                                validators=[validators.MinValueValidator(0)],
                            ),
                        ),
                        ("depleted_until", models.DateTimeField(editable=False, null=True)),
                        (
                            "depleted_reason",
                            models.CharField(blank=True, editable=False, max_length=300),
                        ),
                        ("depletions", models.PositiveSmallIntegerField(default=0, editable=False)),
                        ("account", models.BigIntegerField(editable=False, null=True)),
                        ("usage_read_at", models.DateTimeField(editable=False, null=True)),
                        ("usage_of_month", models.BigIntegerField(editable=False, null=True)),
                        ("ours_of_month", models.BigIntegerField(editable=False, null=True)),
                        ("cap", models.BigIntegerField(editable=False, null=True)),
                        ("cap_resets_on", models.DateField(editable=False, null=True)),
                        (
                            "credits_left",
                            models.DecimalField(
                                decimal_places=6, editable=False, max_digits=14, null=True
                            ),
                        ),
                        ("credits_read_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "usage_problem",
                            models.CharField(blank=True, editable=False, max_length=300),
                        ),
                        ("reserved_for_younger", models.JSONField(default=list, editable=False)),
                        ("rationed_at", models.DateTimeField(editable=False, null=True)),
                        ("needs", models.PositiveIntegerField(editable=False, null=True)),
                        ("waiting", models.PositiveIntegerField(default=0, editable=False)),
                        ("runs_dry_at", models.DateTimeField(editable=False, null=True)),
                        ("rationing_requested_at", models.DateTimeField(editable=False, null=True)),
                    ],
                    {"ordering": ["name"]},
                ),
                migrations.CreateModel(
                    "App",
                    [
                        ID,
                        ("name", models.CharField(max_length=60, unique=True)),
                        (
                            "project",
                            models.ForeignKey(
                                on_delete=models.PROTECT, related_name="apps", to="trackers.project"
                            ),
                        ),
                    ],
                    {"ordering": ["name"]},
                ),
                migrations.CreateModel(
                    "Credential",
                    [
                        ID,
                        ("name", models.CharField(max_length=60, unique=True)),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("bearer", "Bearer token (app only)"),
                                    ("oauth1", "OAuth 1.0a (user)"),
                                    ("oauth2", "OAuth 2.0 (user)"),
                                ],
                                max_length=10,
                            ),
                        ),
                        (
                            "api",
                            models.CharField(
                                choices=[("v2", "v2"), ("v1.1", "v1.1")], default="v2", max_length=4
                            ),
                        ),
                        ("secrets", EncryptedJSONField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("used_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "refused",
                            models.PositiveSmallIntegerField(
                                default=0, editable=False, help_text="Consecutive refusals by X."
                            ),
                        ),
                        ("refused_since", models.DateTimeField(editable=False, null=True)),
                        (
                            "refused_reason",
                            models.CharField(
                                blank=True, db_default="", editable=False, max_length=300
                            ),
                        ),
                        (
                            "retry_at",
                            models.DateTimeField(
                                editable=False,
                                help_text="X refused its keys: nothing is asked before then.",
                                null=True,
                            ),
                        ),
                        ("disabled_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "disabled_reason",
                            models.CharField(blank=True, editable=False, max_length=300),
                        ),
                        (
                            "expires_at",
                            models.DateTimeField(
                                editable=False,
                                help_text="When the access token expires; null: X did not say.",
                                null=True,
                            ),
                        ),
                        (
                            "refreshing_until",
                            models.DateTimeField(
                                editable=False,
                                help_text="Not used before then: its tokens are being renewed or, after a failure, will be renewed then.",
                                null=True,
                            ),
                        ),
                        (
                            "renewals_failed",
                            models.PositiveSmallIntegerField(default=0, editable=False),
                        ),
                        (
                            "renewal_problem",
                            models.CharField(blank=True, editable=False, max_length=300),
                        ),
                        (
                            "scopes",
                            ArrayField(
                                base_field=models.CharField(max_length=40),
                                blank=True,
                                editable=False,
                                help_text="What the user allowed at sign-in, as X named it with the last tokens; null: not known until the next renewal.",
                                null=True,
                                size=None,
                            ),
                        ),
                        (
                            "app_owner",
                            models.BigIntegerField(
                                blank=True,
                                help_text="The numeric id of the account at X that owns the app, where these are that account's tokens: X bills less for its posts and its mentions then. Leave empty otherwise.",
                                null=True,
                            ),
                        ),
                        (
                            "app",
                            models.ForeignKey(
                                help_text="The X app that the keys belong to. X allows one app per use case, so several credentials are tokens of several users, or belong to separate projects.",
                                on_delete=models.PROTECT,
                                related_name="credentials",
                                to="trackers.app",
                            ),
                        ),
                    ],
                    {
                        "ordering": ["name"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("kind__in", ["bearer", "oauth1", "oauth2"])),
                                name="credential_kind",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("api__in", ["v2", "v1.1"])),
                                name="credential_api",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Window",
                    [
                        ID,
                        ("endpoint", models.CharField(max_length=60)),
                        ("limit", models.IntegerField(null=True)),
                        ("remaining", models.IntegerField(null=True)),
                        ("resets_at", models.DateTimeField(null=True)),
                        (
                            "limit_a_day",
                            models.IntegerField(
                                help_text="Requests in 24 hours, where X limits these as well.",
                                null=True,
                            ),
                        ),
                        ("seen_at", models.DateTimeField(null=True)),
                        ("learned_at", models.DateTimeField(null=True)),
                        (
                            "under_way",
                            ArrayField(base_field=models.DateTimeField(), default=list, size=None),
                        ),
                        (
                            "lost",
                            ArrayField(base_field=models.DateTimeField(), default=list, size=None),
                        ),
                        (
                            "credential",
                            models.ForeignKey(
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="windows",
                                to="trackers.credential",
                            ),
                        ),
                        (
                            "app",
                            models.ForeignKey(
                                on_delete=models.CASCADE, related_name="windows", to="trackers.app"
                            ),
                        ),
                        (
                            "cooldown_reason",
                            models.CharField(blank=True, db_default="", max_length=300),
                        ),
                        ("cooldown_until", models.DateTimeField(null=True)),
                        (
                            "limited",
                            models.PositiveSmallIntegerField(
                                db_default=0,
                                default=0,
                                help_text="Consecutive 429s; those of concurrent requests count once.",
                            ),
                        ),
                        (
                            "refused",
                            models.PositiveSmallIntegerField(
                                db_default=0,
                                default=0,
                                help_text="Consecutive 403s, which concern this endpoint only.",
                            ),
                        ),
                        (
                            "refused_reason",
                            models.CharField(blank=True, db_default="", max_length=300),
                        ),
                        ("refused_since", models.DateTimeField(null=True)),
                        ("rejected_at", models.DateTimeField(null=True)),
                    ],
                    {
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("app", "credential", "endpoint"),
                                name="window_of_a_token",
                                nulls_distinct=False,
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Spending",
                    [
                        ID,
                        ("day", models.DateField()),
                        ("posts", models.IntegerField(default=0)),
                        ("users", models.IntegerField(default=0)),
                        ("owned_posts", models.IntegerField(db_default=0, default=0)),
                        ("posts_reserved", models.IntegerField(default=0)),
                        ("users_reserved", models.IntegerField(default=0)),
                        ("money", models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                        ("reported_posts", models.IntegerField(null=True)),
                        (
                            "project",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="spending",
                                to="trackers.project",
                            ),
                        ),
                    ],
                    {
                        "ordering": ["-day"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("project", "day"), name="spending_of_a_day"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("posts_reserved__gte", 0), ("users_reserved__gte", 0)
                                ),
                                name="reserved_not_negative",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Gap",
                    [
                        ID,
                        ("from_id", models.BigIntegerField(null=True)),
                        ("to_id", models.BigIntegerField()),
                        (
                            "why",
                            models.CharField(
                                choices=[
                                    ("budget", "the pages of a poll were used up"),
                                    ("quota", "X allowed no more requests, or the money ran out"),
                                    ("reach", "X shows nothing older"),
                                    ("repeats", "X sent the same page again and again"),
                                    ("stream", "the stream was not connected"),
                                    ("rule", "X did not have the rule"),
                                    ("edited", "the source was changed before it was read"),
                                ],
                                max_length=8,
                            ),
                        ),
                        ("token", models.CharField(blank=True, max_length=300)),
                        ("yielded_when_found", models.BigIntegerField(default=0)),
                        ("found_at", models.DateTimeField()),
                        ("closed_at", models.DateTimeField(null=True)),
                        (
                            "source",
                            models.ForeignKey(
                                on_delete=models.CASCADE, related_name="gaps", to="trackers.source"
                            ),
                        ),
                        (
                            "was_of",
                            models.CharField(
                                blank=True, db_default="", default="", max_length=1024
                            ),
                        ),
                    ],
                    {
                        "ordering": ["-found_at", "-pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("closed_at", None)),
                                fields=["source"],
                                name="gap_open",
                            ),
                            models.Index(
                                condition=models.Q(("closed_at__isnull", False)),
                                fields=["closed_at"],
                                name="gap_closed",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("from_id", None),
                                    ("from_id__lt", models.F("to_id")),
                                    _connector="OR",
                                ),
                                name="gap_is_a_stretch",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Source",
                    [
                        ID,
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("account", "An account's posts"),
                                    ("mentions", "Mentions of an account"),
                                    ("search", "A search"),
                                    ("list", "A list"),
                                    ("stream", "Everything that a rule matches, live"),
                                    ("import", "A file"),
                                ],
                                max_length=8,
                            ),
                        ),
                        (
                            "of",
                            models.CharField(
                                help_text="A username, a search query, the number or address of a list, or a rule for X's filtered stream.",
                                max_length=1024,
                            ),
                        ),
                        (
                            "owner",
                            models.CharField(
                                blank=True,
                                help_text="Whose source it is: a label of your own.",
                                max_length=60,
                            ),
                        ),
                        (
                            "priority",
                            models.SmallIntegerField(
                                choices=[
                                    (0, "low: gives way first"),
                                    (1, "normal"),
                                    (2, "high: gives way last"),
                                ],
                                default=1,
                            ),
                        ),
                        (
                            "every",
                            models.DurationField(
                                default=timedelta(seconds=300),
                                help_text="Time from one poll to the next.",
                            ),
                        ),
                        (
                            "pages",
                            models.PositiveSmallIntegerField(
                                default=10,
                                help_text="Most pages of 100 posts that one poll reads. Anything beyond them is a gap, which is filled later.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(500),
                                ],
                            ),
                        ),
                        (
                            "exclude_replies",
                            models.BooleanField(default=False, verbose_name="without replies"),
                        ),
                        (
                            "exclude_retweets",
                            models.BooleanField(default=False, verbose_name="without retweets"),
                        ),
                        (
                            "backfill",
                            models.DurationField(
                                blank=True,
                                default=timedelta(days=1),
                                help_text="How far back the first poll reads. Leave empty for as far as X shows.",
                                null=True,
                            ),
                        ),
                        (
                            "late_by",
                            models.DurationField(
                                blank=True,
                                help_text="How late a post may appear, counted from the time in its id, and still be found by the next poll. Leave empty for the default of its kind (see .env.example).",
                                null=True,
                            ),
                        ),
                        ("paused_at", models.DateTimeField(blank=True, editable=False, null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("account_id", models.BigIntegerField(editable=False, null=True)),
                        ("username", models.CharField(blank=True, editable=False, max_length=50)),
                        ("rule_id", models.BigIntegerField(editable=False, null=True)),
                        ("latest_id", models.BigIntegerField(editable=False, null=True)),
                        ("asked_at_ms", models.BigIntegerField(editable=False, null=True)),
                        ("passed_id", models.BigIntegerField(default=0, editable=False)),
                        ("begun_id", models.BigIntegerField(default=0, editable=False)),
                        ("sweep", models.JSONField(editable=False, null=True)),
                        ("resting", models.JSONField(editable=False, null=True)),
                        ("version", models.BigIntegerField(default=0, editable=False)),
                        ("poll_at", models.DateTimeField(editable=False, null=True)),
                        ("left_out", models.JSONField(default=dict, editable=False)),
                        ("polled_at", models.DateTimeField(editable=False, null=True)),
                        ("overlapped_at", models.DateTimeField(editable=False, null=True)),
                        ("deep_overlapped_at", models.DateTimeField(editable=False, null=True)),
                        ("skew", models.DurationField(editable=False, null=True)),
                        ("yielded", models.BigIntegerField(default=0, editable=False)),
                        ("again", models.BigIntegerField(default=0, editable=False)),
                        ("leaked", models.BigIntegerField(default=0, editable=False)),
                        (
                            "hidden_reason",
                            models.CharField(blank=True, editable=False, max_length=12),
                        ),
                        ("problem", models.CharField(blank=True, editable=False, max_length=300)),
                        ("failures", models.PositiveIntegerField(default=0, editable=False)),
                        (
                            "filling",
                            models.ForeignKey(
                                editable=False,
                                null=True,
                                on_delete=models.SET_NULL,
                                related_name="+",
                                to="trackers.gap",
                            ),
                        ),
                        ("was_account_id", models.BigIntegerField(editable=False, null=True)),
                        (
                            "was_of",
                            models.CharField(
                                blank=True,
                                db_default="",
                                default="",
                                editable=False,
                                max_length=1024,
                            ),
                        ),
                    ],
                    {
                        "ordering": ["-priority", "kind", "of"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    (
                                        "kind__in",
                                        [
                                            "account",
                                            "mentions",
                                            "search",
                                            "list",
                                            "stream",
                                            "import",
                                        ],
                                    )
                                ),
                                name="source_kind",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("every__gte", timedelta(seconds=5)),
                                    ("every__lte", timedelta(days=1)),
                                ),
                                name="source_every",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("pages__gte", 1), ("pages__lte", 500)),
                                name="source_pages",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("late_by", None),
                                    ("late_by__gte", timedelta(0)),
                                    _connector="OR",
                                ),
                                name="source_late_by",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("backfill", None),
                                    ("backfill__gte", timedelta(0)),
                                    _connector="OR",
                                ),
                                name="source_backfill",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("kind", "import"), _negated=True),
                                fields=("kind", "of"),
                                name="source_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Stream",
                    [
                        (
                            "name",
                            models.CharField(
                                default="filtered", max_length=20, primary_key=True, serialize=False
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("connecting", "Connecting"),
                                    ("open", "Open"),
                                    ("waiting", "Waiting to reconnect"),
                                    ("stopped", "Stopped"),
                                ],
                                default="stopped",
                                max_length=10,
                            ),
                        ),
                        ("because", models.CharField(blank=True, max_length=300)),
                        ("credential", models.CharField(blank=True, max_length=60)),
                        ("host", models.CharField(blank=True, max_length=255)),
                        ("pid", models.IntegerField(null=True)),
                        ("lease", models.BigIntegerField(null=True)),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("state_since", models.DateTimeField(null=True)),
                        ("connected_at", models.DateTimeField(null=True)),
                        ("opened_at", models.DateTimeField(null=True)),
                        (
                            "heard_at",
                            models.DateTimeField(
                                help_text="When the last line or keep-alive arrived.", null=True
                            ),
                        ),
                        ("next_try_at", models.DateTimeField(null=True)),
                        ("stored_until", models.DateTimeField(null=True)),
                        ("connects", models.BigIntegerField(default=0)),
                        ("lines", models.BigIntegerField(default=0)),
                        ("duplicates", models.BigIntegerField(default=0)),
                        ("garbled", models.BigIntegerField(default=0)),
                        ("skew", models.DurationField(null=True)),
                        (
                            "mark",
                            models.CharField(
                                blank=True,
                                db_default="",
                                default="",
                                help_text="Marks this installation's rules at X, in their tags.",
                                max_length=16,
                            ),
                        ),
                        ("rules_read_at", models.DateTimeField(null=True)),
                        (
                            "rules_of_others",
                            models.IntegerField(
                                db_default=0,
                                default=0,
                                help_text="Rules at X for the same app that are not ours. X bills their posts as well.",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "Import",
                    [
                        (
                            "source",
                            models.OneToOneField(
                                on_delete=models.CASCADE,
                                primary_key=True,
                                related_name="report",
                                serialize=False,
                                to="trackers.source",
                            ),
                        ),
                        ("format", models.CharField(max_length=10)),
                        ("column", models.CharField(blank=True, max_length=200)),
                        ("referenced", models.BooleanField(default=False)),
                        ("note", models.TextField(blank=True)),
                        ("header", models.TextField(blank=True)),
                        ("bytes", models.BigIntegerField(default=0)),
                        ("parts", models.IntegerField(default=0)),
                        ("parts_done", models.IntegerField(default=0)),
                        ("read", models.BigIntegerField(default=0)),
                        ("tracked", models.BigIntegerField(default=0)),
                        ("already", models.BigIntegerField(default=0)),
                        ("rejected", models.BigIntegerField(default=0)),
                        ("uploaded_at", models.DateTimeField(null=True)),
                        ("began_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("unpacked", models.BigIntegerField(db_default=0, default=0)),
                        ("lines", models.BigIntegerField(db_default=0, default=0)),
                        ("files", models.JSONField(default=list)),
                        ("warnings", models.BigIntegerField(db_default=0, default=0)),
                    ],
                ),
                job("ImportJob"),
                migrations.CreateModel(
                    "ImportPart",
                    [
                        ID,
                        ("first_line", models.BigIntegerField()),
                        ("lines", models.BinaryField()),
                        (
                            "source",
                            models.ForeignKey(
                                on_delete=models.CASCADE, related_name="parts", to="trackers.source"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "RejectedLine",
                    [
                        ID,
                        ("line", models.BigIntegerField()),
                        ("text", models.CharField(max_length=80)),
                        ("why", models.CharField(max_length=300)),
                        (
                            "source",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="rejected_lines",
                                to="trackers.source",
                            ),
                        ),
                        ("tracked", models.BooleanField(db_default=False, default=False)),
                    ],
                    {
                        "ordering": ["line"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("source", "tracked", "line"), name="rejected_line_once"
                            )
                        ],
                    },
                ),
                job("SourcePoll"),
                migrations.CreateModel(
                    "SourceTweet",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "source_id",
                                "tweet_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("tweet_id", models.BigIntegerField()),
                        ("seen_at", models.DateTimeField()),
                        ("late", models.BooleanField(default=False)),
                        (
                            "source",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="tweets",
                                to="trackers.source",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("late", True)),
                                fields=["source", "tweet_id"],
                                name="sourcetweet_late",
                            ),
                            models.Index(fields=["tweet_id"], name="sourcetweet_of_tweet"),
                            models.Index(
                                condition=models.Q(("late", False)),
                                fields=["seen_at"],
                                name="sourcetweet_seen",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Replanning",
                    [
                        ID,
                        ("turn", models.PositiveBigIntegerField(default=0)),
                        ("plan", models.TextField(blank=True)),
                        ("begun_at", models.DateTimeField(null=True)),
                        ("touched_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        ("below", models.BigIntegerField(default=0)),
                        (
                            "tweets",
                            models.PositiveBigIntegerField(
                                default=0, help_text="Estimated number of tweets."
                            ),
                        ),
                        ("seen", models.PositiveBigIntegerField(default=0)),
                        ("moved", models.PositiveBigIntegerField(default=0)),
                        ("woken", models.PositiveBigIntegerField(default=0)),
                        (
                            "overdue",
                            models.PositiveBigIntegerField(
                                default=0,
                                help_text="Tweets that were already due; they are spread out from the start.",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "QueueStatistics",
                    [
                        (
                            "queue",
                            models.CharField(max_length=60, primary_key=True, serialize=False),
                        ),
                        ("taken_at", models.DateTimeField(null=True)),
                        ("due", models.IntegerField(default=0)),
                        ("oldest_due_seconds", models.FloatField(default=0)),
                        ("oldest_urgent_seconds", models.FloatField(default=0)),
                        ("in_flight", models.IntegerField(default=0)),
                        ("scheduled", models.IntegerField(default=0)),
                        ("isolated", models.IntegerField(default=0)),
                        ("checked_last_minute", models.IntegerField(default=0)),
                        ("lateness_p50_seconds", models.FloatField(null=True)),
                        ("lateness_p99_seconds", models.FloatField(null=True)),
                        ("batch_fill", models.FloatField(null=True)),
                        ("counted_at", models.DateTimeField(null=True)),
                        ("whole_at", models.DateTimeField(null=True)),
                        ("whole_took", models.DurationField(default=timedelta(0))),
                        ("whole_scheduled", models.IntegerField(default=0)),
                        ("whole_due", models.IntegerField(default=0)),
                        ("whole_in_flight", models.IntegerField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    "TweetCensus",
                    [
                        ID,
                        ("taken_at", models.DateTimeField(null=True)),
                        (
                            "took",
                            models.DurationField(
                                default=timedelta(0), help_text="0: no full count was needed."
                            ),
                        ),
                        ("tracked", models.IntegerField(default=0)),
                        ("gone", models.IntegerField(default=0)),
                        ("paused", models.IntegerField(default=0)),
                        ("demand", models.FloatField(null=True)),
                        ("is_counted", models.BooleanField(default=True)),
                        ("unreadable", models.IntegerField(db_default=0)),
                        (
                            "ages",
                            models.JSONField(
                                help_text="Tweets by age, for the cost of intervals.", null=True
                            ),
                        ),
                        (
                            "tiers",
                            ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "TweetVersion",
                    [
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("seen_at", models.DateTimeField(null=True)),
                        ("text", models.TextField(null=True)),
                        (
                            "tweet",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="versions",
                                to="trackers.tweet",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "BegunBatch",
                    [
                        ("lease", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("queue", models.CharField(max_length=60)),
                        ("claimed_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField()),
                        ("queue_saved", models.BooleanField(db_default=False)),
                        ("others_saved", models.BooleanField(db_default=False, null=True)),
                    ],
                ),
                bucket("TweetBucket"),
                bucket("PollBucket"),
                bucket("ImportBucket"),
                migrations.CreateModel(
                    "Timeline",
                    [
                        ID,
                        ("name", models.CharField(db_collation="C", max_length=200)),
                        ("live", models.BooleanField(db_default=False, default=False)),
                        (
                            "seq",
                            models.BigIntegerField(
                                db_default=0,
                                default=0,
                                help_text="Counts the writes that added something.",
                            ),
                        ),
                        (
                            "size",
                            models.IntegerField(db_default=0, default=0, help_text="Live entries."),
                        ),
                        ("last_read_at", models.DateTimeField(db_default=functions.Now())),
                        ("read_on", models.DateField(db_default=functions.Now())),
                    ],
                    {
                        "permissions": [
                            ("use_timeline_store", "Can use the timeline store by the API")
                        ],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("live", True)),
                                fields=["read_on", "id"],
                                name="timeline_read",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("name",), name="timeline_name"),
                            models.CheckConstraint(
                                condition=models.Q(("size__gte", 0)), name="timeline_size"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TimelineEntry",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "timeline_id",
                                "entry_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        (
                            "timeline",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                to="trackers.timeline",
                            ),
                        ),
                        ("entry_id", models.BigIntegerField()),
                        ("seq", models.BigIntegerField()),
                        ("secondary", models.BigIntegerField(null=True)),
                        (
                            "dead_at",
                            models.DateTimeField(
                                help_text="When it was deleted, or when its timeline expired if that was later.",
                                null=True,
                            ),
                        ),
                        ("metadata", models.BinaryField(null=True)),
                    ],
                    {
                        "indexes": [
                            models.Index(fields=["timeline", "seq"], name="timelineentry_seq"),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", False)),
                                fields=["dead_at"],
                                name="timelineentry_dead",
                            ),
                        ],
                    },
                ),
                bucket("DeliveryBucket"),
                job("HomeRebuild"),
                bucket("RebuildBucket"),
                job("TimelineDelivery"),
                migrations.CreateModel(
                    "DeliveryMark",
                    [
                        ("origin_id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("number", models.BigIntegerField(default=0)),
                        ("reach", models.BigIntegerField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    "Origin",
                    [
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("clock", models.BigIntegerField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    "HomeSettings",
                    [
                        ID,
                        (
                            "strategy",
                            models.CharField(
                                choices=[
                                    ("read", "on read: nothing is stored"),
                                    ("timed", "timed buckets: one row per day"),
                                    ("sized", "sized buckets: a fixed number of tweets per row"),
                                    ("cache", "capped cache: only the newest tweets"),
                                ],
                                default="read",
                                help_text="Start with “on read”: it stores nothing, is always right, and is fast for people who follow up to a few thousand sources. Choose the capped cache if homes are viewed all the time or people follow very many sources; sized buckets, the most compact, if people scroll far back; timed buckets if people look up particular days. After a change, homes are answered on read until they are rebuilt.",
                                max_length=10,
                            ),
                        ),
                        (
                            "cache_size",
                            models.PositiveIntegerField(
                                default=800,
                                help_text="Older tweets are read from the sources. Twitter kept 800.",
                                validators=[
                                    validators.MinValueValidator(50),
                                    validators.MaxValueValidator(100000),
                                ],
                                verbose_name="tweets in a cache",
                            ),
                        ),
                        (
                            "cache_slack",
                            models.PositiveIntegerField(
                                default=50,
                                help_text="A cache grows by this many tweets before it is trimmed: trimming at every write costs more.",
                                validators=[
                                    validators.MinValueValidator(0),
                                    validators.MaxValueValidator(100000),
                                ],
                                verbose_name="cache slack",
                            ),
                        ),
                        (
                            "bucket_days",
                            models.PositiveSmallIntegerField(
                                default=1,
                                help_text="Above about 200 tweets per bucket, writes become expensive: PostgreSQL then rewrites a large value for each tweet.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(366),
                                ],
                                verbose_name="days per timed bucket",
                            ),
                        ),
                        (
                            "bucket_size",
                            models.PositiveSmallIntegerField(
                                default=50,
                                help_text="About one page of a home. Above 200, writes become expensive, as above.",
                                validators=[
                                    validators.MinValueValidator(10),
                                    validators.MaxValueValidator(1000),
                                ],
                                verbose_name="tweets per sized bucket",
                            ),
                        ),
                        (
                            "depth",
                            models.PositiveIntegerField(
                                default=10000,
                                help_text="This many tweets are put into buckets when a home is built; older ones are read from the sources.",
                                validators=[
                                    validators.MinValueValidator(100),
                                    validators.MaxValueValidator(1000000),
                                ],
                                verbose_name="depth of buckets",
                            ),
                        ),
                        (
                            "follow_backfill",
                            models.PositiveIntegerField(
                                default=200,
                                help_text="This many tweets of a newly followed source are put into the home at once; older ones are read from the sources.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(10000),
                                ],
                                verbose_name="follow backfill",
                            ),
                        ),
                        (
                            "fanout_limit",
                            models.PositiveIntegerField(
                                blank=True,
                                help_text="Deliver a source to this many followers, the earliest first; the others read it with each page. Leave empty for all. Set it if a source has so many followers that its deliveries take too long.",
                                null=True,
                                validators=[validators.MinValueValidator(1)],
                                verbose_name="fan-out limit",
                            ),
                        ),
                        (
                            "async_threshold",
                            models.PositiveIntegerField(
                                default=200,
                                help_text="A source with up to this many followers is delivered by the worker that found the tweet, one with more by any worker. 0: always by any worker.",
                                verbose_name="asynchronous threshold",
                            ),
                        ),
                        (
                            "idle_days",
                            models.PositiveSmallIntegerField(
                                default=21,
                                help_text="A home that has not been viewed for this many days is dropped. When its follower returns, it is answered on read and rebuilt.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(3650),
                                ],
                                verbose_name="idle days",
                            ),
                        ),
                        (
                            "embed",
                            ArrayField(
                                base_field=models.CharField(
                                    choices=[("text", "the text"), ("author", "the author's name")],
                                    max_length=10,
                                ),
                                blank=True,
                                default=list,
                                help_text="What a home stores as it was first seen. Leave this empty unless homes serve as an archive: a page then looks everything up, which costs nothing noticeable (0.10 ms for 50 tweets, 0.12 ms embedded) and shows edits and new names. Embedded text stays as first seen, and is marked where it differs from the current one. Deleted tweets disappear either way. Works with the capped cache only: in buckets, each new tweet would rewrite the text of all the others (14 times slower when measured).",
                                size=None,
                                verbose_name="embedded",
                            ),
                        ),
                    ],
                    {
                        "verbose_name": "home settings",
                        "verbose_name_plural": "home settings",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("id", 1)), name="homesettings_one_row"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("strategy__in", ["read", "timed", "sized", "cache"])
                                ),
                                name="homesettings_strategy",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("bucket_days__gte", 1),
                                    ("bucket_size__gte", 10),
                                    ("cache_size__gte", 50),
                                    ("depth__gte", 100),
                                    ("follow_backfill__gte", 1),
                                    ("idle_days__gte", 1),
                                    models.Q(
                                        ("fanout_limit", None),
                                        ("fanout_limit__gte", 1),
                                        _connector="OR",
                                    ),
                                ),
                                name="homesettings_sizes",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("cache_slack__lte", models.F("cache_size"))),
                                name="homesettings_slack",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("embed", []),
                                    models.Q(
                                        ("embed__contained_by", ["text", "author"]),
                                        ("strategy", "cache"),
                                    ),
                                    _connector="OR",
                                ),
                                name="homesettings_embed",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Follower",
                    [
                        ID,
                        ("read_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "team",
                            models.OneToOneField(
                                blank=True, null=True, on_delete=models.CASCADE, to="auth.group"
                            ),
                        ),
                        (
                            "user",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=models.CASCADE,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    {
                        "indexes": [models.Index(fields=["read_at"], name="follower_read")],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("team__isnull", False), ("user", None)),
                                    models.Q(("team", None), ("user__isnull", False)),
                                    _connector="OR",
                                ),
                                name="follower_is_a_user_or_a_team",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TimedBucket",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "follower_id",
                                "bucket",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("bucket", models.IntegerField()),
                        ("ids", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        (
                            "follower",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to="trackers.follower",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "SizedBucket",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "follower_id",
                                "n",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("n", models.IntegerField()),
                        ("ids", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("min_id", models.BigIntegerField()),
                        ("max_id", models.BigIntegerField()),
                        (
                            "follower",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to="trackers.follower",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                fields=["follower", "max_id", "n"], name="sizedbucket_newest"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Follow",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "follower_id",
                                "origin_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("origin_id", models.BigIntegerField()),
                        ("followed_at", models.DateTimeField()),
                        (
                            "follower",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="follows",
                                to="trackers.follower",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                fields=["origin_id", "follower_id"], name="follow_of_origin"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "BuiltHome",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "follower_id",
                                "strategy",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("strategy", models.CharField(max_length=10)),
                        ("shape", models.IntegerField(default=0)),
                        ("floor", models.BigIntegerField(default=0)),
                        (
                            "total",
                            models.BigIntegerField(
                                default=0, help_text="Tweets put into its buckets."
                            ),
                        ),
                        ("built_at", models.DateTimeField(null=True)),
                        (
                            "follower",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="built_homes",
                                to="trackers.follower",
                            ),
                        ),
                    ],
                    {"indexes": [models.Index(fields=["strategy"], name="builthome_of_strategy")]},
                ),
                migrations.CreateModel(
                    "Arrival",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "origin_id",
                                "number",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("number", models.BigIntegerField()),
                        ("tweet_id", models.BigIntegerField()),
                        ("xid", models.BigIntegerField()),
                        ("horizon", models.BigIntegerField()),
                        ("came_at", models.DateTimeField()),
                        (
                            "origin",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                to="trackers.origin",
                            ),
                        ),
                    ],
                    {"indexes": [models.Index(fields=["tweet_id"], name="arrival_of_tweet")]},
                ),
                migrations.CreateModel(
                    "FeedAddress",
                    [
                        (
                            "follower",
                            models.OneToOneField(
                                on_delete=models.CASCADE,
                                primary_key=True,
                                related_name="address",
                                serialize=False,
                                to="trackers.follower",
                            ),
                        ),
                        ("digest", models.CharField(max_length=64, unique=True)),
                        ("made_at", models.DateTimeField()),
                        ("feeds_id", models.UUIDField(default=uuid4, editable=False)),
                    ],
                ),
                migrations.CreateModel(
                    "ApiToken",
                    [
                        ID,
                        (
                            "name",
                            models.CharField(
                                help_text="What it is for, in your own words.", max_length=64
                            ),
                        ),
                        ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                        (
                            "begins",
                            models.CharField(
                                blank=True, db_default="", default="", editable=False, max_length=12
                            ),
                        ),
                        ("made_at", models.DateTimeField(auto_now_add=True)),
                        ("used_at", models.DateTimeField(editable=False, null=True)),
                        ("revoked_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="api_tokens",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "scope",
                            models.CharField(
                                choices=[
                                    ("read", "read: view only"),
                                    (
                                        "write",
                                        "write: also change tweets, sources, timelines and follows",
                                    ),
                                    (
                                        "admin",
                                        "admin: also change subscribers, intervals and queues",
                                    ),
                                    ("bus", "bus: publish and subscribe"),
                                    ("root", "root: create and revoke tokens of the bus"),
                                ],
                                default="read",
                                help_text="What a program may do with it, within what its user may do.",
                                max_length=5,
                            ),
                        ),
                    ],
                    {
                        "verbose_name": "API token",
                        "ordering": ["-made_at"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("scope__in", ["read", "write", "admin"]),
                                        ("user__isnull", False),
                                    ),
                                    models.Q(("scope__in", ["bus", "root"]), ("user", None)),
                                    _connector="OR",
                                ),
                                name="apitoken_scope",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "FeedState",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "address_id",
                                "source_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("source_id", models.BigIntegerField()),
                        ("digest", models.CharField(max_length=64)),
                        ("changed_at", models.DateTimeField()),
                        (
                            "address",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="states",
                                to="trackers.feedaddress",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "HomeReads",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "day",
                                "served_by",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("day", models.DateField()),
                        ("served_by", models.CharField(max_length=30)),
                        ("pages", models.BigIntegerField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    "Column",
                    [
                        ID,
                        ("position", models.IntegerField()),
                        (
                            "source",
                            models.ForeignKey(
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to="trackers.source",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to="auth.group",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="columns",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    {
                        "ordering": ("position", "id"),
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("source", None), ("team", None), _connector="OR"
                                ),
                                name="column_shows",
                            ),
                            models.UniqueConstraint(
                                fields=("user", "source", "team"),
                                name="column_once",
                                nulls_distinct=False,
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Attempt",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "id",
                                "at",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("id", models.BigIntegerField()),
                        ("at", models.DateTimeField()),
                        ("uid", models.UUIDField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("events", "Events"),
                                    ("test", "Test"),
                                    ("redelivery", "Redelivery"),
                                ]
                            ),
                        ),
                        ("number", models.IntegerField()),
                        (
                            "outcome",
                            models.TextField(
                                choices=[
                                    ("delivered", "Delivered"),
                                    ("failed", "Failed"),
                                    ("lost", "Lost"),
                                    ("late", "Late"),
                                ]
                            ),
                        ),
                        ("took_ms", models.IntegerField(null=True)),
                        ("status", models.IntegerField(null=True)),
                        ("error", models.TextField(blank=True)),
                        ("answer", models.TextField(blank=True)),
                        ("events", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                    ],
                    {"managed": False},
                ),
                migrations.CreateModel(
                    "Event",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "id",
                                "received_at",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("id", models.BigIntegerField()),
                        ("received_at", models.DateTimeField()),
                        (
                            "type",
                            models.TextField(
                                choices=[
                                    ("create", "Create"),
                                    ("update", "Update"),
                                    ("delete", "Delete"),
                                    ("noop", "Noop"),
                                ]
                            ),
                        ),
                        ("t", models.BigIntegerField()),
                        ("tweet_id", models.BigIntegerField(null=True)),
                        ("url", models.TextField(null=True)),
                        (
                            "figures",
                            ArrayField(
                                base_field=models.BigIntegerField(null=True), null=True, size=None
                            ),
                        ),
                        ("data", models.JSONField(null=True)),
                    ],
                    {"managed": False},
                ),
                migrations.CreateModel(
                    "Staged",
                    [
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("received_at", models.DateTimeField()),
                        ("events", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("only_for", models.BigIntegerField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    "Subscriber",
                    [
                        ID,
                        (
                            "name",
                            models.CharField(
                                help_text="Lower-case letters, digits, : _ and -. It cannot be changed later.",
                                max_length=64,
                                unique=True,
                                validators=[
                                    validators.RegexValidator(
                                        re.compile("\\A[a-z0-9:_-]{1,64}\\Z"),
                                        "A name has 1 to 64 of the characters a to z, 0 to 9, : _ and -.",
                                    )
                                ],
                            ),
                        ),
                        (
                            "callback",
                            models.CharField(
                                help_text="The https address that batches are sent to.",
                                max_length=2000,
                                validators=[check_callback],
                            ),
                        ),
                        ("secrets", EncryptedJSONField()),
                        (
                            "max_events",
                            models.PositiveIntegerField(
                                default=100,
                                help_text="Most events in one batch.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(10000),
                                ],
                            ),
                        ),
                        (
                            "timeout_ms",
                            models.PositiveIntegerField(
                                default=500,
                                help_text="Milliseconds that a batch waits for more events, counted from its first.",
                                validators=[validators.MaxValueValidator(3600000)],
                            ),
                        ),
                        (
                            "ordered",
                            models.BooleanField(
                                default=False,
                                help_text="Deliver one batch at a time, in order. A failed batch holds up all later ones.",
                            ),
                        ),
                        (
                            "concurrency",
                            models.PositiveSmallIntegerField(
                                default=4,
                                help_text="Most batches in flight at once.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(100),
                                ],
                            ),
                        ),
                        (
                            "format",
                            models.CharField(
                                choices=[
                                    ("routemaster", "Routemaster"),
                                    ("cloudevents", "CloudEvents batch"),
                                ],
                                default="routemaster",
                                max_length=20,
                            ),
                        ),
                        (
                            "newest_only",
                            models.BooleanField(
                                default=True,
                                help_text="If several changes of a tweet wait in one batch, deliver only the newest.",
                            ),
                        ),
                        (
                            "with_data",
                            models.BooleanField(
                                default=False,
                                help_text="Send the tweet's figures too, not only its address.",
                            ),
                        ),
                        (
                            "authors",
                            ArrayField(
                                base_field=models.BigIntegerField(),
                                blank=True,
                                default=list,
                                help_text="Author ids, separated by commas. Leave empty for all.",
                                size=None,
                                validators=[ArrayMaxLengthValidator(1000)],
                            ),
                        ),
                        (
                            "sources",
                            ArrayField(
                                base_field=models.BigIntegerField(),
                                blank=True,
                                default=list,
                                help_text="Source numbers, as in the addresses of their pages. Leave empty for all.",
                                size=None,
                                validators=[ArrayMaxLengthValidator(1000)],
                            ),
                        ),
                        (
                            "metric",
                            models.CharField(
                                blank=True, choices=METRICS, default="", max_length=20
                            ),
                        ),
                        (
                            "at_least",
                            models.BigIntegerField(
                                blank=True,
                                help_text="Only changes of tweets whose figure is this or more.",
                                null=True,
                                validators=[validators.MinValueValidator(0)],
                            ),
                        ),
                        ("made_at", models.DateTimeField(db_default=functions.Now())),
                        ("paused_at", models.DateTimeField(editable=False, null=True)),
                        ("removed_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "token",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="subscriber",
                                to="trackers.apitoken",
                            ),
                        ),
                        (
                            "rate",
                            models.PositiveIntegerField(
                                blank=True,
                                help_text="Most events a second, on average. Leave empty for no limit.",
                                null=True,
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(1000000),
                                ],
                            ),
                        ),
                    ],
                    {"ordering": ["name"]},
                ),
                migrations.CreateModel(
                    "Topic",
                    [
                        ID,
                        (
                            "name",
                            models.CharField(
                                max_length=64,
                                unique=True,
                                validators=[
                                    validators.RegexValidator(
                                        "\\A[a-z_]{1,64}\\Z",
                                        "Use up to 64 lowercase letters and underscores.",
                                    )
                                ],
                            ),
                        ),
                        (
                            "publisher",
                            models.CharField(blank=True, db_default="", default="", max_length=64),
                        ),
                        ("wanted", models.BooleanField(db_default=False, default=False)),
                        (
                            "events",
                            models.BigIntegerField(
                                db_default=0,
                                default=0,
                                help_text="Events since the topic was created, counted as they are fanned out.",
                            ),
                        ),
                        ("made_at", models.DateTimeField(db_default=functions.Now())),
                        ("watched_until", models.DateTimeField(editable=False, null=True)),
                    ],
                    {"ordering": ["name"]},
                ),
                migrations.CreateModel(
                    "Subscription",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "topic_id",
                                "subscriber_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("made_at", models.DateTimeField(db_default=functions.Now())),
                        (
                            "subscriber",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="subscriptions",
                                to="trackers.subscriber",
                            ),
                        ),
                        (
                            "topic",
                            models.ForeignKey(
                                db_index=False, on_delete=models.CASCADE, to="trackers.topic"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "SubscriberState",
                    [
                        (
                            "subscriber",
                            models.OneToOneField(
                                on_delete=models.CASCADE,
                                primary_key=True,
                                related_name="state",
                                serialize=False,
                                to="trackers.subscriber",
                            ),
                        ),
                        ("health", models.PositiveSmallIntegerField(db_default=100, default=100)),
                        ("not_before", models.DateTimeField(null=True)),
                        ("attempted_at", models.DateTimeField(null=True)),
                        ("delivered_at", models.DateTimeField(null=True)),
                        ("failing_since", models.DateTimeField(null=True)),
                        ("disabled_at", models.DateTimeField(null=True)),
                        (
                            "disabled_reason",
                            models.CharField(blank=True, db_default="", default="", max_length=300),
                        ),
                        ("added", models.BigIntegerField(db_default=0, default=0)),
                        ("delivered", models.BigIntegerField(db_default=0, default=0)),
                        ("dropped", models.BigIntegerField(db_default=0, default=0)),
                        ("paced_until", models.DateTimeField(null=True)),
                        ("waiting_batches", models.BigIntegerField(db_default=0, default=0)),
                        ("waiting_bytes", models.BigIntegerField(db_default=0, default=0)),
                    ],
                    {
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("health__lte", 100)), name="subscriber_health"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "EventBatch",
                    [
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("uid", models.UUIDField(default=uuid4, editable=False)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("early", "Early"),
                                    ("ready", "Ready"),
                                    ("pending", "Pending"),
                                    ("aside", "Set Aside"),
                                ],
                                default="early",
                                max_length=7,
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("events", "Events"),
                                    ("test", "Test"),
                                    ("redelivery", "Redelivery"),
                                ],
                                db_default="events",
                                default="events",
                                max_length=10,
                            ),
                        ),
                        ("is_current", models.BooleanField(db_default=False, default=False)),
                        ("place", models.BigIntegerField()),
                        ("events", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("keys", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("bytes", models.BigIntegerField()),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                        ("made_at", models.DateTimeField(db_default=functions.Now())),
                        ("deadline", models.DateTimeField()),
                        ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                        ("lease", models.BigIntegerField(null=True)),
                        ("leased_until", models.DateTimeField(null=True)),
                        ("last_status", models.PositiveSmallIntegerField(null=True)),
                        (
                            "last_error",
                            models.CharField(blank=True, db_default="", default="", max_length=300),
                        ),
                        ("refused_at", models.DateTimeField(null=True)),
                        ("refusals", models.PositiveSmallIntegerField(db_default=0, default=0)),
                        ("refusal", models.TextField(blank=True, db_default="", default="")),
                        (
                            "subscriber",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="batches",
                                to="trackers.subscriber",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state", "early")),
                                fields=["deadline"],
                                name="eventbatch_early",
                            ),
                            models.Index(
                                fields=["subscriber", "place", "id"], name="eventbatch_line"
                            ),
                            models.Index(
                                condition=models.Q(("attempts", 0), ("state", "ready")),
                                fields=["subscriber", "place", "id"],
                                name="eventbatch_first",
                            ),
                            models.Index(
                                condition=models.Q(("attempts__gt", 0), ("state", "ready")),
                                fields=["subscriber", "place", "id"],
                                name="eventbatch_retry",
                            ),
                            models.Index(
                                condition=models.Q(("state", "pending")),
                                fields=["subscriber", "leased_until"],
                                name="eventbatch_pending",
                            ),
                            models.Index(
                                fields=["is_current", "made_at", "id"], name="eventbatch_oldest"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("is_current", True)),
                                fields=("subscriber",),
                                name="eventbatch_one_current",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("is_current", False), ("state", "early"), _connector="OR"
                                ),
                                name="eventbatch_current_is_early",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("lease__isnull", False), ("state", "pending")),
                                    models.Q(
                                        models.Q(("state", "pending"), _negated=True),
                                        ("lease", None),
                                    ),
                                    _connector="OR",
                                ),
                                name="eventbatch_pending_has_a_lease",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("place__lt", 0), ("state", "aside")),
                                    models.Q(
                                        models.Q(("state", "aside"), _negated=True),
                                        ("place__gte", 0),
                                    ),
                                    _connector="OR",
                                ),
                                name="eventbatch_aside_is_out_of_line",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Crossing",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tweet_id",
                                "metric",
                                "at",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("tweet_id", models.BigIntegerField()),
                        ("metric", models.CharField(max_length=11)),
                        ("at", models.BigIntegerField()),
                        ("figure", models.BigIntegerField()),
                        ("t", models.BigIntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    "Milestone",
                    [
                        ID,
                        (
                            "metric",
                            models.CharField(
                                choices=METRICS,
                                help_text="Applies to every tracked tweet. What a tweet already had when first measured does not count.",
                                max_length=11,
                            ),
                        ),
                        (
                            "at",
                            models.BigIntegerField(
                                help_text="A tweet whose figure rises to this or more triggers one milestone event. It can trigger another only after falling below 90% of this, so a figure that wavers around it triggers no more.",
                                validators=[
                                    validators.MinValueValidator(1),
                                    validators.MaxValueValidator(1000000000000000000),
                                ],
                            ),
                        ),
                        (
                            "low",
                            models.GeneratedField(
                                db_persist=True,
                                expression=CombinedExpression(
                                    models.F("at"),
                                    "-",
                                    CombinedExpression(models.F("at"), "/", models.Value(10)),
                                ),
                                output_field=models.BigIntegerField(),
                            ),
                        ),
                        (
                            "nth",
                            models.GeneratedField(
                                db_persist=True,
                                expression=models.Case(
                                    models.When(metric="retweets", then=1),
                                    models.When(metric="replies", then=2),
                                    models.When(metric="likes", then=3),
                                    models.When(metric="quotes", then=4),
                                    models.When(metric="bookmarks", then=5),
                                    models.When(metric="views", then=6),
                                ),
                                output_field=models.SmallIntegerField(),
                            ),
                        ),
                    ],
                    {
                        "ordering": ["metric", "at"],
                        "constraints": [
                            models.UniqueConstraint(fields=("metric", "at"), name="milestone_once"),
                            models.CheckConstraint(
                                condition=models.Q(("at__gte", 1)), name="milestone_is_positive"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "LiveEvents",
                    [
                        ("place", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("spread_at", models.DateTimeField()),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                        ("topics", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("events", ArrayField(base_field=models.BigIntegerField(), size=None)),
                    ],
                ),
                migrations.CreateModel(
                    "LoggedAttempt",
                    [
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("at", models.DateTimeField()),
                        ("uid", models.UUIDField(verbose_name="webhook-id")),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("events", "Events"),
                                    ("test", "Test"),
                                    ("redelivery", "Redelivery"),
                                ]
                            ),
                        ),
                        ("number", models.IntegerField()),
                        (
                            "outcome",
                            models.TextField(
                                choices=[
                                    ("delivered", "Delivered"),
                                    ("failed", "Failed"),
                                    ("lost", "Lost"),
                                    ("late", "Late"),
                                ]
                            ),
                        ),
                        ("took_ms", models.IntegerField(null=True, verbose_name="took, ms")),
                        ("status", models.IntegerField(null=True)),
                        ("error", models.TextField(blank=True)),
                        ("answer", models.TextField(blank=True)),
                        ("events", ArrayField(base_field=models.BigIntegerField(), size=None)),
                    ],
                    {"verbose_name": "attempt", "db_table": "trackers_attempt", "managed": False},
                ),
                migrations.CreateModel(
                    "BulkAct",
                    [
                        ID,
                        (
                            "act",
                            models.CharField(
                                choices=[
                                    ("check", "check now"),
                                    ("pause", "pause"),
                                    ("resume", "resume"),
                                    ("untrack", "untrack"),
                                    ("tag", "tag"),
                                    ("untag", "remove the tag from"),
                                ],
                                max_length=8,
                            ),
                        ),
                        ("by", models.CharField(blank=True, max_length=150)),
                        (
                            "source",
                            models.BigIntegerField(
                                help_text="The source that is removed together with tweets that came from nowhere else.",
                                null=True,
                            ),
                        ),
                        ("tweets", models.PositiveBigIntegerField(default=0)),
                        ("seen", models.PositiveBigIntegerField(default=0)),
                        ("done", models.PositiveBigIntegerField(default=0)),
                        ("turn", models.PositiveBigIntegerField(default=0)),
                        ("begun_at", models.DateTimeField()),
                        ("touched_at", models.DateTimeField()),
                        ("finished_at", models.DateTimeField(null=True)),
                        ("was_stopped", models.BooleanField(default=False)),
                        (
                            "tag",
                            models.BigIntegerField(
                                help_text="That is put on the tweets, or removed.", null=True
                            ),
                        ),
                    ],
                    {
                        "ordering": ["-pk"],
                        "verbose_name": "change to many tweets",
                        "verbose_name_plural": "changes to many tweets",
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("finished_at", None)),
                                fields=("source",),
                                name="bulkact_of_source_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "BulkPiece",
                    [
                        ID,
                        ("ids", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        (
                            "act",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="pieces",
                                to="trackers.bulkact",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "WrongLogin",
                    [
                        ("bucket", models.IntegerField(primary_key=True, serialize=False)),
                        ("failures", models.SmallIntegerField()),
                        ("last_at", models.DateTimeField()),
                        ("account", models.IntegerField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    "StreamPlaces",
                    [
                        ID,
                        ("host", models.CharField(max_length=255)),
                        ("pid", models.IntegerField()),
                        ("open", models.IntegerField()),
                        ("places", models.IntegerField()),
                        ("seen_at", models.DateTimeField()),
                    ],
                    {
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("host", "pid"), name="streamplaces_process"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "SubscriberMinute",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "subscriber_id",
                                "minute",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("subscriber_id", models.BigIntegerField()),
                        ("minute", models.DateTimeField()),
                        ("events", models.BigIntegerField()),
                    ],
                    {"indexes": [models.Index(fields=["minute"], name="subscriberminute_oldest")]},
                ),
                migrations.CreateModel(
                    "TopicMinute",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "topic_id",
                                "minute",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("topic_id", models.BigIntegerField()),
                        ("minute", models.DateTimeField()),
                        ("events", models.BigIntegerField()),
                    ],
                    {"indexes": [models.Index(fields=["minute"], name="topicminute_oldest")]},
                ),
                migrations.CreateModel(
                    "IdempotencyKey",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "token_id",
                                "key",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("token_id", models.BigIntegerField()),
                        ("key", models.UUIDField()),
                        ("asked", models.UUIDField()),
                        ("status", models.SmallIntegerField(null=True)),
                        (
                            "content_type",
                            models.CharField(blank=True, db_default="", default="", max_length=100),
                        ),
                        ("answer", models.BinaryField(null=True)),
                        ("at", models.DateTimeField(db_default=functions.Now())),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("answer", None)),
                                fields=["at"],
                                name="idempotencykey_bus",
                            ),
                            models.Index(
                                condition=models.Q(("answer__isnull", False)),
                                fields=["at"],
                                name="idempotencykey_api",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "ApiUse",
                    [
                        (
                            "token",
                            models.OneToOneField(
                                on_delete=models.CASCADE,
                                primary_key=True,
                                serialize=False,
                                to="trackers.apitoken",
                            ),
                        ),
                        ("begun_at", models.DateTimeField()),
                        ("used", models.IntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    "Changed",
                    [
                        ID,
                        ("at", models.DateTimeField(db_default=functions.Now())),
                        ("ids", ArrayField(base_field=models.BigIntegerField(), size=None)),
                    ],
                ),
                migrations.CreateModel(
                    "Gain",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tweet_id",
                                "minutes",
                                "metric",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        (
                            "minutes",
                            models.SmallIntegerField(
                                choices=[(15, "15 minutes"), (60, "hour"), (1440, "24 hours")]
                            ),
                        ),
                        ("metric", models.CharField(choices=METRICS, max_length=11)),
                        ("gain", models.BigIntegerField()),
                        ("velocity", models.FloatField()),
                        ("since", models.DateTimeField()),
                        ("until", models.DateTimeField()),
                        ("again_at", models.DateTimeField()),
                        (
                            "tweet",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                related_name="+",
                                to="trackers.tweet",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                fields=["minutes", "metric", "-gain", "-tweet"], name="gain_gain"
                            ),
                            models.Index(
                                fields=["minutes", "metric", "-velocity", "-tweet"],
                                name="gain_velocity",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "PausedAll",
                    [
                        (
                            "id",
                            models.PositiveSmallIntegerField(
                                default=1, primary_key=True, serialize=False
                            ),
                        ),
                        ("since", models.DateTimeField(db_default=functions.Now())),
                        ("by", models.CharField(max_length=150)),
                        ("because", models.CharField(blank=True, max_length=200)),
                        (
                            "queues",
                            ArrayField(base_field=models.CharField(max_length=60), size=None),
                        ),
                    ],
                    {
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("pk", 1)), name="pausedall_once"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "DatabaseMinute",
                    [
                        ("minute", models.DateTimeField(primary_key=True, serialize=False)),
                        ("wal", models.BigIntegerField()),
                        ("size", models.BigIntegerField()),
                        ("connections", models.IntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    "ClockReading",
                    [
                        (
                            "task",
                            models.CharField(max_length=60, primary_key=True, serialize=False),
                        ),
                        ("read_at", models.DateTimeField()),
                        ("doubted_since", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    "NotedTask",
                    [
                        ID,
                        ("queue", models.CharField(blank=True, max_length=60)),
                        ("name", models.CharField(max_length=200)),
                        ("keys", models.IntegerField(null=True)),
                        ("ended_at", models.DateTimeField(db_default=functions.Now())),
                        ("took", models.DurationField()),
                        ("failed", models.BooleanField()),
                        ("reason", models.CharField(blank=True, max_length=300)),
                        ("host", models.CharField(max_length=255)),
                        ("pid", models.IntegerField()),
                    ],
                    {"ordering": ["-pk"]},
                ),
                migrations.CreateModel(
                    "QueueHour",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "queue",
                                "hour",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("queue", models.CharField(max_length=60)),
                        ("hour", models.DateTimeField()),
                        ("due", models.IntegerField()),
                        ("oldest_due_seconds", models.FloatField()),
                        ("in_flight", models.IntegerField()),
                        ("measured", models.BigIntegerField(null=True)),
                        ("failed", models.BigIntegerField(null=True)),
                    ],
                    {"indexes": [models.Index(fields=["hour"], name="queuehour_hour")]},
                ),
                migrations.CreateModel(
                    "QueueMinute",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "queue",
                                "minute",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("queue", models.CharField(max_length=60)),
                        ("minute", models.DateTimeField()),
                        ("due", models.IntegerField()),
                        ("oldest_due_seconds", models.FloatField()),
                        ("in_flight", models.IntegerField()),
                        ("measured", models.BigIntegerField(null=True)),
                        ("failed", models.BigIntegerField(null=True)),
                    ],
                    {"indexes": [models.Index(fields=["minute"], name="queueminute_minute")]},
                ),
                migrations.CreateModel(
                    "Stretch",
                    [
                        ID,
                        (
                            "windows",
                            models.FloatField(
                                db_default=1.0,
                                help_text="1: X's rate limits leave room for all look-ups.",
                            ),
                        ),
                        ("taken_at", models.DateTimeField(null=True)),
                        (
                            "demand",
                            models.FloatField(
                                help_text="Look-ups a second without stretching.", null=True
                            ),
                        ),
                        (
                            "room",
                            models.FloatField(
                                help_text="Look-ups a second that X's rate limits allow.", null=True
                            ),
                        ),
                        ("backlog", models.PositiveBigIntegerField(default=0)),
                        (
                            "money",
                            models.FloatField(
                                db_default=1.0,
                                help_text="Of waits that end on another UTC day. 1: there is money for all.",
                            ),
                        ),
                        (
                            "days_demand",
                            models.FloatField(
                                help_text="Tweet-days a day with `money` 1.", null=True
                            ),
                        ),
                        (
                            "days_room",
                            models.FloatField(
                                help_text="Tweet-days a day that the budgets allow; null: no limit.",
                                null=True,
                            ),
                        ),
                        (
                            "budget",
                            models.CharField(
                                db_default="",
                                help_text="The budgets that set this limit, in words.",
                                max_length=200,
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    "SourceDay",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "source_id",
                                "day",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("day", models.DateField()),
                        ("posts", models.BigIntegerField(db_default=0, default=0)),
                        ("again", models.BigIntegerField(db_default=0, default=0)),
                        ("late", models.BigIntegerField(db_default=0, default=0)),
                        ("billed", models.BigIntegerField(db_default=0, default=0)),
                        (
                            "money",
                            models.DecimalField(
                                db_default=0, decimal_places=6, default=0, max_digits=14
                            ),
                        ),
                        (
                            "source",
                            models.ForeignKey(
                                on_delete=models.CASCADE, related_name="days", to="trackers.source"
                            ),
                        ),
                    ],
                    {"indexes": [models.Index(fields=["day"], name="sourceday_day")]},
                ),
                migrations.CreateModel(
                    "ScheduleAhead",
                    [
                        (
                            "queue",
                            models.CharField(max_length=60, primary_key=True, serialize=False),
                        ),
                        ("taken_at", models.DateTimeField(null=True)),
                        ("took", models.DurationField(default=timedelta(0))),
                        (
                            "counts",
                            ArrayField(base_field=models.IntegerField(), default=list, size=None),
                        ),
                        ("ends_at", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    "GainPlaces",
                    [
                        ID,
                        (
                            "minutes",
                            models.SmallIntegerField(
                                choices=[(15, "15 minutes"), (60, "hour"), (1440, "24 hours")]
                            ),
                        ),
                        ("metric", models.CharField(max_length=11)),
                        ("at", models.DateTimeField()),
                        ("ids", ArrayField(base_field=models.BigIntegerField(), size=None)),
                        ("before_at", models.DateTimeField(null=True)),
                        (
                            "before",
                            ArrayField(
                                base_field=models.BigIntegerField(), db_default=[], size=None
                            ),
                        ),
                    ],
                    {
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("minutes", "metric"), name="gain_places"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "SavedView",
                    [
                        ID,
                        ("name", models.CharField(max_length=60)),
                        ("query", models.TextField()),
                        (
                            "user",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    {
                        "ordering": ("name", "id"),
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "name"), name="savedview_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Tag",
                    [
                        ID,
                        (
                            "name",
                            models.CharField(
                                help_text="Up to 40 characters, without commas.", max_length=40
                            ),
                        ),
                        ("ended_at", models.DateTimeField(editable=False, null=True)),
                        (
                            "into",
                            models.ForeignKey(
                                editable=False,
                                null=True,
                                on_delete=models.SET_NULL,
                                related_name="+",
                                to="trackers.tag",
                            ),
                        ),
                    ],
                    {
                        "constraints": [
                            models.UniqueConstraint(
                                functions.Lower("name"),
                                condition=models.Q(("ended_at", None)),
                                name="tag_once",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "TweetTag",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tag_id",
                                "tweet_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("tweet_id", models.BigIntegerField()),
                        (
                            "tag",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                related_name="tweets",
                                to="trackers.tag",
                            ),
                        ),
                    ],
                    {"indexes": [models.Index(fields=["tweet_id"], name="tweettag_of_tweet")]},
                ),
                migrations.CreateModel(
                    "AlertRule",
                    [
                        ID,
                        (
                            "name",
                            models.CharField(
                                help_text="The subject of the e-mails.", max_length=80
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("velocity", "It grows fast"),
                                    ("milestone", "It reaches a milestone"),
                                    ("usual", "It does far better than usual"),
                                    ("lateness", "Checks are late"),
                                    ("credential", "A credential fails"),
                                    ("source", "A source leaks or is hidden"),
                                    ("budget", "A budget runs dry today or tomorrow"),
                                    ("trouble", "Requests, the stream or deliveries keep failing"),
                                ],
                                max_length=10,
                            ),
                        ),
                        (
                            "about",
                            models.CharField(
                                choices=[
                                    ("any", "all"),
                                    ("tweet", "one tweet"),
                                    ("author", "one author's tweets"),
                                    ("source", "one source"),
                                ],
                                default="any",
                                max_length=6,
                            ),
                        ),
                        (
                            "of",
                            models.BigIntegerField(
                                blank=True,
                                help_text="The number of the tweet, author or source.",
                                null=True,
                                verbose_name="id",
                            ),
                        ),
                        (
                            "metric",
                            models.CharField(
                                blank=True, choices=METRICS, default="", max_length=11
                            ),
                        ),
                        (
                            "minutes",
                            models.SmallIntegerField(
                                choices=[(15, "15 minutes"), (60, "hour"), (1440, "24 hours")],
                                default=60,
                                verbose_name="measured over",
                            ),
                        ),
                        (
                            "at",
                            models.BigIntegerField(
                                default=0,
                                help_text="For fast growth: the gain per hour. For tweets above the usual: those with fewer than this are ignored.",
                                validators=[
                                    validators.MinValueValidator(0),
                                    validators.MaxValueValidator(1000000000000000),
                                ],
                                verbose_name="at least",
                            ),
                        ),
                        (
                            "times",
                            models.FloatField(
                                default=3.0,
                                help_text="How many times as much as the median of the author's earlier tweets at that age.",
                                validators=[
                                    validators.MinValueValidator(1.1),
                                    validators.MaxValueValidator(1000),
                                ],
                                verbose_name="times the usual",
                            ),
                        ),
                        (
                            "late_by",
                            models.DurationField(
                                default=timedelta(seconds=300),
                                help_text="How late the most overdue tweet may be.",
                                verbose_name="later than",
                            ),
                        ),
                        (
                            "lasting",
                            models.DurationField(
                                default=timedelta(seconds=300),
                                help_text="How long it must be that late.",
                                verbose_name="for at least",
                            ),
                        ),
                        (
                            "rest",
                            models.DurationField(
                                default=timedelta(seconds=3600),
                                help_text="After an alert, the rule is silent about the same thing for this long.",
                                validators=[
                                    validators.MinValueValidator(timedelta(seconds=60)),
                                    validators.MaxValueValidator(timedelta(days=30)),
                                ],
                                verbose_name="pause after an alert",
                            ),
                        ),
                        (
                            "to",
                            ArrayField(
                                base_field=models.EmailField(max_length=254),
                                blank=True,
                                default=list,
                                help_text="Addresses, separated by commas. Leave empty for no e-mails.",
                                size=10,
                                verbose_name="e-mail to",
                            ),
                        ),
                        (
                            "by_event",
                            models.BooleanField(
                                default=True,
                                help_text="For subscribers to the topic alerts.",
                                verbose_name="also as an event",
                            ),
                        ),
                        ("enabled", models.BooleanField(default=True)),
                        (
                            "made_at",
                            models.DateTimeField(db_default=functions.Now(), editable=False),
                        ),
                        (
                            "made_by",
                            models.ForeignKey(
                                editable=False,
                                null=True,
                                on_delete=models.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    {
                        "ordering": ["name", "pk"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("about", "any"), ("of", None)),
                                    models.Q(
                                        models.Q(("about", "any"), _negated=True),
                                        ("of__isnull", False),
                                    ),
                                    _connector="OR",
                                ),
                                name="alertrule_of_what_it_is_about",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Finding",
                    [
                        ("of", models.CharField(max_length=120, primary_key=True, serialize=False)),
                        ("since", models.DateTimeField(null=True)),
                        ("alerted_at", models.DateTimeField(null=True)),
                        ("quiet_until", models.DateTimeField(null=True)),
                        (
                            "rule",
                            models.ForeignKey(
                                null=True,
                                on_delete=models.CASCADE,
                                related_name="+",
                                to="trackers.alertrule",
                            ),
                        ),
                    ],
                    {
                        "indexes": [
                            models.Index(
                                condition=models.Q(("since", None)),
                                fields=["quiet_until"],
                                name="finding_resting",
                            ),
                            models.Index(
                                condition=models.Q(("since__isnull", False)),
                                fields=["of"],
                                name="finding_wrong",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "AlertNotice",
                    [
                        ID,
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("alert", "Alert"),
                                    ("test", "Test"),
                                    ("digest", "Digest"),
                                ],
                                default="alert",
                                max_length=6,
                            ),
                        ),
                        (
                            "rule",
                            models.ForeignKey(
                                null=True, on_delete=models.SET_NULL, to="trackers.alertrule"
                            ),
                        ),
                        ("rule_name", models.CharField(blank=True, max_length=80)),
                        ("at", models.DateTimeField()),
                        ("lines", models.JSONField(default=list)),
                        ("more", models.IntegerField(default=0)),
                        ("body", models.TextField(blank=True)),
                    ],
                    {
                        "ordering": ["-pk"],
                        "indexes": [models.Index(fields=["at"], name="alertnotice_at")],
                    },
                ),
                migrations.CreateModel(
                    "AlertDigest",
                    [
                        ID,
                        (
                            "hour",
                            models.PositiveSmallIntegerField(
                                default=7,
                                validators=[validators.MaxValueValidator(23)],
                                verbose_name="hour (UTC)",
                            ),
                        ),
                        (
                            "when_quiet",
                            models.BooleanField(
                                default=False, verbose_name="also on days without alerts"
                            ),
                        ),
                        ("day", models.DateField(editable=False, null=True)),
                        (
                            "user",
                            models.OneToOneField(
                                on_delete=models.CASCADE, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                    ],
                    {
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("hour__lte", 23)), name="alertdigest_hour"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "AlertMail",
                    [
                        ID,
                        ("to", models.EmailField(max_length=254)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("waiting", "Waiting"),
                                    ("sent", "Sent"),
                                    ("given_up", "given up"),
                                ],
                                default="waiting",
                                max_length=8,
                            ),
                        ),
                        ("made_at", models.DateTimeField()),
                        ("next_at", models.DateTimeField()),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("error", models.CharField(blank=True, max_length=300)),
                        (
                            "notice",
                            models.ForeignKey(
                                on_delete=models.CASCADE,
                                related_name="mails",
                                to="trackers.alertnotice",
                            ),
                        ),
                    ],
                    {
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state", "waiting")),
                                fields=["next_at"],
                                name="alertmail_waiting",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("sent_at__isnull", False), ("state", "sent")),
                                    models.Q(
                                        models.Q(("state", "sent"), _negated=True),
                                        ("sent_at", None),
                                    ),
                                    _connector="OR",
                                ),
                                name="alertmail_sent_at",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "AlertPlace",
                    [
                        (
                            "id",
                            models.SmallIntegerField(default=1, primary_key=True, serialize=False),
                        ),
                        ("place", models.BigIntegerField(default=0)),
                        ("nth", models.IntegerField(default=0)),
                    ],
                    {
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("id", 1)), name="alertplace_is_one"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "ForecastDay",
                    [
                        ("day", models.DateField(primary_key=True, serialize=False)),
                        ("foreseen_at", models.DateTimeField(null=True)),
                        (
                            "known_lookups",
                            models.FloatField(
                                help_text="Of tweets that were known by then.", null=True
                            ),
                        ),
                        (
                            "new_lookups",
                            models.FloatField(help_text="Of tweets expected to arrive.", null=True),
                        ),
                        ("known_days", models.FloatField(null=True)),
                        ("new_days", models.FloatField(null=True)),
                        (
                            "newcomers",
                            models.FloatField(help_text="Expected new tweets.", null=True),
                        ),
                        ("lookups_correction", models.FloatField(default=1.0)),
                        ("days_correction", models.FloatField(default=1.0)),
                        ("expected_at", models.DateTimeField(null=True)),
                        ("expected_lookups", models.FloatField(null=True)),
                        ("expected_tweet_days", models.FloatField(null=True)),
                        (
                            "why",
                            models.TextField(
                                blank=True,
                                help_text="Why nothing is expected, or what is left out.",
                            ),
                        ),
                        ("counted_at", models.DateTimeField(null=True)),
                        ("lookups", models.BigIntegerField(null=True)),
                        ("tweet_days", models.BigIntegerField(null=True)),
                        (
                            "newcomers_came",
                            models.FloatField(help_text="Once the day is over.", null=True),
                        ),
                    ],
                    {"ordering": ["-day"]},
                ),
                migrations.CreateModel(
                    "StretchMinute",
                    [
                        ("minute", models.DateTimeField(primary_key=True, serialize=False)),
                        ("windows", models.FloatField()),
                        ("money", models.FloatField()),
                    ],
                ),
                migrations.CreateModel(
                    "ForecastOfProject",
                    [
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "day",
                                "project_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("day", models.DateField()),
                        ("foreseen", models.FloatField(null=True)),
                        ("expected", models.FloatField(null=True)),
                        ("tweet_days", models.BigIntegerField(null=True)),
                        (
                            "project",
                            models.ForeignKey(
                                on_delete=models.CASCADE, related_name="+", to="trackers.project"
                            ),
                        ),
                    ],
                    {"ordering": [models.OrderBy(models.F("day"), descending=True), "project_id"]},
                ),
            ]
        )
    ]
