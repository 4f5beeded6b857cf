"""The name under which a file is sent."""

import re
from datetime import UTC, date, datetime, timedelta


def undated_name(answer):
    """Without the day, which is today in UTC, or was when the file was asked for."""
    match = re.fullmatch(
        r'attachment; filename="(.+)-(\d{4}-\d\d-\d\d)(\.\w+)"', answer["Content-Disposition"]
    )
    assert match, answer["Content-Disposition"]
    assert datetime.now(UTC).date() - date.fromisoformat(match[2]) <= timedelta(days=1)
    return match[1] + match[3]
