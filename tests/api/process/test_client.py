"""docs/tweetwatch_client.py, which people copy: each of its calls, against a server."""

import importlib.util
import io
import json
import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from tests.api.conftest import token_of
from tests.conftest import PROJECT
from tests.factories import TweetFactory
from trackers.schedule.models import Interval
from trackers.tokens.models import ApiUse, IdempotencyKey
from trackers.tweets.models import Tweet

FILE = PROJECT / "docs" / "tweetwatch_client.py"


@pytest.fixture(scope="module")
def client_file():
    spec = importlib.util.spec_from_file_location("tweetwatch_client", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def watch(client_file, live_server):
    token = token_of(User.objects.create_superuser("ada"))
    return client_file.Tweetwatch(live_server.url, token, patience=0)


def test_the_documented_client_works(watch, client_file, settings):
    told = watch.track(["1", "https://x.com/nasa/status/2", "words"])
    assert [one["outcome"] for one in told] == ["tracked", "tracked", "rejected"]
    TweetFactory(id=3, measured=True, likes=7)
    assert [one["id"] for one in watch.tweets()] == ["3", "2", "1"]
    assert [one["id"] for one in watch.tweets(min_likes=7, state="resting")] == ["3"]
    with pytest.raises(client_file.ApiError, match="400: lang: "):
        next(watch.tweets(lang="english"))
    compared = watch.compare(["3", "2"], ages=["15m"])
    assert [(one["tweet"]["id"], one["at"][0]["age"]) for one in compared] == [
        ("3", "15m"), ("2", "15m"),
    ]  # fmt: skip
    file = io.BytesIO()
    watch.export(file, "csv", min_likes=7)
    assert file.getvalue().splitlines()[1].startswith(b"3,https://x.com/")
    file = io.BytesIO()
    watch.dump("samples", file, ids=["3"])
    assert json.loads(file.getvalue())["likes"] == 7
    # More than fit into one address; the names of the columns come once.
    file = io.BytesIO()
    watch.dump("tweets", file, "csv", ids=["2", *map(str, range(100, 500)), "3"])
    assert [line.split(b",")[0] for line in file.getvalue().splitlines()] == [
        b"tweet_id", b"2", b"3",
    ]  # fmt: skip
    assert [one["likes"] for one in watch.history("3")] == [7]
    assert [one["likes"] for one in watch.history("3", bucket="1h")] == [7]
    assert watch.tweet("3")["likes"] == 7
    assert watch.leaderboard("likes") == []
    assert watch.act("untrack", ["1", "9"]) == 1
    assert Tweet.objects.count() == 2
    # Each POST had a key of its own.
    assert IdempotencyKey.objects.count() == 2

    source = watch.add_source("account", "@nasa", every="10m")
    assert watch.change_source(source["id"], pages=3)["pages"] == 3
    assert [one["name"] for one in watch.sources()] == ["@nasa's posts"]
    watch.remove_source(source["id"])
    assert list(watch.sources()) == []

    before = watch.intervals()
    assert watch.replace_intervals(before) == before
    Interval.objects.update(every=F("every") + timedelta(seconds=1))
    with pytest.raises(client_file.ApiError, match="412: The intervals have changed"):
        watch.replace_intervals(before)

    assert "tweet:update" in [one["name"] for one in watch.queues()]
    assert (watch.workers(), watch.credentials(), watch.budgets()) == ([], [], [])

    with pytest.raises(client_file.ApiError) as refused:
        watch.tweet("9")
    assert (refused.value.status, refused.value.problem["detail"]) == (
        404,
        "Tweet 9 is not tracked.",
    )
    settings.API_RATE_LIMIT = ApiUse.objects.get().used
    with pytest.raises(client_file.ApiError, match="429: This token has made"):
        watch.queues()


def test_the_types_of_the_client_are_right():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(FILE)],
        cwd=PROJECT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
