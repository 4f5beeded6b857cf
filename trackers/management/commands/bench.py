"""`manage.py bench`: measures how fast this machine runs it; the benches are in tests/."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

FULL_LENGTH = 5.0
WITHOUT_TESTS = (
    "The benches are in tests/benchmarks, which is not here ({error}): they come with the "
    "sources, not with an installed package. Run this in a checkout of the project."
)
WITHOUT_PACKAGES = (
    "The benches need the packages of the tests ({error}). Install them: "
    "{python} -m pip install -r requirements-dev.txt"
)


class Command(BaseCommand):
    help = "Benchmark tweetwatch on this machine, in temporary databases. `all` takes over an hour."
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", nargs="*", help="which benches to run, or all; without a name, list them"
        )
        parser.add_argument(
            "--minutes",
            type=float,
            default=FULL_LENGTH,
            help=f"length of `pipeline`; the others scale with it (default {FULL_LENGTH:g})",
        )
        parser.add_argument(
            "--tweets", type=int, help="tweets in place of a million; other numbers scale with it"
        )
        parser.add_argument(
            "--workers", type=int, help="workers of `pipeline`; by default two per core"
        )
        parser.add_argument(
            "--ten-million", action="store_true", help="run `scale` with up to 10 million tweets"
        )
        parser.add_argument("--pictures", type=Path, help="folder for the charts of `timelines`")
        parser.add_argument(
            "--keep",
            action="store_true",
            help="keep the database of `screens`, and use it again if it is there",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--check", action="store_true", help="exit with status 1 if a target is missed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        registry = _benches("registry")
        if not options["name"]:
            for name, measures in registry.measures().items():
                self.stdout.write(f"{name:10} {measures}")
            return
        # SIGINT too: a shell without job control makes its background processes ignore it.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        wanted = self.wanted(options["name"], registry.names())
        size = registry.Size(
            scale=options["minutes"] / FULL_LENGTH,
            tweets=options["tweets"],
            chosen_workers=options["workers"],
            ten_million=options["ten_million"],
        )
        chosen = list(registry.chosen(wanted))
        machine = registry.describe()
        self.announce(chosen, machine, size.scale)
        shop = registry.workshop(
            size, self.say, pictures=options["pictures"], keeps=options["keep"]
        )
        results = self.run_all(chosen, shop)
        if options["json"]:
            report = {
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": machine,
                "minutes": options["minutes"],
                "tweets": options["tweets"],
                "benches": [result.to_dict() for result in results],
                "met": all(result.met for result in results),
            }
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        if options["check"] and not all(result.met for result in results):
            sys.exit(1)

    def wanted(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        unknown = sorted(set(names) - {"all", *known})
        if unknown:
            raise CommandError(
                f"There is no bench {', '.join(unknown)}; there are: {', '.join(known)}, all.",
                returncode=2,
            )
        return [name for name in known if name in names or "all" in names]

    def announce(self, chosen: Sequence[Any], machine: dict[str, Any], scale: float) -> None:
        self.say(
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
            f"PostgreSQL {machine['postgres']}, load {machine['load']}"
        )
        self.say(", ".join(f"{name} {value}" for name, value in machine["settings"].items()))
        for bench in chosen:
            self.say(f"{bench.name}: {bench.measures}")
        minutes = sum(bench.besides + bench.minutes * scale for bench in chosen)
        self.say(f"This will take about {minutes:.0f} minutes.")

    def run_all(self, chosen: Sequence[Any], workshop: AbstractContextManager[Any]) -> list[Any]:
        try:
            with workshop as shop:
                return [self.run(bench, shop) for bench in chosen]
        except KeyboardInterrupt:
            raise CommandError("Interrupted. Everything it started has been stopped.") from None

    def run(self, bench: Any, shop: Any) -> Any:
        begun = time.monotonic()
        result = bench.run(shop)
        for line in _benches("table").lines(result):
            self.stderr.write(line)
        self.say(f"{bench.name} took {(time.monotonic() - begun) / 60:.1f} minutes")
        return result

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence)
        self.stderr.flush()


def _benches(part: str) -> Any:
    """A module of the benches, which are outside the package."""
    if str(settings.BASE_DIR) not in sys.path:
        sys.path.insert(0, str(settings.BASE_DIR))
    try:
        return importlib.import_module(f"tests.benchmarks.{part}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "tests":
            raise CommandError(WITHOUT_TESTS.format(error=error)) from None
        if package in {"fakex", "trackers", "tweetwatch"}:
            raise
        raise CommandError(WITHOUT_PACKAGES.format(error=error, python=sys.executable)) from None


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
