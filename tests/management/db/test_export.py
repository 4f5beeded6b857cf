"""`manage.py export`: what is not tracked is told."""

from __future__ import annotations

import sys
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from django.core.management import CommandError, call_command

from tests.factories import TweetFactory

pytestmark = pytest.mark.django_db


def run(monkeypatch, *words):
    out, said = BytesIO(), StringIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(out, write_through=True))
    call_command("export", *words, stderr=said)
    return out.getvalue().decode(), said.getvalue()


@pytest.mark.parametrize("what", ["tweets", "samples"])
def test_a_tweet_that_is_not_tracked_is_told(monkeypatch, what):
    with pytest.raises(CommandError, match=r"Tweet 999 is not tracked\."):
        run(monkeypatch, what, "--tweet", "999")


def test_beside_others_it_is_told_and_these_are_printed(monkeypatch):
    TweetFactory(id=20)

    told, said = run(monkeypatch, "tweets", "--tweet", "20", "998", "999")

    assert told.startswith('{"tweet_id":"20"')
    assert said == "Tweets 998, 999 are not tracked.\n"
