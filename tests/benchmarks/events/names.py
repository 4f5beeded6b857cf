"""What is measured, by the names under which it is told and judged."""

from __future__ import annotations

PUBLISHED = "published in sets of 100 to 10"
SPREAD = "put into the batches of all 10"
DELIVERIES = "delivered to the 10, 100 in a batch"
SINGLE = "webhooks of one event each"
POSTED = "single posts over HTTP"
DELIVERED = "single posts over HTTP, delivered"
MEDIAN, P95 = (f"from publish to receive at 500 a second, {what}" for what in ("median", "p95"))
HANGING_SHARE = "a tenth hangs ÷ all well"
CELERY_ENQUEUED = "Celery: enqueued for 10"
CELERY_SINGLE = "Celery: webhooks of one event each"
# Milliseconds that a batch waits for company where the time is taken.
DEADLINE = 200
