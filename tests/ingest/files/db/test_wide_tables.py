"""A table of hundreds of columns: nobody knows which of them holds the tweets, if any does."""

import time

from trackers.ingest.files.models import Import, ImportPart
from trackers.ingest.files.parts import pack
from trackers.ingest.files.preview import has_tweets, preview
from trackers.ingest.sources.models import Source


def seconds(act):
    began = time.process_time()
    act()
    return time.process_time() - began


def test_a_table_with_hundreds_of_columns_is_read_once():
    source = Source.objects.create(kind="import", of="wide.csv")
    header = ",".join(f"c{column}" for column in range(300))
    report = Import.objects.create(source=source, format="csv", header=header)
    lines = [(n, ",".join(f"w{n}x{column}" for column in range(300))) for n in range(400)]
    ImportPart.objects.create(source=source, first_line=0, lines=pack(lines))

    # Both go through all rows.
    one_column = min(seconds(lambda: preview(report, column=1, referenced=False)) for _ in range(3))
    all_columns = min(seconds(lambda: has_tweets(report)) for _ in range(3))

    assert not has_tweets(report)
    assert all_columns < 60 * one_column, "once for each column would be 300 times as long"
