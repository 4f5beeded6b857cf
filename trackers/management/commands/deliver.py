"""`manage.py deliver`: sends events to their subscribers, and messages of alerts to channels."""

from __future__ import annotations

import asyncio
import resource
import signal
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from fakex.arguments import whole
from trackers.channels.send import ChannelLoop, ChannelSettings
from trackers.events.delivery.deliver import Deliverer, Settings
from trackers.events.delivery.egress import Egress
from trackers.management.pageless import PagelessCommand
from tweetwatch.schema import wait_for_fitting_database

MAX_SLOTS = 20_000
# For the database, the log, DNS look-ups.
FILES_BESIDES = 600


class Command(PagelessCommand):
    help = (
        "Deliver events to subscribers, and alerts to channels. Any number of these processes can "
        "share the work, on any hosts. Ctrl-C stops it once the deliveries in progress have ended."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--slots",
            type=whole(1, MAX_SLOTS),
            default=2000,
            help="deliveries in progress at a time (2,000)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        wait_for_fitting_database()
        slots = options["slots"]
        _raise_file_limit(slots)
        uvloop.run(_deliver(_settings_with(slots)))


def _raise_file_limit(slots: int) -> None:
    """Each delivery needs a socket, and a login shell often allows only a thousand files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = slots + FILES_BESIDES
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CommandError(
            f"{slots:,} deliveries at a time need {needed:,} open files, and the system allows "
            f"{hard:,}: raise the limit (ulimit -n), or use fewer --slots."
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _settings_with(slots: int) -> Settings:
    return Settings(
        egress=Egress(settings.EGRESS_ALLOW, settings.EGRESS_PLAIN_HTTP, settings.EGRESS_CA_FILE),
        public_url=settings.PUBLIC_URL,
        connect=settings.BUS_CONNECT_TIMEOUT,
        total=settings.BUS_TOTAL_TIMEOUT,
        backoff_most=settings.BUS_BACKOFF_MOST,
        lease=settings.BUS_SCRUB_AFTER,
        slots=slots,
    )


def _settings_of_channels(delivery: Settings) -> ChannelSettings:
    return ChannelSettings(
        egress=delivery.egress,
        public_url=delivery.public_url,
        connect=delivery.connect,
        total=delivery.total,
        lease=delivery.lease,
    )


async def _deliver(delivery_settings: Settings) -> None:
    deliverer = Deliverer(delivery_settings)
    channels = ChannelLoop(_settings_of_channels(delivery_settings))
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        # A second signal ends it at once; deliveries under way are sent again later.
        loop.remove_signal_handler(number)
        deliverer.stop()
        channels.stop()

    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, end, name)
    # An error in one ends the other too: the supervisor then restarts the process.
    async with asyncio.TaskGroup() as both:
        both.create_task(deliverer.run())
        both.create_task(channels.run())
