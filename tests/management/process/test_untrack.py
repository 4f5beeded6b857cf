"""`manage.py untrack`: by ids, files, source and author, with the number before."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.databases import url_of
from tests.factories import TweetFactory
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.tweets.models import Author, Tweet

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def run(*words):
    told, said = StringIO(), StringIO()
    call_command("untrack", *map(str, words), stdout=told, stderr=said)
    return told.getvalue(), said.getvalue()


def left():
    return set(Tweet.objects.values_list("pk", flat=True))


def test_ids_links_and_a_file_are_counted_and_then_untracked(tmp_path):
    for id in (20, 21, 22, 23):
        TweetFactory(id=id)
    file = tmp_path / "ids.txt"
    file.write_text("22\n99\nno tweet\n20\n")
    words = ("20", "https://x.com/a/status/21", file)

    assert run(*words, "--dry-run")[0] == "3 tweets would be untracked.\n"
    assert left() == {20, 21, 22, 23}
    told, output = run(*words)

    assert told == "Untracked 3 tweets.\n"
    assert "Untracking 3 tweets." in output
    assert "line 3: 'no tweet' is neither" in output
    assert left() == {23}


def test_all_tweets_of_a_source_or_only_those_of_no_other_are_untracked():
    source = Source.objects.create(kind="account", of="nasa")
    for id, came_from in ((1, "@nasa's posts"), (2, "the file x"), (3, "@nasa's posts")):
        TweetFactory(id=id, came_from=came_from)
    for id in (1, 2):
        SourceTweet.objects.create(source=source, tweet_id=id, seen_at="2026-01-01T00:00Z")

    alone = json.loads(run("--source", source.pk, "--only-from-there", "--json")[0])
    assert (alone, left()) == ({"tweets": 1, "untracked": 1}, {2, 3})
    run("--source", source.pk)
    assert left() == {3}


@pytest.mark.parametrize("name", ["@Ada", "ada", "7"])
def test_all_tweets_of_an_author_are_untracked(name):
    TweetFactory(id=1, author=Author.objects.create(id=7, username="ada"))
    TweetFactory(id=2, author=Author.objects.create(id=8, username="adam"))

    run("--author", name)

    assert left() == {2}


@pytest.mark.parametrize(
    ("words", "why", "status"),
    [
        ([], "Give tweets, a --source", 2),
        (["1", "--source", "1"], "Give tweets, a --source", 2),
        (["1", "--only-from-there"], "needs a --source", 2),
        (["--source", "9"], "There is no source 9", 1),
        (["--author", "@nobody"], "There is no tracked tweet by @nobody", 1),
        # The name of an account that only its id is known of is empty.
        (["--author", "@"], "Enter a name", 2),
        (["--author", " @ "], "Enter a name", 2),
        (["nothing.txt"], "or a file", 2),
        (["."], "is a folder", 2),
    ],
)
def test_invalid_arguments_are_refused_and_nothing_is_untracked(words, why, status):
    TweetFactory(id=1, author=Author.objects.create(id=7, username=""))

    with pytest.raises(CommandError, match=why) as refused:
        run(*words)

    assert (refused.value.returncode, left()) == (status, {1})


def test_nothing_to_untrack_exits_with_1():
    with pytest.raises(SystemExit) as ended:
        run("99")

    assert ended.value.code == 1


def interrupt_what_waits_for_a_lock():
    deadline = time.monotonic() + 60
    with psycopg.connect(url_of(connection.settings_dict["NAME"]), autocommit=True) as db:
        while not db.execute(WAITING).fetchone()[0] and time.monotonic() < deadline:
            time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def _heeds_interrupts():
    """Also in a worker of xdist, or behind a shell that has it ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heeds_interrupts")
def test_an_interrupt_leaves_whole_pieces_and_counts_the_untracked(tmp_path):
    many = range(1, 2501)
    Tweet.objects.bulk_create(TweetFactory.build(id=id) for id in many)
    (tmp_path / "ids").write_text("\n".join(map(str, many)))
    output = StringIO()

    with psycopg.connect(url_of(connection.settings_dict["NAME"])) as other:
        # Of the second piece; the others are a thousand each.
        other.execute("SELECT FROM trackers_tweet WHERE id = 1500 FOR UPDATE")
        with ThreadPoolExecutor(1) as thread:
            thread.submit(interrupt_what_waits_for_a_lock)
            with pytest.raises(SystemExit) as ended:
                call_command("untrack", str(tmp_path / "ids"), stdout=StringIO(), stderr=output)

    assert ended.value.code == 130
    assert "Interrupted: 1,000 of 2,500 tweets have been untracked." in output.getvalue()
    assert left() == set(range(1001, 2501))
