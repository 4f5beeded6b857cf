"""Indexes for the search, made while others write: minutes for a million texts.

What a run that was ended has left behind, finished or not, is dropped and made anew.
"""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.contrib.postgres.search import SearchVectorField
from django.db import migrations, models
from django.db.models.functions import Collate, Lower

WORDS = (
    "to_tsvector('simple', translate(regexp_replace(regexp_replace("
    "%(expressions)s, 'https?://\\S+', ' ', 'gi'),"
    " '([\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3005-\\u30FF\\u3400-\\u9FFF\\uF900-\\uFAFF])',"
    " ' \\1 ', 'g'), './_-+&<>@:=~', '            '))"
)


def words_of(column):
    return models.Func(column, output_field=SearchVectorField(), template=WORDS)


INDEXES = [
    ("author", models.Index(Collate(Lower("username"), "C"), name="author_username")),
    ("author", GinIndex(words_of("name"), name="author_words")),
    (
        "tweet",
        models.Index(
            condition=models.Q(gone_at=None) & ~models.Q(missing_since=None),
            fields=["id"],
            name="tweet_missing",
        ),
    ),
    ("tweettext", GinIndex(words_of("text"), name="tweettext_words")),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("trackers", "0014_figures")]

    operations = [
        operation
        for model, index in INDEXES
        for operation in (
            migrations.RunSQL(
                f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop
            ),
            AddIndexConcurrently(model, index),
        )
    ]
