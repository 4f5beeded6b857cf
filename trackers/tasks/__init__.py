"""The only room where stages meet: the cluster calls these functions by dotted name.

A task loads, calls one stage, and says what follows. Settings enter here and are passed down.
Schedules and queues in the database name them as trackers.tasks.<name>, whatever the module.
"""

from __future__ import annotations

from trackers.tasks.batches import (
    deliver_arrivals,
    import_part,
    poll_batch,
    poll_source,
    polling,
    rebuild_homes,
    update_tweets,
)
from trackers.tasks.by_the_minute import (
    alert_people,
    ask_authors,
    forecast_days,
    make_partitions,
    pack_samples,
    ration_money,
    record_statistics,
    send_mail,
    send_password_link,
    stretch_intervals,
    tend_subscribers,
    update_gains,
    vacuum_queues,
    watch_replanning,
)
from trackers.tasks.hourly import (
    audit_books,
    audit_queues,
    compare_usage,
    drop_idle_homes,
    expire_timelines,
    prune_alerts,
    prune_counters,
    prune_crossings,
    prune_events,
    prune_failed_tasks,
    prune_gaps,
    prune_sessions,
    prune_silent_workers,
    prune_uploads,
    prune_yields,
    retire_samples,
    sweep_tags,
)
from trackers.tasks.in_pieces import (
    go_on_replanning,
    go_on_with_bulk_act,
)

__all__ = [
    "alert_people",
    "ask_authors",
    "audit_books",
    "audit_queues",
    "compare_usage",
    "deliver_arrivals",
    "drop_idle_homes",
    "expire_timelines",
    "forecast_days",
    "go_on_replanning",
    "go_on_with_bulk_act",
    "import_part",
    "make_partitions",
    "pack_samples",
    "poll_batch",
    "poll_source",
    "polling",
    "prune_alerts",
    "prune_counters",
    "prune_crossings",
    "prune_events",
    "prune_failed_tasks",
    "prune_gaps",
    "prune_sessions",
    "prune_silent_workers",
    "prune_uploads",
    "prune_yields",
    "ration_money",
    "rebuild_homes",
    "record_statistics",
    "retire_samples",
    "send_mail",
    "send_password_link",
    "stretch_intervals",
    "sweep_tags",
    "tend_subscribers",
    "update_gains",
    "update_tweets",
    "vacuum_queues",
    "watch_replanning",
]
