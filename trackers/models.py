"""Index of the models of all parts. Inside trackers import from the part, never from here."""

from __future__ import annotations

from trackers.ingest.imports import Import, ImportJob, ImportPart, RejectedLine
from trackers.ingest.models import Gap, Source, SourcePoll, SourceTweet, Stream
from trackers.jobs.models import Namespace, Tally, Worker
from trackers.schedule.models import Interval
from trackers.tweets.models import Author, PackedSamples, Sample, Tweet, TweetText
from trackers.updater.models import IsolatedTweet, TweetUpdate
from trackers.xapi.models import Credential, Window
from trackers.xapi.projects import App, Project, Spending

__all__ = [
    "App",
    "Author",
    "Credential",
    "Gap",
    "Import",
    "ImportJob",
    "ImportPart",
    "Interval",
    "IsolatedTweet",
    "Namespace",
    "PackedSamples",
    "Project",
    "RejectedLine",
    "Sample",
    "Source",
    "SourcePoll",
    "SourceTweet",
    "Spending",
    "Stream",
    "Tally",
    "Tweet",
    "TweetText",
    "TweetUpdate",
    "Window",
    "Worker",
]
