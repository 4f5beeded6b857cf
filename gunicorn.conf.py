"""What gunicorn reads when it is started here, as by the README's line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

# Nobody in front of it says below which path it is served: by this header anybody on the same
# machine could move every address, past what a proxy lets through.
forwarder_headers = ""
# As much as gunicorn can, and nginx: a list of ids is part of an address (docs/api.md).
limit_request_line = 8190


def log_format() -> str:
    """LOG_FORMAT as the settings have it. They are not read here: in the first process they would
    stay as they were, and a reload would not find what was changed in .env."""
    if given := os.environ.get("LOG_FORMAT"):
        return given.lower()
    try:
        text = Path(__file__).with_name(".env").read_text()
    except OSError:
        return "text"
    found = re.findall(r"^LOG_FORMAT=[\"']?(\w+)", text, re.MULTILINE)
    return found[-1].lower() if found else "text"


class Quiet(Logger):
    """Probes come every few seconds, and would be most of the log."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        if log_format() == "json":
            # Here, because the folder is not yet a place for imports when this file is read.
            from tweetwatch.log_lines import JSONLines

            for handler in (*self.error_log.handlers, *self.access_log.handlers):
                handler.setFormatter(JSONLines())

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        if req.path not in ("/healthz", "/readyz"):
            super().access(resp, req, environ, request_time)


logger_class = Quiet
# Threads, and none of them for what has not arrived; the command line may name their number.
worker_class = "tweetwatch.http.arriving.ArrivalWorker"
threads = 8
# Per process; most systems allow it a thousand open files. Whoever is beyond it makes room.
worker_connections = 500
