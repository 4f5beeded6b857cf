"""What is done to queues: paused, resumed, no longer held; one, several, or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models.functions import Now

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.jobs import pausing
from trackers.jobs.audit import Audit, audit_queue
from trackers.jobs.models import Queue

CHANGE_QUEUE = "trackers.change_queue"
_MAX_BECAUSE_LENGTH = 200


def pause_queues(queues: Sequence[Queue], actor: Actor) -> Done:
    """Claim nothing of them; workers finish what they have."""
    ran = [queue for queue in queues if _set_paused(queue, True)]
    history.record(actor, ran, "Paused")
    if not ran:
        return Done(f"{_names_of_queues(queues)}: already paused. Choose Resume.", is_done=False)
    return Done(f"Paused {_names_of_queues(ran)}.", len(ran))


def resume_queues(queues: Sequence[Queue], actor: Actor) -> Done:
    waited = [queue for queue in queues if _set_paused(queue, False)]
    history.record(actor, waited, "Resumed")
    if not waited:
        return Done(
            f"{_names_of_queues(queues)}: not paused. If no work is being done, see “Held until”.",
            is_done=False,
        )
    return Done(f"Resumed {_names_of_queues(waited)}.", len(waited))


def lift_holds(queues: Sequence[Queue], actor: Actor) -> Done:
    """Ask again at once, whatever failed."""
    changes = {"held_until": None, "held_because": "", "failures": 0}
    held = [queue for queue in queues if _change_queue(queue, changes, held_until__gt=Now())]
    history.record(actor, held, "Lifted the hold")
    if not held:
        return Done(
            f"{_names_of_queues(queues)}: not held. If no work is being done, see “Paused”.",
            is_done=False,
        )
    return Done(f"Asking again: {_names_of_queues(held)}.", len(held))


def mend_queue(name: str, actor: Actor) -> Audit:
    """Put each key where a claim will find it; return what was wrong."""
    result = audit_queue(name, mend=True)
    if not result.is_sound:
        history.record(actor, list(Queue.objects.filter(pk=name)), "Repaired its queue")
    return result


def pause_everything(actor: Actor, *, because: str) -> Done:
    """Pause all queues that run, and remember which."""
    why = because.strip()[:_MAX_BECAUSE_LENGTH]
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


def _set_paused(queue: Queue, paused: bool) -> bool:
    return _change_queue(queue, {"paused": paused}, paused=not paused)


def _change_queue(queue: Queue, changes: Mapping[str, object], **only_if: object) -> bool:
    return bool(Queue.objects.filter(pk=queue.pk, **only_if).update(**changes))


def _names_of_queues(queues: Iterable[Queue]) -> str:
    return ", ".join(queue.name for queue in queues)


QUEUE_ACTS = {
    "pause": Act(pause_queues, CHANGE_QUEUE),
    "resume": Act(resume_queues, CHANGE_QUEUE),
}
