"""What a person should do first, at the head of every page that shows work: each failure once.

workers · credentials · projects ─> queues that are paused, or held by something else ─> notices
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString

from trackers.credentials import sentences
from trackers.dashboards.words import Moment, ahead, with_code
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import Worker
from trackers.jobs.pausing import paused_all
from trackers.money.models import Project
from trackers.schedule.catch_up import NO_WORKERS


def why_idle(*, now: datetime) -> str:
    """Such as "no worker is running"; empty if tweets are being checked."""
    if paused_all():
        return "everything is paused"
    if not Worker.objects.alive(now=now).exists():
        return "no worker is running"
    return "no credential is enabled" if sentences.none_enabled() else ""


@dataclass(frozen=True, slots=True)
class Notice:
    title: str
    sentence: str  # a sentence, with commands between backticks
    again: Moment | None = None  # when it is tried again
    link: str = ""  # leads into the admin
    link_words: str = ""
    act: str = ""  # where a person posts to end it
    act_words: str = ""
    needs: str = ""  # the permission without which neither `link` nor `act` is offered

    @property
    def html(self) -> SafeString:
        return with_code(self.sentence)


def notices(*, now: datetime, of: Collection[str] | None = None) -> list[Notice]:
    """`of`: the queues that the page shows; all of them unless they are given."""
    notices = []
    if not Worker.objects.alive(now=now).exists():
        notices.append(Notice("Workers not running.", NO_WORKERS))
    none_enabled = sentences.none_enabled()
    if none_enabled:
        notices.append(_no_credential(none_enabled))
    depleted = list(Project.objects.filter(depleted_until__gt=now))
    notices += [_no_money(project, now=now) for project in depleted]
    all_paused = paused_all()
    for queue in Queue.objects.all():
        if of is not None and queue.name not in of:
            continue
        # Said at the head of the page.
        if all_paused and queue.name in all_paused.queues:
            continue
        if queue.paused:
            notices.append(
                Notice(
                    f"The queue {queue.name} is paused.",
                    "Nothing in it runs until you resume it.",
                    act=reverse("queue-resume", args=[queue.name]),
                    act_words="Resume",
                    needs="trackers.change_queue",
                )
            )
        elif (
            (until := queue.held_until)
            and until > now
            and not none_enabled
            and not _is_shown(queue.held_reason, depleted)
        ):
            title = f"The queue {queue.name} is on hold."
            # Where X refuses the keys, the sentence says when they are tried again.
            again = None if sentences.is_refused(queue.held_reason) else ahead(until, now=now)
            notices.append(Notice(title, queue.held_reason, again=again))
    return notices


def _no_credential(sentence: str) -> Notice:
    is_none = sentence == sentences.NONE_YET
    page = "trackers_credential_add" if is_none else "trackers_credential_changelist"
    return Notice(
        "No requests to X.",
        sentence,
        link=reverse(f"admin:{page}"),
        link_words="Add one" if is_none else "Credentials",
        needs="trackers.add_credential" if is_none else "trackers.view_credential",
    )


def _no_money(project: Project, *, now: datetime) -> Notice:
    assert project.depleted_until is not None
    return Notice(
        f"The project {project.name} is depleted.",
        sentences.depleted(project.name, project.depleted_reason),
        again=ahead(project.depleted_until, now=now),
        act=reverse("project-ask", args=[project.pk]),
        act_words="Ask X again now",
        needs="trackers.change_project",
    )


def _is_shown(because: str, depleted: Collection[Project]) -> bool:
    """Whether what holds a queue is shown already, as a depleted project."""
    return any(because.startswith(sentences.depleted(each.name, "")[:100]) for each in depleted)
