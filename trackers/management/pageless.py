"""What commands that show no page have in common."""

from __future__ import annotations

import logging
import sys

from django.conf import settings
from django.core.management.base import BaseCommand

from tweetwatch.checks import INSTALLATION

logger = logging.getLogger(__name__)


class PagelessCommand(BaseCommand):
    # What an installation can get wrong, but not the code: `check` looks at that.
    # Loading every page and form for it takes longer than all that most commands do.
    requires_system_checks = (INSTALLATION,)

    def announce(self, sentence: str) -> None:
        """What a command that runs for good says meanwhile; for programs, a log line as all are."""
        if settings.LOG_FORMAT == "json":
            logger.info("%s", sentence)
        else:
            self.stderr.write(sentence, lambda text: text)
            sys.stderr.flush()
