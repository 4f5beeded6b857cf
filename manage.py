#!/usr/bin/env python
"""Django's command line for tweetwatch."""

from __future__ import annotations

import os
import sys


def main() -> None:
    # Until a command runs there is nothing to tidy up, and no import to be cut in half.
    from tweetwatch.interrupts import exit_on_interrupt

    exit_on_interrupt()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    from tweetwatch.command_line import run_command

    sys.exit(run_command(sys.argv))


if __name__ == "__main__":
    main()
