"""Sources by the command line: added, listed, polled in this process, paused, removed."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.ingest.polls.steps import accounts, connect, release, visible
from trackers.ingest.sources.models import Source, SourcePoll

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


def run(*words, **options):
    told = StringIO()
    call_command("poll", *map(str, words), stdout=told, stderr=StringIO(), **options)
    return told.getvalue()


def listed():
    return [json.loads(line) for line in run(json=True).splitlines()]


def test_a_source_is_added_polled_and_listed(x):
    id, name = accounts(x, 1)[0]
    release(x, authors=[id], count=150)

    added = json.loads(run("add", "account", f"@{name}", every="90s", backfill="all", json=True))
    assert (added["of"], added["every_seconds"], added["state"]) == (name, 90, "new")
    run(added["id"])

    [told] = listed()
    shown = visible(x, author=id)
    assert told["yielded"] >= len(shown)
    assert (told["leaked"], told["gaps_open"], told["gaps_lost"], told["reason"]) == (0, 0, 0, "")
    assert f"@{name}'s posts: polled" in run()


def test_a_query_may_have_several_words(x):
    run("add", "search", "#artemis", "lang:en")

    assert Source.objects.get().of == "#artemis lang:en"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["add"], {}),
        (["add", "nothing", "nasa"], {}),
        (["add", "account", "no name"], {}),
        (["add", "account", "nasa"], {"every": "1s"}),
        (["add", "account", "nasa"], {"every": "soon"}),
        (["add", "account", "nasa"], {"pages": 0}),
        (["wrong"], {}),
        (["7"], {}),
    ],
)
def test_a_mistake_is_told_in_a_sentence(words, options):
    with pytest.raises(CommandError, match=r"\w"):
        run(*words, **options)
    assert not Source.objects.exists()


def test_the_same_source_twice_is_told():
    run("add", "account", "nasa")

    with pytest.raises(CommandError, match="already"):
        run("add", "account", "@nasa")


def test_sources_are_paused_resumed_and_removed():
    run("add", "account", "nasa")
    id = Source.objects.get().pk

    run("pause", id)
    assert (listed()[0]["state"], SourcePoll.objects.count()) == ("paused", 0)
    run("resume", id)
    assert (listed()[0]["state"], SourcePoll.objects.count()) == ("new", 1)
    run("remove", id)
    assert listed() == []


def test_what_cannot_be_polled_ends_with_status_1():
    run("add", "account", "nasa")
    id = Source.objects.get().pk
    run("pause", id)

    with pytest.raises(SystemExit) as ended:
        run(id)

    assert ended.value.code == 1
