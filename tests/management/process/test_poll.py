"""`manage.py poll`: sources polled in this process, to the end of the poll."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.ingest.polls.steps import accounts, connect, release, visible
from trackers.ingest.sources.models import Source
from trackers.management.commands.poll import Command

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


def manage(command, *words):
    told = StringIO()
    call_command(command, *map(str, words), stdout=told, stderr=StringIO())
    return told.getvalue()


def test_a_source_is_added_polled_and_listed(x):
    id, name = accounts(x, 1)[0]
    release(x, authors=[id], count=150)
    words = ("account", f"@{name}", "--every", "90s", "--backfill", "all", "--json")

    added = json.loads(manage("source", "add", *words))
    assert (added["of"], added["every_seconds"], added["state"]) == (name, 90, "new")
    manage("poll", added["id"])

    told = json.loads(manage("source", "list", "--json"))
    shown = visible(x, author=id)
    assert told["posts"] >= len(shown)
    assert (told["leaks"], told["gaps_open"], told["gaps_lost"], told["reason"]) == (0, 0, 0, "")
    assert f"@{name}'s posts: polled" in manage("source", "list")


def test_a_source_that_cannot_be_polled_exits_with_1():
    source = Source.objects.create(kind="account", of="nasa")
    manage("source", "pause", source.pk)

    with pytest.raises(SystemExit) as ended:
        manage("poll", source.pk)

    assert ended.value.code == 1


@pytest.mark.parametrize("word", ["wrong", "7", "²"])
def test_an_unknown_source_is_refused_with_a_sentence(word):
    with pytest.raises(CommandError, match=r"\w"):
        manage("poll", word)


def test_the_old_spelling_names_its_replacement(capsys):
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "poll", "add", "account", "nasa", "--every", "5m"])

    assert ended.value.code == 2
    assert "Use `manage.py source add …`" in capsys.readouterr().err
    assert not Source.objects.exists()
