"""The leak experiment as a process of its own, on the database of DATABASE_URL: prints JSON.

Given: the URL of the fake X, how many posts, and by how many seconds X's clock is ahead.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import django


def main() -> None:
    django.setup()
    from tests.benchmarks.leaks.run import experiment

    url, posts, skew_s = sys.argv[1:]
    print(json.dumps(asdict(experiment(url, posts=int(posts), skew_s=float(skew_s)))), flush=True)


if __name__ == "__main__":
    main()
