"""Authors in the API: what is usual for one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from trackers.api.wire.auth import VIEW_TWEETS, require_permission
from trackers.api.wire.fields import DigitsOut, KindName, MetricName, TimeOut, UnsignedId
from trackers.schedule.durations import spell
from trackers.scores.models import EVERY_KIND, Benchmark
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Author
from tweetwatch.clock_times import iso

router = Router(tags=["authors"])


class UsualOut(Schema):
    """What is usual at an age, by `posts` that were measured then; null: fewer than ten were."""

    age: str
    posts: int
    usual: float | None


class BenchmarkOut(Schema):
    """`kind`: of posts; null: all kinds. A kind with fewer than ten posts is left out."""

    kind: KindName | None
    made_at: TimeOut
    metrics: dict[MetricName, list[UsualOut]]


class BenchmarksOut(Schema):
    author: DigitsOut
    benchmarks: list[BenchmarkOut]


@router.get("/{account}/benchmarks", response=BenchmarksOut)
def read_benchmarks(request: HttpRequest, account: UnsignedId) -> dict[str, Any]:
    """What an author's posts usually have at each of eighteen ages: what scores divide by."""
    require_permission(request, VIEW_TWEETS)
    if not Author.objects.filter(pk=account).exists():
        raise LookupError(f"There is no author {account}.")
    rows = Benchmark.objects.filter(author_id=account).order_by("kind")
    return {"author": account, "benchmarks": [_benchmark_json(row) for row in rows]}


def _benchmark_json(row: Benchmark) -> dict[str, Any]:
    return {
        "kind": None if row.kind == EVERY_KIND else PostKind(row.kind).name.lower(),
        "made_at": iso(row.made_at),
        "metrics": {
            metric: [
                {"age": spell(age), "posts": posts, "usual": _to_cents(usual)}
                for age, posts, usual in zip(
                    AGES, row.posts[place], row.expected[place], strict=True
                )
            ]
            for place, metric in enumerate(METRICS)
        },
    }


def _to_cents(usual: float | None) -> float | None:
    return None if usual is None else round(usual, 2)
