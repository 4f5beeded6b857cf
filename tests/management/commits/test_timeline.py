"""`timeline rebuild`: homes laid out anew, now or by the workers."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.timelines.homes.world import bring, configure, follower, source, tweet
from trackers.timelines import homes
from trackers.timelines.models import BuiltHome, Follower, HomeRebuild

# A home is begun in a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True)


def rebuild(*given):
    out = io.StringIO()
    call_command("timeline", "rebuild", *map(str, given), stdout=out)
    return out.getvalue()


def test_homes_are_built_now_with_the_strategy_of_the_settings():
    first, other, came_from = follower(), follower(), source()
    homes.follow(first, source_id=came_from)
    bring(came_from, tweet(1))
    configure(strategy="sized")

    assert rebuild(first, other, first) == "Rebuilt 2 homes.\n"
    assert BuiltHome.objects.filter(strategy="sized").exclude(built_at=None).count() == 2
    assert json.loads(rebuild(first, "--json")) == {"rebuilt": 1}


def test_workers_build_the_homes_of_recent_readers():
    first, _ = follower(), follower()
    Follower.objects.filter(pk=first).update(read_at=timezone.now())

    assert json.loads(rebuild("--all", "--json")) == {"enqueued": 1}
    assert list(HomeRebuild.objects.values_list("key", flat=True)) == [first]
    assert not BuiltHome.objects.exists()


@pytest.mark.parametrize(
    ("values", "says", "status"),
    [
        ((), "--all", 2),
        ((1, "--all"), "--all", 2),
        ((987_654,), "no follower 987654", 1),
        ((2**70,), "no follower", 1),
    ],
)
def test_invalid_arguments_are_refused_and_change_nothing(values, says, status):
    configure(strategy="sized")
    known = follower()
    with pytest.raises(CommandError, match=says) as refused:
        rebuild(known, *values) if status == 1 else rebuild(*values)
    assert refused.value.returncode == status
    assert not BuiltHome.objects.exists()
