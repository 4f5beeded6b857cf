"""Index of the models of all parts. Inside trackers import from the part, never from here."""

from __future__ import annotations

from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertPlace, AlertRule
from trackers.arrivals.models import Arrival, DeliveryBucket, Origin, TimelineDelivery
from trackers.credentials.models import Credential, Window
from trackers.dashboards.models import Column, SavedView
from trackers.events.live.open import StreamPlaces
from trackers.events.minutes import SubscriberMinute, TopicMinute
from trackers.events.models import (
    Attempt,
    EventBatch,
    LiveEvents,
    Subscriber,
    SubscriberState,
    Subscription,
)
from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.ingest.sources.days import SourceDay
from trackers.ingest.sources.imports import (
    Import,
    ImportBucket,
    ImportJob,
    ImportPart,
    RejectedLine,
)
from trackers.ingest.sources.models import Gap, PollBucket, Source, SourcePoll, SourceTweet, Stream
from trackers.jobs.models import Queue, QueueCounters, QueueStatistics, ScheduleAhead, Worker
from trackers.jobs.observed.database import DatabaseMinute
from trackers.jobs.observed.minutes import QueueHour, QueueMinute
from trackers.jobs.observed.tasks import NotedTask
from trackers.jobs.pausing import PausedAll
from trackers.milestones.models import Crossing, Milestone
from trackers.money.projects import App, Project, Spending
from trackers.outbox.models import Event, Finding, Staged, Topic
from trackers.schedule.models import BulkAct, BulkPiece, Interval, Replanning, TweetCensus
from trackers.schedule.stretch_history import StretchMinute
from trackers.timelines.models import (
    BuiltHome,
    DeliveryMark,
    Follow,
    Follower,
    HomeReads,
    HomeRebuild,
    HomeSettings,
    RebuildBucket,
    SizedBucket,
    TimedBucket,
    Timeline,
    TimelineEntry,
)
from trackers.tokens.models import (
    ApiToken,
    ApiUse,
    FeedAddress,
    FeedState,
    IdempotencyKey,
    WrongLogin,
)
from trackers.tweets.gains.models import Changed, Gain, GainPlaces
from trackers.tweets.models import (
    Author,
    PackedSamples,
    Sample,
    Tweet,
    TweetText,
    TweetVersion,
)
from trackers.tweets.tags.models import Tag, TweetTag
from trackers.updater.models import TweetBucket, TweetUpdate

__all__ = [
    "AlertDigest",
    "AlertMail",
    "AlertNotice",
    "AlertPlace",
    "AlertRule",
    "ApiToken",
    "ApiUse",
    "App",
    "Arrival",
    "Attempt",
    "Author",
    "BuiltHome",
    "BulkAct",
    "BulkPiece",
    "Changed",
    "Column",
    "Credential",
    "Crossing",
    "DatabaseMinute",
    "DeliveryBucket",
    "DeliveryMark",
    "Event",
    "EventBatch",
    "FeedAddress",
    "FeedState",
    "Finding",
    "Follow",
    "Follower",
    "ForecastDay",
    "ForecastOfProject",
    "Gain",
    "GainPlaces",
    "Gap",
    "HomeReads",
    "HomeRebuild",
    "HomeSettings",
    "IdempotencyKey",
    "Import",
    "ImportBucket",
    "ImportJob",
    "ImportPart",
    "Interval",
    "LiveEvents",
    "Milestone",
    "NotedTask",
    "Origin",
    "PackedSamples",
    "PausedAll",
    "PollBucket",
    "Project",
    "Queue",
    "QueueCounters",
    "QueueHour",
    "QueueMinute",
    "QueueStatistics",
    "RebuildBucket",
    "RejectedLine",
    "Replanning",
    "Sample",
    "SavedView",
    "ScheduleAhead",
    "SizedBucket",
    "Source",
    "SourceDay",
    "SourcePoll",
    "SourceTweet",
    "Spending",
    "Staged",
    "Stream",
    "StreamPlaces",
    "StretchMinute",
    "Subscriber",
    "SubscriberMinute",
    "SubscriberState",
    "Subscription",
    "Tag",
    "TimedBucket",
    "Timeline",
    "TimelineDelivery",
    "TimelineEntry",
    "Topic",
    "TopicMinute",
    "Tweet",
    "TweetBucket",
    "TweetCensus",
    "TweetTag",
    "TweetText",
    "TweetUpdate",
    "TweetVersion",
    "Window",
    "Worker",
    "WrongLogin",
]
