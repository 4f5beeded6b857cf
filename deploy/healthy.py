"""Ends with 0 if the address answers with 200 within three seconds."""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

where = urlsplit(sys.argv[1])
connection = http.client.HTTPConnection(where.netloc, timeout=3)
try:
    # As from a proxy that speaks TLS, so that it is not redirected.
    connection.request("GET", where.path, headers={"X-Forwarded-Proto": "https"})
    status = connection.getresponse().status
except OSError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
sys.exit(0 if status == 200 else f"{sys.argv[1]}: {status}")
