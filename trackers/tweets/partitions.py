"""The partitions of the recent samples, by the time of their last measurement."""

from __future__ import annotations

from datetime import timedelta

from tweetwatch.partitions import Partitioned

SAMPLES = Partitioned("trackers_sample", "measured_until", timedelta(hours=6))
