"""Many workers on few credentials: never one request over a window, and the windows well used."""

import os
import time

import pytest

from tests.flows.conftest import wait_until
from tests.flows.lag import Lag

pytestmark = [pytest.mark.django_db, pytest.mark.alone]

# The short form; the long one is 180 seconds, and for fixed rows 4 clusters of 8 workers.
SECONDS = int(os.environ.get("WINDOWS_SECONDS", "40"))
LONG = SECONDS >= 180
FIXED, ADAPTS = "60d=1s", "60d=1s..60s@5%"
LIMIT, WINDOW = 60, 8.0
# So many steps of the last requests of a window wait when the machine is busy.
STEPS = 10


def windows_of(times):
    """How many requests fell into each window, which begins with its first request, and the seconds
    from its end until the next one began. Without the last window, which may not have ended."""
    counts, idle, ends = [], [], 0.0
    for at in sorted(times):
        if at >= ends:
            if counts:
                idle.append(at - ends)
            counts.append(0)
            ends = at + WINDOW
        counts[-1] += 1
    return counts[:-1], idle


def full_windows(x):
    """The requests of each window that has ended, and the seconds until the next, by token."""
    times = {}
    for entry in x.log():
        if entry["endpoint"] == "GET /2/tweets":
            times.setdefault(entry["token"], []).append(entry["at_ms"] / 1000)
    return {token: windows_of(seen) for token, seen in times.items()}


@pytest.mark.parametrize(
    ("row", "workers"),
    [
        pytest.param(FIXED, (8, 8, 8, 8) if LONG else (4, 4), id="fixed"),
        pytest.param(ADAPTS, (1,), id="adapting, 1 worker"),
        pytest.param(ADAPTS, (16,), id="adapting, 16 workers"),
    ],
)
def test_requests_use_up_the_windows_and_never_exceed_them(product, row, workers):
    tokens = [f"token-{number}" for number in range(3)]
    # In the short form other tests keep the processors busy: two clusters then send 10 to 15
    # requests a second, a single worker fewer.
    limit = LIMIT if LONG else LIMIT // (3 if sum(workers) > 1 else 6)
    product.x.put("limits", {"GET /2/tweets": {"token": limit, "app": 1_000_000, "window": WINDOW}})
    for token in tokens:
        product.give_credential(token, secret=token)
    product.call("interval", "set", row, "--yes")
    product.track(product.x.ids(40_000))
    product.sql("UPDATE trackers_tweetbucket SET due_at = now() + interval '1 hour'")
    if row == FIXED and not LONG:
        # All that is done by the minute is first due at once, and keeps every worker busy for
        # seconds: half of such a window, but next to nothing of X's windows, which last 900.
        product.sql("UPDATE django_q_schedule SET next_run = now() + interval '1 hour'")

    seconds = SECONDS if LONG or row == FIXED else SECONDS // 2
    clusters = [product.start_cluster(workers=each) for each in workers]
    # On two cores a dozen processes take longer to start than a window lasts: all that are to use
    # the windows are there before the first one begins.
    product.wait_for("worker", sum(workers))
    product.sql("UPDATE trackers_tweetbucket SET due_at = now()")
    wait_until(product.x.log, what="a first request")
    enough = 3 * (seconds / (WINDOW + 4) - 1)
    with Lag(product.connect) as lag:
        time.sleep(seconds)
        # A busy machine needs longer for as many windows; how full they are is asked below.
        wait_until(
            lambda: sum(len(used) for used, _ in full_windows(product.x).values()) >= enough,
            what="windows that have ended",
        )
    # Before the clusters stop, one after the other, and the last of them alone uses the windows.
    windows = full_windows(product.x)
    assert [product.stop(cluster) for cluster in clusters] == [0] * len(workers)

    totals = product.x.get("totals")
    used = [count for counts, _ in windows.values() for count in counts]
    seen = f"requests in each window, and idle seconds after it: {windows}, lag: {lag.mean():.3f} s"
    print(f"\n{seen}, over: {totals['over_window']}")
    assert totals["over_window"] == 0
    assert len(windows) == len(tokens)
    # Waits that adapt are stretched until the looks fill less.
    full = 0.98 if row == FIXED else 0.5
    assert sum(used) / (len(used) * limit) >= full - STEPS * lag.mean() / WINDOW, seen
    assert product.value("SELECT max(strikes) FROM trackers_tweetbucket") == 0
