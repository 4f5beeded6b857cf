"""Ordinary tasks as a worker would run them, in this process."""

from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.signing import SignedPackage


def enqueued():
    """What waits for a worker: dotted name and arguments, oldest first."""
    tasks = [SignedPackage.loads(row.payload) for row in OrmQ.objects.order_by("id")]
    return [(task["func"], *task["args"]) for task in tasks]


def run_one():
    """Run the next one; whether there was any."""
    broker = get_broker()
    claimed, _ = broker.claim_task()
    if claimed is None:
        return False
    ack_id, payload = claimed
    task = SignedPackage.loads(payload)
    import_string(task["func"])(*task["args"], **task["kwargs"])
    broker.acknowledge(ack_id)
    return True


def run_all():
    while run_one():
        pass
