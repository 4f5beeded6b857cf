"""Sources as polls leave them, and what their pages say."""

import re
from datetime import timedelta

from django.contrib.auth.models import Permission, User
from django.utils.timezone import now

from tests import queues
from tests.factories import id_born
from trackers.ingest.sources.models import Gap, Source, SourcePoll


def source(kind="account", of="nasa", *, due_in=None, **given):
    """A source that was read before, as the poll leaves it."""
    made = Source.objects.create(kind=kind, of=of, **{"polled_at": now(), **given})
    if due_in is not None:
        queues.put(SourcePoll, made.pk, now() + timedelta(seconds=due_in))
    return made


def listed(staff):
    return staff.get("/sources/?part=list").content.decode()


def paged(staff, made):
    return staff.get(f"/sources/{made.pk}/?part=detail").content.decode()


def some_staff(client, *permissions):
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def words(html):
    """The text of a page in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def gap(made, why="budget", *, closed=False, first=120, last=60, **fields):
    ids = [id_born(now() - timedelta(minutes=minutes)) for minutes in (first, last)]
    values = {"from_id": ids[0], "to_id": ids[1], "found_at": now()}
    closed_at = now() if closed else None
    return Gap.objects.create(source=made, why=why, closed_at=closed_at, **{**values, **fields})
