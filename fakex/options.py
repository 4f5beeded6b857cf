"""The command line of the fake, shared by `python -m fakex` and `manage.py fakex`."""

from __future__ import annotations

import gc
import ssl
from argparse import ArgumentParser
from typing import Any

import uvloop

from fakex.arguments import number, port, whole
from fakex.control.posts import MOST_A_SECOND, MOST_POSTS, read_flow
from fakex.server import serve
from fakex.settings import Settings
from fakex.world.clock import Clock, real_ms
from fakex.world.ids import Ids
from fakex.world.seeded import World
from fakex.x import X

_TWEETS_AT_FIRST = 10_000
MOST_TWEETS = 1_000_000_000
_CENTURY_S = 3.2e9
# The year 2286.
_MOST_MS = 10**13


def add_options(parser: ArgumentParser) -> None:
    some = whole(0, MOST_TWEETS)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=port, default=9100, help="0 takes any free port")
    parser.add_argument("--seed", type=int, default=1, help="which world")
    parser.add_argument("--tweets", type=some, default=_TWEETS_AT_FIRST, help="tweets enumerated")
    parser.add_argument(
        "--clock-speed", type=number(0, 1e6, above=True), default=1.0, help="world seconds a second"
    )
    parser.add_argument(
        "--start", type=whole(0, _MOST_MS), default=None, help="epoch ms of its start; now"
    )
    parser.add_argument(
        "--posts",
        type=number(0, MOST_A_SECOND),
        default=0.0,
        help="posts a second that appear from the start on",
    )
    parser.add_argument(
        "--ahead",
        type=number(-_CENTURY_S, _CENTURY_S),
        default=0.0,
        help="seconds its clock is ahead",
    )
    parser.add_argument("--tls", metavar="FILE", help="speak TLS: a PEM file, the key first")
    parser.add_argument(
        "--keep", type=some, default=Settings().keep, help="tweets held ready, some 1.2 kB each"
    )


def run(options: dict[str, Any]) -> None:
    """Serve the world that the options describe until told to stop; SystemExit with a sentence
    if that is not possible."""
    tls = _speaking_tls(options["tls"]) if options["tls"] else None
    ahead_ms = round(1000 * options["ahead"])
    start_ms = options["start"] if options["start"] is not None else real_ms() + ahead_ms
    world = World(
        seed=options["seed"],
        ids=Ids(seed=options["seed"], tweets=options["tweets"], start_ms=start_ms),
        clock=Clock(start_ms=start_ms, speed=options["clock_speed"], ahead_ms=ahead_ms),
    )
    if options["posts"]:
        params = {"rate": options["posts"], "count": MOST_POSTS}
        flow = read_flow(params, world, number=0, now_ms=world.clock.now_ms())
        world = world.with_flows(world.flows.with_flow(flow))
    # A look-up creates hundreds of short-lived objects, without cycles. A collection after every
    # 700 of them, over all the tweets held ready, would take a third of the time.
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)
    x = X(world, Settings(keep=options["keep"]))
    host, port = options["host"], options["port"]
    try:
        uvloop.run(serve(x, host=host, port=port, tls=tls))
    except OSError as error:
        raise SystemExit(
            f"The fake X cannot listen on {host}, port {port}: {error.strerror or error}. "
            "Choose another --port, or 0 for any free one."
        ) from None


def _speaking_tls(pem: str) -> ssl.SSLContext:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        tls.load_cert_chain(pem)
    except OSError as error:
        # SSLError is a subclass of it.
        raise SystemExit(
            f"--tls {pem} cannot be used ({error.strerror or error}): it is to be a PEM file, the "
            "key first, then the certificate."
        ) from None
    return tls
