"""What is done to queues: paused, resumed, no longer held; one, several, or all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models.functions import Now
from django.template.defaultfilters import pluralize

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.jobs import pausing, queue
from trackers.jobs.audit import Audit, audit_queue
from trackers.jobs.models import Queue

CHANGE_QUEUE = "trackers.change_queue"
_MAX_BECAUSE_LENGTH = 200


def pause_queues(queues: Sequence[Queue], actor: Actor) -> Done:
    """Claim nothing of them; workers finish what they have."""
    what, nothing = "Paused", "already paused. Choose Resume."
    return _change_queues(queues, actor, what, {"paused": True}, nothing=nothing, paused=False)


def resume_queues(queues: Sequence[Queue], actor: Actor) -> Done:
    what, nothing = "Resumed", "not paused. If no work is being done, see “Held until”."
    return _change_queues(queues, actor, what, {"paused": False}, nothing=nothing, paused=True)


def lift_holds(queues: Sequence[Queue], actor: Actor) -> Done:
    """Ask again at once, whatever failed."""
    changes = {"held_until": None, "held_reason": "", "failures": 0}
    what, nothing = "Lifted the hold", "not held. If no work is being done, see “Paused”."
    return _change_queues(
        queues, actor, what, changes, done="Asking again:", nothing=nothing, held_until__gt=Now()
    )


def _change_queues(
    queues: Sequence[Queue],
    actor: Actor,
    what: str,
    changes: Mapping[str, object],
    *,
    nothing: str,
    done: str = "",
    **only_if: object,
) -> Done:
    """`done`: what to say before their names if it is not `what`, as the history has it."""
    changed = [
        queue for queue in queues if Queue.objects.filter(pk=queue.pk, **only_if).update(**changes)
    ]
    history.record(actor, changed, what)
    names = ", ".join(queue.name for queue in changed or queues)
    if not changed:
        return Done(f"{names}: {nothing}", is_done=False)
    return Done(f"{done or what} {names}.", len(changed))


def mend_queue(name: str, actor: Actor) -> Audit:
    """Put each key where a claim will find it; return what was wrong."""
    result = audit_queue(name, mend=True)
    if not result.is_sound:
        history.record(actor, list(Queue.objects.filter(pk=name)), "Repaired its queue")
    return result


def retry_isolated(name: str, actor: Actor) -> Done:
    """Try the queue's isolated keys again; `count`: how many there were."""
    retried = queue.retry_isolated(name)
    if not retried:
        return Done(f"{name}: nothing is isolated.", is_done=False)
    history.record(actor, list(Queue.objects.filter(pk=name)), f"Retried {retried:,} isolated keys")
    return Done(
        f"{name}: {retried:,} {pluralize(retried, 'key is,keys are')} tried again.", retried
    )


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


QUEUE_ACTS = {
    "pause": Act(pause_queues, CHANGE_QUEUE),
    "resume": Act(resume_queues, CHANGE_QUEUE),
}
