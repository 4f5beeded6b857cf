"""The tests' own refusal of writing: it refuses, and ends with the page."""

import pytest
from django.db import InternalError
from django.db.transaction import atomic

from tests.standbys.fence import read_only
from trackers.tweets.tags.models import Tag

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_page_that_only_reads_cannot_write():
    # It leaves the connection, as anything does that is refused so.
    with pytest.raises(InternalError, match="read-only"), atomic():
        read_only(lambda: Tag.objects.create(name="a"))
    assert not Tag.objects.exists()


def test_the_rest_of_a_test_can_write():
    with atomic():
        assert read_only(lambda: Tag.objects.count()) == (0, None)
        Tag.objects.create(name="b")
    assert Tag.objects.count() == 1
