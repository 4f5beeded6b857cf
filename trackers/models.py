"""Index of the models of all parts. Inside trackers import from the part, never from here."""

from __future__ import annotations

from trackers.alerts.models import (
    AlertDigest,
    AlertMail,
    AlertMute,
    AlertNotice,
    AlertPicture,
    AlertRule,
    AlertsRead,
)
from trackers.alerts.places import AlertPlace, HappeningPlace
from trackers.arrivals.models import Arrival, DeliveryBucket, Origin, TimelineDelivery
from trackers.channels.models import Channel, ChannelMessage, OwnLimits, PushKey, QuietHours
from trackers.credentials.models import Credential, Window
from trackers.dashboards.models import Column, OverviewVisit
from trackers.events.delivery.models import Attempt
from trackers.events.live.models import LiveEvents, StreamPlaces
from trackers.events.models import (
    EventBatch,
    Subscriber,
    SubscriberMinute,
    SubscriberState,
    Subscription,
    TopicMinute,
)
from trackers.forecasts.models import ForecastDay, ForecastHour, ForecastOfProject
from trackers.happenings.models import Happening
from trackers.ingest.files.models import Import, ImportBucket, ImportJob, ImportPart, RejectedLine
from trackers.ingest.sources.models import (
    Gap,
    PollBucket,
    SearchCount,
    Source,
    SourceDay,
    SourcePoll,
    SourceTweet,
)
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import PausedAll, Queue
from trackers.jobs.observed.models import (
    ClockReading,
    DatabaseMinute,
    NotedTask,
    QueueCounters,
    QueueHour,
    QueueMinute,
    QueueStatistics,
    Worker,
)
from trackers.milestones.models import Crossing, Milestone
from trackers.money.models import App, Project, Spending
from trackers.notes.models import Note
from trackers.outbox.models import Event, Finding, Staged, Topic
from trackers.rollups.models import Rollup, RollupQuarter
from trackers.saved_views.models import SavedView
from trackers.schedule.models import (
    BulkAct,
    BulkPiece,
    Interval,
    Replanning,
    StretchMinute,
    TweetCensus,
)
from trackers.scores.models import Benchmark, BenchmarkAuthor, RecentRise, Score, ScoreRise
from trackers.sets.leaderboards.models import LargeLeaderboard, Leaderboard
from trackers.shares.models import Share, Sharing
from trackers.standbys.models import PrimaryBeat
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
    CacheEntry,
    FeedAddress,
    FeedState,
    IdempotencyKey,
    Preferences,
    TimeFormat,
    WrongLogin,
)
from trackers.tweets.archive.models import (
    ArchiveFile,
    ArchiveMonth,
    CompanionFile,
    ErasedTweet,
    Installation,
)
from trackers.tweets.checkpoints.models import Checkpoint, CrossedAges, PackedCheckpoints
from trackers.tweets.gains.models import Changed, Gain, GainHead, GainPlaces
from trackers.tweets.models import (
    Author,
    PackedSamples,
    Sample,
    Tweet,
    TweetText,
    TweetVersion,
)
from trackers.tweets.newcomers import Newcomers, NewcomersReader
from trackers.tweets.presence import PresenceCount
from trackers.tweets.tags.models import Tag, TweetTag
from trackers.tweets.uncounted import Uncounted
from trackers.updater.models import TweetBucket, TweetUpdate

__all__ = [
    "AlertDigest",
    "AlertMail",
    "AlertMute",
    "AlertNotice",
    "AlertPicture",
    "AlertPlace",
    "AlertRule",
    "AlertsRead",
    "ApiToken",
    "ApiUse",
    "App",
    "ArchiveFile",
    "ArchiveMonth",
    "Arrival",
    "Attempt",
    "Author",
    "Benchmark",
    "BenchmarkAuthor",
    "BuiltHome",
    "BulkAct",
    "BulkPiece",
    "CacheEntry",
    "Changed",
    "Channel",
    "ChannelMessage",
    "Checkpoint",
    "ClockReading",
    "Column",
    "CompanionFile",
    "Credential",
    "CrossedAges",
    "Crossing",
    "DatabaseMinute",
    "DeliveryBucket",
    "DeliveryMark",
    "ErasedTweet",
    "Event",
    "EventBatch",
    "FeedAddress",
    "FeedState",
    "Finding",
    "Follow",
    "Follower",
    "ForecastDay",
    "ForecastHour",
    "ForecastOfProject",
    "Gain",
    "GainHead",
    "GainPlaces",
    "Gap",
    "Happening",
    "HappeningPlace",
    "HomeReads",
    "HomeRebuild",
    "HomeSettings",
    "IdempotencyKey",
    "Import",
    "ImportBucket",
    "ImportJob",
    "ImportPart",
    "Installation",
    "Interval",
    "LargeLeaderboard",
    "Leaderboard",
    "LiveEvents",
    "Milestone",
    "Newcomers",
    "NewcomersReader",
    "Note",
    "NotedTask",
    "Origin",
    "OverviewVisit",
    "OwnLimits",
    "PackedCheckpoints",
    "PackedSamples",
    "PausedAll",
    "PollBucket",
    "Preferences",
    "PresenceCount",
    "PrimaryBeat",
    "Project",
    "PushKey",
    "Queue",
    "QueueCounters",
    "QueueHour",
    "QueueMinute",
    "QueueStatistics",
    "QuietHours",
    "RebuildBucket",
    "RecentRise",
    "RejectedLine",
    "Replanning",
    "Rollup",
    "RollupQuarter",
    "Sample",
    "SavedView",
    "Score",
    "ScoreRise",
    "SearchCount",
    "Share",
    "Sharing",
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
    "TimeFormat",
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
    "Uncounted",
    "Window",
    "Worker",
    "WrongLogin",
]
