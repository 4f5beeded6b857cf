"""One snapshot of the installation, for all who tell how it goes.

the rows, and what clusters counted ─ Status ─> `manage.py status`, /metrics, the API, pages
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from trackers.credentials.models import Credential
from trackers.events.live.open import Streams, streams
from trackers.events.minutes import Hour, hours_of_topics
from trackers.events.subscribers import status as of_subscribers
from trackers.events.subscribers.status import SubscriberStatus as SubscriberStanding
from trackers.forecasts import stored as forecasts
from trackers.forecasts.stored import ProjectForecast, StoredForecast
from trackers.ingest.sources import status as of_sources
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.status import SourceStatus as SourceStanding
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import TWEET_UPDATE, PausedAll, Queue
from trackers.jobs.observed.database import Horizon, horizon
from trackers.jobs.observed.models import Worker
from trackers.jobs.pausing import paused_all
from trackers.jobs.queue import job_classes
from trackers.jobs.statistics import QueueSummary, queue_summaries
from trackers.money.summary import MoneySummary, money_summaries
from trackers.outbox.models import Topic
from trackers.schedule.catch_up import CatchUp, read_catch_up
from trackers.schedule.census import Census, census
from trackers.schedule.intervals import Plan, current
from trackers.schedule.models import Stretch
from trackers.schedule.stretch.history import StretchSpan, by_time
from trackers.standbys.reading import StandbyNow, standby_now
from trackers.timelines.statistics import Timelines, timelines


class Status:
    """Each part is read when it is first asked for, and once, by a fixed number of statements: who
    shows only workers reads nothing else."""

    @cached_property
    def _current(self) -> tuple[datetime, Plan]:
        return current()

    @property
    def now(self) -> datetime:
        """By the database's clock, when it was first asked for."""
        return self._current[0]

    @property
    def plan(self) -> Plan:
        """The intervals in force, and how much their waits are stretched."""
        return self._current[1]

    @cached_property
    def paused(self) -> PausedAll | None:
        """None unless a person has paused everything."""
        return paused_all()

    @cached_property
    def tweets(self) -> Census:
        return census(self.plan, now=self.now)

    @cached_property
    def tweet_queue(self) -> QueueSummary:
        return queue_summaries(TWEET_UPDATE)[TWEET_UPDATE]

    @cached_property
    def queue_summaries(self) -> Mapping[str, QueueSummary]:
        """By name, in its order."""
        others = queue_summaries(*(job_classes().keys() - {TWEET_UPDATE}))
        return dict(sorted({**others, TWEET_UPDATE: self.tweet_queue}.items()))

    @cached_property
    def queues(self) -> Sequence[Queue]:
        """The queues' rows, by name: which are paused, and which are held until X answers again."""
        return list(Queue.objects.all())

    @cached_property
    def resting(self) -> int:
        """Every tracked tweet has a row in the queue, or rests, or was paused. At least 0, because
        they are not counted at the same moment."""
        return max(0, self.tweets.tracked - self.tweet_queue.scheduled - self.tweets.paused)

    @cached_property
    def catch_up(self) -> CatchUp:
        """When no tweet is behind any more."""
        return read_catch_up(self.plan, self.tweet_queue, now=self.now)

    @cached_property
    def oldest_snapshot(self) -> Horizon:
        """Of the database's transactions."""
        return horizon()

    @cached_property
    def standby(self) -> StandbyNow | None:
        """None: there is none to be read."""
        return standby_now()

    @cached_property
    def days(self) -> StoredForecast:
        """Look-ups and tweet-days of yesterday, today and tomorrow, without the projects'."""
        return forecasts.stored_forecast(now=self.now)

    @cached_property
    def days_of_projects(self) -> Sequence[ProjectForecast]:
        return forecasts.project_forecasts(self.days.today.day)

    @cached_property
    def stretch(self) -> Stretch | None:
        """How much longer adapting waits are; None where no interval adapts, or before the first
        minute of a cluster."""
        return Stretch.objects.filter(pk=Stretch.ONLY).first() if self.plan.adapts else None

    @cached_property
    def stretches(self) -> Sequence[StretchSpan]:
        """The largest of each hour of the last day."""
        if self.stretch is None:
            return ()
        return by_time(over=timedelta(days=1), step=timedelta(hours=1))

    @cached_property
    def accuracy_asked(self) -> float | None:
        """The largest share of a tweet's figures that may be missed; None where no interval
        adapts."""
        return max((tier.bounds.accuracy for tier in self.plan.tiers if tier.bounds), default=None)

    @cached_property
    def accuracy_now(self) -> float | None:
        """The share that is missed at the present stretch."""
        if self.stretch is None or self.accuracy_asked is None:
            return None
        return self.accuracy_asked * self.stretch.windows

    @cached_property
    def projects(self) -> Sequence[MoneySummary]:
        """By name: what each spent, and what it may still spend."""
        return money_summaries()

    @cached_property
    def credentials(self) -> Sequence[Credential]:
        """Without their secrets, with their app, project and windows."""
        return list(Credential.objects.for_lists())

    @cached_property
    def workers(self) -> Sequence[Worker]:
        """The processes of all clusters; one that ended without a word stays for a while."""
        return list(Worker.objects.all())

    @cached_property
    def sources(self) -> Sequence[SourceStanding]:
        """Without imports: there are more of them every day, and once read they never change."""
        rows = Source.objects.exclude(kind=Source.Kind.IMPORT)
        return of_sources.source_statuses(list(rows), now=self.now)

    @cached_property
    def sources_and_imports(self) -> Sequence[SourceStanding]:
        return of_sources.source_statuses(list(Source.objects.all()), now=self.now)

    @cached_property
    def stream(self) -> Stream | None:
        """X's filtered stream; None if it was never opened."""
        return Stream.objects.first()

    @cached_property
    def timelines(self) -> Timelines:
        return timelines(now=self.now)

    @cached_property
    def staged(self) -> int:
        """Transactions whose events are not spread yet, up to a thousand."""
        return of_subscribers.staged()

    @cached_property
    def topics(self) -> Sequence[Topic]:
        """Those that have a publisher or a subscriber."""
        return of_subscribers.topics()

    @cached_property
    def topic_hours(self) -> Mapping[int, Hour]:
        """By the ids of topics; without those in which nothing was published."""
        return hours_of_topics()

    @cached_property
    def live(self) -> Streams:
        """The live streams that readers have open."""
        return streams()

    @cached_property
    def subscribers(self) -> Sequence[SubscriberStanding]:
        return of_subscribers.subscriber_statuses(now=self.now)
