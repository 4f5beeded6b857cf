"""What the pages' process does before its first request, so that no request waits for it."""

import json
import os
import subprocess
import sys

from tests.conftest import PROJECT

START = """
import gc, json, sys
import tweetwatch.wsgi
loaded = set(sys.modules)
passes = {0: 0, 1: 0, 2: 0}
def count(phase, told):
    passes[told["generation"]] += phase == "start"
gc.callbacks.append(count)
# As many as a page of 10,000 samples makes.
rows = [[(number, str(number)), {"at": [number]}] for number in range(10_000)]
gc.callbacks.clear()
from django.urls import get_resolver
everything = [pattern.pattern for pattern in get_resolver().url_patterns]
print(json.dumps({
    "looked_through": len(gc.get_objects()) - 4 * len(rows), "spared": gc.get_freeze_count(),
    "passes": passes, "loaded_later": len(set(sys.modules) - loaded),
}))
"""


def test_no_request_collects_garbage_of_preloaded_objects():
    done = subprocess.run(
        [sys.executable, "-c", START],
        cwd=PROJECT,
        env={**os.environ, "HTTPS": "false"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    data = json.loads(done.stdout.splitlines()[-1])

    assert data["spared"] > 50_000
    assert data["looked_through"] < 5_000
    # 40,000 objects: one look at the new ones for each 10,000.
    assert data["passes"]["0"] <= 5
    assert data["passes"]["2"] == 0
    assert data["loaded_later"] == 0
