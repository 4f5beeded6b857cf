"""What is done to projects that X bills."""

from __future__ import annotations

from collections.abc import Sequence

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.jobs import holds
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.models import Project

CHANGE = "trackers.change_project"


def go_on(projects: Sequence[Project], actor: Actor) -> Done:
    """Ask X again for projects of which it said that no money is left: somebody has paid."""
    runs = {"depleted_until": None, "depleted_reason": "", "depletions": 0}
    there = Project.objects.exclude(**runs)
    depleted = [one for one in projects if there.filter(pk=one.pk).update(**runs)]
    if not depleted:
        names = ", ".join(project.name for project in projects)
        return Done(f"{names}: not depleted.", is_done=False)
    # It was held until the first depleted project could ask; `lift` does nothing if X fails.
    holds.end_hold(TWEET_UPDATE)
    history.record(actor, depleted, "Continued")
    names = ", ".join(project.name for project in depleted)
    return Done(f"{names}: X is asked again with the next batch.", len(depleted))
