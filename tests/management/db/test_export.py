"""`manage.py export`: what is not tracked is told."""

import sys
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from django.core.management import CommandError, call_command

from tests.factories import TweetFactory


def run(monkeypatch, *words):
    out, said = BytesIO(), StringIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(out, write_through=True))
    call_command("export", *words, stderr=said)
    return out.getvalue().decode(), said.getvalue()


@pytest.mark.parametrize("what", ["tweets", "samples"])
def test_an_untracked_tweet_is_reported(monkeypatch, what):
    with pytest.raises(CommandError, match=r"Tweet 999 is not tracked\."):
        run(monkeypatch, what, "--tweet", "999")


def test_an_untracked_tweet_among_others_is_reported_and_the_others_exported(monkeypatch):
    TweetFactory(id=20)

    told, said = run(monkeypatch, "tweets", "--tweet", "20", "998", "999")

    assert told.startswith('{"tweet_id":"20"')
    assert said == "Tweets 998, 999 are not tracked.\n"
