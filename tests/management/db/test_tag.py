"""`manage.py tag`: by ids, links and files; the list."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.factories import TweetFactory
from trackers.tweets.tags.tagging import tags_of


def run(*words):
    told, said = StringIO(), StringIO()
    call_command("tag", *map(str, words), stdout=told, stderr=said)
    return told.getvalue(), said.getvalue()


def test_tweets_are_tagged_listed_and_untagged(tmp_path):
    for id in (20, 21, 22):
        TweetFactory(id=id)
    file = tmp_path / "ids.txt"
    file.write_text("22\nno tweet\n99\n")

    output, said = run("add", "#Launch", "https://x.com/a/status/21", file, "20")
    assert output == "Tagged 3 tweets “Launch”.\n"
    assert "line 2: 'no tweet' is neither" in said
    assert run("list")[0] == "Launch  3 tweets\n"
    assert json.loads(run("list", "--json")[0]) == {"tag": "Launch", "tweets": 3, "more": False}
    output = json.loads(run("remove", "launch", "20", "20", "--json")[0])
    assert output == {"tweets": 1, "changed": 1}
    assert tags_of([20, 21, 22]) == {21: ["Launch"], 22: ["Launch"]}


def test_impossible_acts_are_refused_with_a_sentence():
    with pytest.raises(CommandError, match="no tag 'launch'"):
        run("remove", "launch", "1")
    TweetFactory(id=1)
    with pytest.raises(CommandError, match="comma") as wrong:
        run("add", "a,b", "1")
    assert wrong.value.returncode == 2
    with pytest.raises(SystemExit):
        run("add", "launch", "99")
