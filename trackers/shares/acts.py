"""People share, end a share, and turn sharing on and off: each act is in the history."""

from __future__ import annotations

import re
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.sets.kinds import SetKind, find_set
from trackers.shares.models import MAX_OF_LENGTH, MAX_TITLE_LENGTH, Share, Sharing
from trackers.shares.terms import is_sharing_on, why_hidden

END, SWITCH = "trackers.change_share", "trackers.change_sharing"
MAX_LIVE = 500
# As many as the page compares.
MAX_COMPARED = 6
MAX_DAYS = 365
_OFF = "Sharing is off. An owner turns it on under Shares."


def share(
    kind: str,
    of: str,
    actor: Actor,
    user: User,
    *,
    query: str = "",
    title: str = "",
    with_notes: bool = False,
    days: int = 30,
) -> Share:
    """A link to a tweet (`of` its id), a set (`hashtag/moon`) or a comparison (ids, or sets, with
    commas), for so many days.

    A ValidationError says by field what is wrong; nothing is stored then.
    """
    if not is_sharing_on():
        raise ValidationError(_OFF)
    if not 1 <= days <= MAX_DAYS:
        raise ValidationError({"days": f"From 1 to {MAX_DAYS} days."})
    if len(title) > MAX_TITLE_LENGTH or not title.isprintable():
        raise ValidationError({"title": f"Up to {MAX_TITLE_LENGTH} characters, in one line."})
    now = timezone.now()
    if Share.objects.live(now=now).count() >= MAX_LIVE:
        raise ValidationError(f"There are {MAX_LIVE} shares: end some that nobody needs.")
    made = Share(
        kind=kind, of=_checked(kind, of, user), query=query[:300], title=title.strip(),
        with_notes=with_notes, made_by=user, ends_at=now + timedelta(days=days),
    )  # fmt: skip
    if why := why_hidden(made):
        raise ValidationError({"of": f"{why} So it cannot be shared."})
    made.save(force_insert=True)
    made.refresh_from_db()
    history.record(actor, [made], "Shared with everybody who has the link", flag=history.ADDITION)
    return made


def _end_share(share: Share, actor: Actor) -> Done:
    if share.ended_at is not None:
        return Done("It has ended already.", is_done=False)
    share.ended_at = timezone.now()
    share.save(update_fields=["ended_at"], force_update=True)
    history.record(actor, [share], "Ended")
    return Done("The link shows nothing any more. Pictures may be cached for five minutes.", 1)


def switch_sharing(is_on: bool, actor: Actor) -> Done:
    sharing, _ = Sharing.objects.update_or_create(pk=1, defaults={"is_on": is_on})
    history.record(actor, [sharing], f"Turned sharing {sharing}")
    return Done(
        "Sharing is on: operators can make links." if is_on
        else "Sharing is off: no link shows anything until it is on again.",
        1,
    )  # fmt: skip


def _checked(kind: str, of: str, user: User) -> str:
    """`of` as it is stored."""
    if kind == Share.Kind.COMPARISON and "/" in of:
        return _checked_sets(of.split(","), user)
    if kind in (Share.Kind.TWEET, Share.Kind.COMPARISON):
        ids = of.split(",")
        if any(not re.fullmatch(r"[0-9]{1,19}", id) for id in ids):
            raise ValidationError({"of": "A tweet is named by its id."})
        fits = len(ids) == 1 if kind == Share.Kind.TWEET else 2 <= len(ids) <= MAX_COMPARED
        if not fits:
            raise ValidationError({"of": f"One tweet, or a comparison of 2 to {MAX_COMPARED}."})
        return of
    if kind == Share.Kind.SET:
        return _checked_set(of, user)
    raise ValidationError({"kind": f"One of {', '.join(Share.Kind.values)}."})


def _checked_sets(of: list[str], user: User) -> str:
    if not 2 <= len(of) <= MAX_COMPARED:
        raise ValidationError({"of": f"A comparison is of 2 to {MAX_COMPARED} sets."})
    addresses = ",".join(_checked_set(one, user) for one in of)
    if len(addresses) > MAX_OF_LENGTH:
        raise ValidationError({"of": "The names of these sets are too long together."})
    return addresses


def _checked_set(of: str, user: User) -> str:
    kind, _, key = of.partition("/")
    found = None if kind == SetKind.VIEW else find_set(kind, key, user)
    # A comma would part it.
    if found is None or "," in found.address:
        raise ValidationError({"of": "There is no such set, or it is a person's own."})
    return found.address


SHARE_ACTS = {"end": Act(_end_share, END, button="End this link")}
