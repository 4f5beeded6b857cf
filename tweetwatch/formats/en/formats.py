"""How the admin writes times: as the pages do, and always with their zone."""

from __future__ import annotations

_DATE_FORMAT = "Y-m-d"
_TIME_FORMAT = "H:i:s e"
_DATETIME_FORMAT = "Y-m-d H:i:s e"
_SHORT_DATE_FORMAT = "Y-m-d"
_SHORT_DATETIME_FORMAT = "Y-m-d H:i:s e"
