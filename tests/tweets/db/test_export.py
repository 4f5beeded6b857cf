"""What `export` prints is the history, in lines that any reader takes."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from psycopg import sql

from tests.factories import TweetFactory, figures
from trackers.listing.columns import tweets_query
from trackers.listing.export import export_tweets
from trackers.tweets import export, pack
from trackers.tweets.checkpoints.export import export_checkpoints
from trackers.tweets.checkpoints.models import Checkpoint, PackedCheckpoints
from trackers.tweets.export import export_samples
from trackers.tweets.history import histories
from trackers.tweets.models import METRICS, Tweet, TweetText
from trackers.tweets.pack import SAMPLES
from trackers.tweets.record import Measured, record
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.tables import FORMULAS

NOW = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
IDS = [1500000000000000001, 1500000000000000002]


def write(id, at, likes, **more):
    record([Measured(id, at, figures(likes, **more), timedelta(days=1))])


@pytest.fixture
def measured():
    """Two tweets whose samples are packed, in rows, and on their own rows; one never measured."""
    SAMPLES.make_ahead(now=NOW)
    for id in IDS:
        TweetFactory(id=id)
        for n in range(30):
            write(id, NOW + n * HOUR + timedelta(microseconds=n), n, quotes=None, bookmarks=n)
    TweetFactory(id=7)
    pack.pack(now=NOW + 30 * HOUR, deadline=Deadline.after(3600))


def read(format, export=export_samples, ids=()):
    text = b"".join(export(list(ids), format=format)).decode()
    if format == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text)))


def exported_run(run):
    """A run as an export tells it."""
    counts = {metric: getattr(run, metric) for metric in METRICS}
    times = (f"{at:%Y-%m-%dT%H:%M:%S.%f}Z" for at in (run.taken_at, run.measured_until))
    taken_at, until = times
    return {
        **{"tweet_id": str(run.tweet_id), "taken_at": taken_at, "measured_until": until},
        **{"measurements": run.measurements, **counts},
    }


def test_samples_are_exported_by_tweet_and_time(measured):
    rows = read("jsonl", ids=IDS)

    assert rows == [exported_run(run) for run in histories(IDS)]
    assert len(rows) == 60
    assert {row["quotes"] for row in rows} == {None}
    assert list(rows[0]) == ["tweet_id", "taken_at", "measured_until", "measurements", *METRICS]


def test_all_samples_can_be_exported(measured):
    rows = read("jsonl")

    assert sorted(rows, key=str) == sorted(read("jsonl", ids=IDS), key=str)


def test_csv_has_the_same_samples(measured):
    def as_text(row):
        return {name: "" if value is None else str(value) for name, value in row.items()}

    assert read("csv", ids=IDS) == [as_text(row) for row in read("jsonl", ids=IDS)]


def test_an_empty_export_is_only_a_header():
    assert read("jsonl") == read("jsonl", export_tweets) == []
    assert b"".join(export_samples([], format="csv")).startswith(b"tweet_id,taken_at,")


def test_checkpoints_are_exported_by_tweet_and_age(measured):
    first, second = IDS
    for tweet, place, views in ((first, 5, 90), (first, 5, 80), (second, 1, 7)):
        Checkpoint.objects.create(
            tweet_id=tweet, age=place, crossed_at=datetime(2026, 3, 1, tzinfo=UTC), views=views
        )
    PackedCheckpoints.objects.create(
        tweet_id=first, ages=[1, 18], views=[10, 2**40],
        **{metric: [None, 3] for metric in METRICS if metric != "views"},
    )  # fmt: skip

    def exported(format, ids):
        rows = read(format, export_checkpoints, ids=ids)
        return [(row["tweet_id"], row["age_seconds"], row["views"]) for row in rows]

    lines = [(first, 300, 10), (first, 3600, 80), (first, 2_592_000, 2**40), (second, 300, 7)]
    wanted = sorted((str(id), *rest) for id, *rest in lines)
    assert sorted(exported("jsonl", [])) == sorted(exported("jsonl", IDS)) == wanted
    assert [row[:1] for row in exported("jsonl", [first])] == [(str(first),)] * 3
    assert exported("csv", [second]) == [(str(second), "300", "7")]
    assert list(read("jsonl", export_checkpoints, ids=IDS)[0]) == [
        "tweet_id", "age_seconds", *METRICS
    ]  # fmt: skip


def test_any_text_is_read_back_unchanged(measured):
    text = 'a "quote", a \\ backslash,\na line\tand \x01\x02 👩‍🚀'
    TweetText.objects.create(tweet_id=IDS[0], text=text, lang="en")

    for format in ("jsonl", "csv"):
        [row] = read(format, export_tweets, ids=IDS[:1])
        assert (row["tweet_id"], row["text"]) == (str(IDS[0]), text)


def test_csv_has_true_false_and_names_of_tags(measured):
    Tweet.objects.filter(pk=IDS[0]).update(paused=True)
    for name in ("zeta", "=Alpha"):
        tagging.tag_tweets(get_or_create_tag(name).pk, IDS[:1])

    [in_csv] = read("csv", export_tweets, ids=IDS[:1])
    [in_json] = read("jsonl", export_tweets, ids=IDS[:1])

    assert (in_csv["paused"], in_csv["tags"]) == ("true", "'=Alpha, zeta")
    assert (in_json["paused"], in_json["tags"]) == (True, "=Alpha, zeta")
    assert b"\r" not in b"".join(export_tweets(IDS, format="csv"))


def test_a_formula_is_escaped_for_spreadsheets():
    for id, first in enumerate(FORMULAS, 1):
        TweetFactory(id=id)
        text = f'{first}HYPERLINK("http://evil")'
        TweetText.objects.create(tweet_id=id, text=text, lang="en")

    in_csv, in_json = (read(format, export_tweets) for format in ("csv", "jsonl"))

    assert len(in_csv) == len(FORMULAS)
    assert [one["text"] for one in in_csv] == ["'" + one["text"] for one in in_json]


@pytest.mark.parametrize("query", [export.SAMPLE_ROWS, export.SAMPLE_LINES])
def test_samples_are_sorted_before_lines_are_made_of_them(measured, query):
    given = {"chosen": sql.SQL("run.tweet_id = ANY({})").format(IDS), "order": export.IN_ORDER}
    with cursor() as db:
        rows = db.execute(sql.SQL("EXPLAIN (VERBOSE) {}").format(sql.SQL(query).format(**given)))
        plan = [row[0].strip() for row in rows]

    (place,) = [number for number, line in enumerate(plan) if line.startswith("->  Sort")]
    made, sorted = plan[1], plan[place + 1]
    assert "to_char" in made
    assert "to_char" not in sorted


def test_tweets_are_read_in_an_order_that_is_there_already(measured):
    """With five million of them, a sort kept the first line back for 19 seconds."""
    rows = sql.SQL(tweets_query("jsonl")).format(chosen=sql.SQL("true"), order=sql.SQL(""))
    with cursor() as db:
        # As the planner joins large tables.
        for other in ("hashjoin", "nestloop", "seqscan", "bitmapscan"):
            db.execute(f"SET LOCAL enable_{other} = off")
        plan = [row[0].strip() for row in db.execute(sql.SQL("EXPLAIN {}").format(rows))]
    assert any("trackers_author" in line for line in plan)
    assert [line for line in plan if line.startswith("Sort Key: t.")] == []
