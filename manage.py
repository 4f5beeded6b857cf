#!/usr/bin/env python
"""Django's command line for tweetwatch."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    from django.core.management import execute_from_command_line

    from tweetwatch.embedded import EmbeddedPostgresError

    try:
        execute_from_command_line(sys.argv)
    except EmbeddedPostgresError as error:
        # It says what, where and what to do; where in the code says nothing more.
        sys.exit(str(error))


if __name__ == "__main__":
    main()
