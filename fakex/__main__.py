"""`python -m fakex`: the fake X without Django."""

from __future__ import annotations

from argparse import ArgumentParser

from fakex.options import add_options, run

if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m fakex", description="Serve a fake X API.")
    add_options(parser)
    try:
        run(vars(parser.parse_args()))
    except KeyboardInterrupt:
        # Before it listens; from then on SIGINT is its own.
        raise SystemExit(130) from None
