"""What the product keeps to compare tweets and sets by, beside a plain recount."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field

from tests.conftest import PROJECT


@dataclass(frozen=True, slots=True)
class Recounted:
    """How many are kept, and each that is not as the samples and tweets say."""

    checkpoints: int
    rollups: int
    wrong_checkpoints: list[str] = field(default_factory=list)
    wrong_rollups: list[str] = field(default_factory=list)


def recount(ground) -> Recounted:
    """When everybody else has stopped."""
    with (ground.directory / "recount.log").open("ab") as log:
        done = subprocess.run(
            [sys.executable, "-m", "tests.chaos.recount_process"],
            cwd=PROJECT,
            env=ground.environment | ground.reached("tweetwatch"),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            check=True,
        )
    return Recounted(**json.loads(done.stdout.splitlines()[-1]))
