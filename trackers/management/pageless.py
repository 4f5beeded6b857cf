"""What commands that show no page have in common."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from tweetwatch.checks import INSTALLATION


class PagelessCommand(BaseCommand):
    # What an installation can get wrong, but not the code: `check` and `migrate` look at that.
    # Loading every page and form for it takes longer than all that most commands do.
    requires_system_checks = (INSTALLATION,)
