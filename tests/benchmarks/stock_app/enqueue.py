"""Fill the queue of django-q2's ORM broker beforehand: `python -m … one|many COUNT`.

Enqueuing is not measured: that is in favour of those the product is compared with.
"""

from __future__ import annotations

import sys
from itertools import islice

import django

AT_ONCE = 5_000


def main(size: int, count: int) -> None:
    django.setup()
    from django.utils import timezone
    from django_q.conf import Conf
    from django_q.humanhash import uuid
    from django_q.models import OrmQ
    from django_q.signing import SignedPackage

    from tests.benchmarks.stock_app.models import StockTweet

    function = "refresh_one" if size == 1 else "refresh_many"
    wanted = StockTweet.objects.order_by("due_at").values_list("pk", flat=True)
    ids = iter(list(wanted[: count * size]))
    rows = []
    for _ in range(count):
        some = list(islice(ids, size))
        if not some:
            break
        name, tag = uuid()
        task = {
            "id": tag,
            "name": name,
            "func": f"tests.benchmarks.stock_app.tasks.{function}",
            "args": (some[0],) if size == 1 else (some,),
            "kwargs": {},
            "ack_failure": True,
            "started": timezone.now(),
        }
        payload = SignedPackage.dumps(task)
        rows.append(OrmQ(key=Conf.CLUSTER_NAME, payload=payload, lock=timezone.now()))
    OrmQ.objects.bulk_create(rows, batch_size=AT_ONCE)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
