"""A set's figures in a period, from its rollups."""

from datetime import timedelta
from itertools import pairwise
from statistics import median

import pytest

from tests.rollups.posted import DAY, HOUR, NOW, id_of, measured_at, tracked, update
from trackers.rollups import read
from trackers.rollups.models import RollupKind

pytestmark = pytest.mark.django_db


def test_a_period_is_read_by_quarters_of_an_hour():
    born = [8 * DAY, 8 * DAY - timedelta(minutes=14), 8 * DAY - timedelta(minutes=15), 9 * DAY]
    for number, posted in enumerate(born):
        tracked(id_of(posted, number))
        measured_at(id_of(posted, number), HOUR, views=100 * (number + 1))
    tracked(id_of(8 * DAY, 9))
    update()

    quarters = [NOW - 8 * DAY + timedelta(minutes=15 * number) for number in range(4)]
    of_seven = read.sums(RollupKind.AUTHOR, "7", list(pairwise(quarters)), HOUR)

    assert [(one.posts, one.measured, one.views) for one in of_seven] == [
        (3, 2, 300), (1, 1, 300), (0, 0, 0)
    ]  # fmt: skip
    [whole] = read.sums(RollupKind.AUTHOR, "7", [(quarters[0], quarters[-1])], HOUR)
    assert (whole.posts, whole.measured, whole.views) == (4, 3, 600)
    # A quarter belongs to the stretch in which it begins.
    late = timedelta(minutes=1)
    shifted = [(quarters[0] + late, quarters[1] + late), (quarters[1] + late, NOW)]
    assert [one.posts for one in read.sums(RollupKind.AUTHOR, "7", shifted, HOUR)] == [1, 0]
    [nobody] = read.sums(RollupKind.AUTHOR, "8", [(NOW - 8 * DAY, NOW)], HOUR)
    assert not any(nobody)
    [of_all] = read.sums(RollupKind.ALL, "all", [(NOW - 9 * DAY, NOW)], DAY)
    assert (of_all.posts, of_all.views) == (5, 0)


@pytest.mark.parametrize(("kind", "key"), [(RollupKind.AUTHOR, "7"), (RollupKind.ALL, "all")])
def test_a_median_is_of_all_posts_of_quarters_with_one_and_with_several(kind, key):
    views = [3, 40, 500, 900, 1500, 2600, 80000]
    for number, count in enumerate(views):
        id = id_of(8 * DAY - timedelta(minutes=6 * number))
        tracked(id)
        measured_at(id, HOUR, views=count, likes=None)
    update()

    about = read.median(kind, key, NOW - 9 * DAY, NOW, HOUR, "views")
    assert about == pytest.approx(median(views), rel=0.19)
    assert read.median(kind, key, NOW - 9 * DAY, NOW, HOUR, "likes") is None
    assert read.median(kind, key, NOW - 9 * DAY, NOW, DAY, "views") is None
