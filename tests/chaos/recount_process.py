"""When all has stopped: what the product keeps of a run's tweets, beside a plain recount. It writes
one line of JSON (`recounted.Recounted`)."""

from __future__ import annotations

import json
import os
import time
from datetime import timedelta
from itertools import count, groupby, pairwise

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from tests.rollups.recounted import counted, kept  # noqa: E402
from trackers.rollups.models import RollupQuarter  # noqa: E402
from trackers.rollups.update import update_rollups  # noqa: E402
from trackers.scores.update import update_scores  # noqa: E402
from trackers.tweets.checkpoints.ages import AGES, count_between, is_enclosed  # noqa: E402
from trackers.tweets.checkpoints.read import checkpoints_of  # noqa: E402
from trackers.tweets.history import histories  # noqa: E402
from trackers.tweets.models import Tweet  # noqa: E402
from trackers.tweets.snowflake import born_at  # noqa: E402
from tweetwatch.pieces import Deadline  # noqa: E402

PIECE = 2000
# A busy quarter of an hour waits for so long.
WAITS = timedelta(minutes=20)


def checkpoints_of_runs(runs, born):
    """By age: what the tweet had, and whether the measurements that stored samples name say so for
    sure. While the metrics stay the same, a sample names the first and the last one alone."""
    known = {}
    ends = [(run.taken_at - born, run.measured_until - born, run.counts) for run in runs]
    for first, last, counts in ends:
        for age in AGES:
            if first < age <= last:
                known[age] = counts, is_enclosed(age, before=first, after=last)
    for (_, early, before), (late, _, after) in pairwise(ends):
        for age in AGES:
            if is_enclosed(age, before=early, after=late):
                pairs = zip(before, after, strict=True)
                between = tuple(
                    count_between(age, before=(early, low), after=(late, high))
                    for low, high in pairs
                )
                known[age] = between, True
    return known


def checkpoints():
    born = dict(Tweet.objects.exclude(created_at=None).values_list("pk", "created_at"))
    ids, number, differs = sorted(born), 0, []
    for first in range(0, len(ids), PIECE):
        some = ids[first : first + PIECE]
        stored = checkpoints_of(some)
        for id, runs in groupby(histories(some), key=lambda run: run.tweet_id):
            # Until X says when it was posted, to the second, its id does, to the millisecond.
            runs = list(runs)
            by_birth = [checkpoints_of_runs(runs, at) for at in (born[id], born_at(id))]
            number += len(stored[id])
            differs += [
                f"tweet {id} at {age}: {stored[id].get(age)} kept, {by_birth[0].get(age)} recounted"
                for age in AGES
                if not any(is_right(stored[id].get(age), each.get(age)) for each in by_birth)
            ]
    return {"checkpoints": number, "wrong_checkpoints": differs}


def is_right(stored, recounted):
    if recounted is None:
        return stored is None
    counts, is_sure = recounted
    return tuple(stored) == counts if stored is not None else not is_sure


def rollups():
    # What is changed again after it was counted waits from then on, so each time it is later. The
    # database may not know yet that a process which was counting is gone.
    patience = Deadline.after(120)
    for times in count(1):
        now = timezone.now() + times * WAITS
        # Scores hand those that crossed an age on to rollups.
        scored = update_scores(now=now, deadline=Deadline.after(60))
        counted_up = update_rollups(now=now, deadline=Deadline.after(60))
        is_done = scored.is_done and counted_up.is_done
        if is_done and not RollupQuarter.objects.exclude(due_at=None).exists():
            break
        assert not patience.is_over, (scored, counted_up)
        time.sleep(0 if is_done else 1)
    should, stored = counted(), kept()
    differs = [
        f"rollup {of}: {stored.get(of)} kept, {should.get(of)} recounted"
        for of in sorted(should.keys() | stored.keys())
        if stored.get(of) != should.get(of)
    ]
    return {"rollups": len(stored), "wrong_rollups": differs}


if __name__ == "__main__":
    print(json.dumps(checkpoints() | rollups()))
