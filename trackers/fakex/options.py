"""The command line of the fake, shared by `python -m trackers.fakex` and `manage.py fakex`."""

from __future__ import annotations

import gc
import ssl
from argparse import ArgumentParser
from typing import Any

import uvloop

from trackers.fakex.control.posts import MOST_POSTS, read_flow
from trackers.fakex.server import serve
from trackers.fakex.settings import Settings
from trackers.fakex.world.clock import Clock, real_ms
from trackers.fakex.world.ids import Ids
from trackers.fakex.world.seeded import World
from trackers.fakex.x import X

TWEETS_AT_FIRST = 10_000


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=9100, help="0 takes any free port")
    parser.add_argument("--seed", type=int, default=1, help="which world")
    parser.add_argument("--tweets", type=int, default=TWEETS_AT_FIRST, help="tweets enumerated")
    parser.add_argument("--clock-speed", type=float, default=1.0, help="world seconds a second")
    parser.add_argument("--start", type=int, default=None, help="epoch ms of its start; now")
    parser.add_argument(
        "--posts", type=float, default=0.0, help="posts a second that appear from the start on"
    )
    parser.add_argument("--ahead", type=float, default=0.0, help="seconds its clock is ahead")
    parser.add_argument("--tls", metavar="FILE", help="speak TLS: a PEM file, the key first")
    parser.add_argument(
        "--keep", type=int, default=Settings().keep, help="tweets held ready, some 1.2 kB each"
    )


def run(options: dict[str, Any]) -> None:
    """Serve the world that the options describe until asked to stop."""
    if options["clock_speed"] <= 0:
        raise SystemExit("--clock-speed must be above 0")
    if options["posts"] < 0:
        raise SystemExit("--posts must be 0 or more")
    tls = None
    if options["tls"]:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(options["tls"])
    ahead_ms = round(1000 * options["ahead"])
    start_ms = options["start"] if options["start"] is not None else real_ms() + ahead_ms
    world = World(
        seed=options["seed"],
        ids=Ids(seed=options["seed"], tweets=options["tweets"], start_ms=start_ms),
        clock=Clock(start_ms=start_ms, speed=options["clock_speed"], ahead_ms=ahead_ms),
    )
    if options["posts"]:
        given = {"rate": options["posts"], "count": MOST_POSTS}
        flow = read_flow(given, world, number=0, now_ms=world.clock.now_ms())
        world = world.with_flows(world.flows.with_flow(flow))
    # A look-up makes hundreds of short-lived objects and no cycles. A collection at every 700 of
    # them, over all the tweets held ready, would take a third of the time.
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)
    x = X(world, Settings(keep=options["keep"]))
    uvloop.run(serve(x, host=options["host"], port=options["port"], tls=tls))
