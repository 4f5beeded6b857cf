"""What is done to queues: paused, resumed, no longer held; one, several, or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models.functions import Now

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.jobs import pausing
from trackers.jobs.models import Namespace

CHANGE = "trackers.change_namespace"
WHY_MOST = 200


def pause(queues: Sequence[Namespace], actor: Actor) -> Done:
    """Claim nothing of them; workers finish what they have."""
    ran = [queue for queue in queues if set_paused(queue, True)]
    history.record(actor, ran, "Paused")
    if not ran:
        return Done(f"{names(queues)}: already paused. Choose Resume.", is_done=False)
    return Done(f"Paused {names(ran)}.", len(ran))


def resume(queues: Sequence[Namespace], actor: Actor) -> Done:
    waited = [queue for queue in queues if set_paused(queue, False)]
    history.record(actor, waited, "Resumed")
    if not waited:
        return Done(
            f"{names(queues)}: not paused. If no work is being done, see “Held until”.",
            is_done=False,
        )
    return Done(f"Resumed {names(waited)}.", len(waited))


def lift_hold(queues: Sequence[Namespace], actor: Actor) -> Done:
    """Ask again at once, whatever failed."""
    given = {"held_until": None, "held_because": "", "failures": 0}
    held = [queue for queue in queues if update(queue, given, held_until__gt=Now())]
    history.record(actor, held, "Lifted the hold")
    if not held:
        return Done(
            f"{names(queues)}: not held. If no work is being done, see “Paused”.", is_done=False
        )
    return Done(f"Asking again: {names(held)}.", len(held))


def pause_everything(actor: Actor, *, because: str) -> Done:
    """Pause all queues that run, and remember which."""
    why = because.strip()[:WHY_MOST]
    paused = pausing.pause_all(by=actor.user.get_username(), because=why)
    if paused is None:
        return Done("Everything was paused already.", is_done=False)
    history.record(actor, [paused], f"Paused everything{': ' + why if why else ''}")
    return Done("Everything is paused.", len(paused.queues))


def resume_everything(actor: Actor) -> Done:
    """Resume the queues that ran before everything was paused."""
    resumed = pausing.resume_all()
    if resumed is None:
        return Done("Everything was not paused.", is_done=False)
    history.record(actor, [resumed], "Resumed everything")
    queues = ", ".join(resumed.queues) or "no queue ran before"
    return Done(f"Resumed: {queues}.", len(resumed.queues))


def set_paused(queue: Namespace, paused: bool) -> bool:
    return update(queue, {"paused": paused}, paused=not paused)


def update(queue: Namespace, given: Mapping[str, object], **only_if: object) -> bool:
    return bool(Namespace.objects.filter(pk=queue.pk, **only_if).update(**given))


def names(queues: Iterable[Namespace]) -> str:
    return ", ".join(queue.name for queue in queues)


ACTS = {
    "pause": Act(pause, CHANGE),
    "resume": Act(resume, CHANGE),
}
