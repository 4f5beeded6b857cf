"""Whose a rule at X is: told by a mark that the database keeps, and by nothing else."""

import logging

import pytest
from django.core.management import CommandError, call_command

from tests.ingest.stream.listened import CHANGE
from trackers.ingest.sources import life
from trackers.ingest.stream.marks import Mark, our_mark
from trackers.ingest.stream.models import Stream

pytestmark = pytest.mark.django_db


def test_our_rules_are_recognised_after_the_secret_key_changed(stream, settings):
    moon = stream.source("#moon")
    stream.synchronise()
    settings.SECRET_KEY = "rotated" * 10
    stream.start()

    stream.synchronise()

    assert stream.rules() == {"#moon": our_mark().tag_of(moon.pk)}
    assert len(stream.asked(CHANGE)) == 1
    life.remove_sources([moon.pk])
    stream.synchronise()
    assert stream.rules() == {}


def test_a_new_database_with_the_same_secret_key_keeps_the_rules_of_the_old_one(stream):
    stream.source("#moon")
    stream.synchronise()
    ours = our_mark()
    Stream.objects.all().delete()
    life.remove_sources([one.pk for one in stream.sources()])
    stream.source("#sun")
    stream.start()

    stream.synchronise()

    assert our_mark() != ours
    assert set(stream.rules()) == {"#moon", "#sun"}
    assert Stream.objects.get().rules_of_others == 1


def test_rules_of_another_installation_are_left_alone_and_reported(stream, caplog):
    theirs = Mark("theirs00").tag_of(1)
    stream.ask("POST", add=[{"value": "#theirs", "tag": theirs}, {"value": "#bare"}])
    stream.source("#moon")

    with caplog.at_level(logging.WARNING):
        stream.synchronise()
        stream.synchronise()

    assert stream.rules() == {
        "#theirs": theirs,
        "#bare": None,
        "#moon": our_mark().tag_of(stream.sources()[0].pk),
    }
    [said] = [one.getMessage() for one in caplog.records if "did not make" in one.getMessage()]
    assert "match: 2, of which other installations of tweetwatch made 1" in said
    assert Stream.objects.get().rules_of_others == 2


def test_a_copied_database_gets_a_new_mark_unless_the_stream_is_running(stream):
    moon = stream.source("#moon")
    stream.synchronise()
    ours = our_mark()
    with pytest.raises(CommandError, match="listening for this database"):
        call_command("stream", "--new-mark")

    Stream.objects.update(lease=None)
    call_command("stream", "--new-mark")
    life.remove_sources([moon.pk])
    stream.start()
    stream.synchronise()

    assert our_mark() != ours
    assert stream.rules() == {"#moon": ours.tag_of(moon.pk)}
