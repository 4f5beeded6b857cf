"""What commands that show no page have in common."""

from __future__ import annotations

import json
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from tweetwatch.checks import INSTALLATION
from tweetwatch.command_line import EXIT_USAGE

logger = logging.getLogger(__name__)


class PagelessCommand(BaseCommand):
    # What an installation can get wrong, but not the code: `check` looks at that.
    # Loading every page and form for it takes longer than all that most commands do.
    requires_system_checks = (INSTALLATION,)
    # Whether a program reads the output: the option --json.
    as_json = False

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.as_json = options.get("json", False)
        return super().execute(*args, **options)

    def show(self, result: Mapping[str, Any], sentence: str) -> None:
        """Print what came of it: for a program, or for people."""
        self.stdout.write(json.dumps(result) if self.as_json else sentence)

    def say(self, sentence: str) -> None:
        """For people, beside the result."""
        self.stderr.write(sentence, lambda text: text)

    def announce(self, sentence: str) -> None:
        """What a command that runs for good says meanwhile; for programs, a log line as all are."""
        if settings.LOG_FORMAT == "json":
            logger.info("%s", sentence)
        else:
            self.say(sentence)
            sys.stderr.flush()


# Called with the name of an action, and its `help`; returns where its arguments go.
AddAction = Callable[..., ArgumentParser]


class ActionsCommand(PagelessCommand):
    """A command with actions: `manage.py source pause …` is carried out by `do_pause`.

    What a ValidationError says was wrong with what was typed.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        self.add_actions(actions.add_parser)
        for action in actions.choices.values():
            action.add_argument("--json", action="store_true", help="print JSON Lines")

    def add_actions(self, add_action: AddAction) -> None:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action'].replace('-', '_')}")(options)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages), returncode=EXIT_USAGE) from None
