"""What gunicorn reads when it is started here, as by the README's line."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger

# Nobody in front of it says below which path it is served: by this header anybody on the same
# machine could move every address, past what a proxy lets through.
forwarder_headers = ""
# As much as gunicorn can, and nginx: a list of ids is part of an address (docs/api.md).
limit_request_line = 8190


class Quiet(Logger):
    """Probes come every few seconds, and would be most of the log."""

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        if req.path not in ("/healthz", "/readyz"):
            super().access(resp, req, environ, request_time)


logger_class = Quiet
