"""LOG_FORMAT=json: each line is an object, with what is in hand, and without a secret."""

import json
import logging
import os
import subprocess
import sys
from io import StringIO

from tests.conftest import PROJECT
from trackers.management.pageless import PagelessCommand
from tweetwatch.log_lines import JSONLines, working_on


def line(*args, **given):
    record = logging.getLogger("trackers.x").makeRecord(
        "trackers.x", logging.WARNING, __file__, 1, *args, None, **given
    )
    return json.loads(JSONLines().format(record))


def test_a_log_line_is_a_json_object_with_the_given_fields():
    data = line("gave %d back", (7,), extra={"tweet_id": "123", "left": 2.5, "what": ["a"]})

    assert (data["level"], data["logger"], data["message"]) == (
        "warning",
        "trackers.x",
        "gave 7 back",
    )
    assert (data["tweet_id"], data["left"], data["what"]) == ("123", 2.5, "['a']")
    assert data["time"].endswith("+00:00")
    assert "args" not in data


def test_the_running_task_is_named_until_it_ends():
    with working_on(task="tweet:update", keys=3):
        with working_on(credential="main"):
            told = line("words", ())
        assert (told["task"], told["keys"], told["credential"]) == ("tweet:update", 3, "main")
        assert "credential" not in line("words", ())
    assert "task" not in line("words", ())


def test_secrets_of_any_origin_are_not_logged():
    try:
        raise ValueError("Authorization: Bearer abc.def/ghi=")
    except ValueError:
        fault = sys.exc_info()
    record = logging.makeLogRecord({
        "msg": "sent Bearer abc.def to /feeds/topsecret/home.atom", "exc_info": fault,
        "client_secret": "hidden", "access_token": "hidden", "Authorization": "hidden",
    })  # fmt: skip

    text = JSONLines().format(record)

    for secret in ("abc.def", "topsecret", "hidden", "ghi="):
        assert secret not in text
    assert json.loads(text)["message"] == "sent Bearer … to /feeds/…/home.atom"


def test_a_process_logs_json_when_configured():
    code = "import django; django.setup(); import logging; logging.getLogger('trackers').info('hi')"
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tweetwatch.settings", "LOG_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    [told] = [json.loads(one) for one in done.stderr.splitlines() if one.startswith("{")]
    assert (told["message"], told["level"]) == ("hi", "info")


def test_messages_of_long_running_commands_are_json_lines(settings, caplog):
    output = StringIO()
    command = PagelessCommand(stderr=output)

    command.announce("stream: connected")
    settings.LOG_FORMAT = "json"
    with caplog.at_level("INFO", "trackers"):
        command.announce("stream: ended")

    assert output.getvalue() == "stream: connected\n"
    assert caplog.messages == ["stream: ended"]
