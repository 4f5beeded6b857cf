"""How the admin writes times: as the pages do, and always with their zone."""

from __future__ import annotations

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s e"
DATETIME_FORMAT = "Y-m-d H:i:s e"
SHORT_DATE_FORMAT = "Y-m-d"
SHORT_DATETIME_FORMAT = "Y-m-d H:i:s e"
