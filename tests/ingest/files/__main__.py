"""`python -m tests.ingest.files` prints the table of docs/files.md."""

import os

import django


def print_table():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    django.setup()
    # What reads files knows the models of sources.
    from tests.ingest.files.outcomes import table

    print(table(), end="")


print_table()
