"""Acts on sources that meet somebody who was faster."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from trackers.history import by_api
from trackers.ingest.sources import acts
from trackers.ingest.sources.forms import SourceForm
from trackers.ingest.sources.models import Source


@pytest.fixture
def actor():
    return by_api(User.objects.create_user("ada"))


def settings(**given):
    return {
        "of": "#artemis", "every": "5m", "pages": "10", "backfill": "1d", "late_by": "",
        "priority": "1", "owner": "", **given,
    }  # fmt: skip


def test_a_concurrently_added_source_is_not_added_twice(actor):
    form = SourceForm(settings(kind="search"))
    assert form.is_valid()
    Source.objects.create(kind="search", of="#artemis")

    assert not acts.add(form, actor)

    assert form.errors == {"of": [acts.TWICE]}
    assert not LogEntry.objects.exists()


def test_a_concurrently_removed_source_is_not_changed(actor):
    source = Source.objects.create(kind="search", of="#artemis")
    form = SourceForm(settings(pages="20"), instance=source)
    assert form.is_valid()
    Source.objects.all().delete()

    assert acts.change(form, actor) is None

    assert form.non_field_errors() == [acts.GONE]
    assert not acts.pause(source, actor).is_done
    assert not acts.remove(source, actor).is_done
    assert not LogEntry.objects.exists()


def test_acts_are_recorded_in_the_history_with_their_door(actor):
    source = Source.objects.create(kind="search", of="#artemis")

    for act, count in ((acts.pause, 1), (acts.pause, 0), (acts.resume, 1), (acts.remove, 1)):
        assert act(source, actor).count == count

    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "Paused, by the API.", "Resumed, by the API.", "Removed, by the API.",
    ]  # fmt: skip
