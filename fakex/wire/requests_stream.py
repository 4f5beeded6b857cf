"""What X complains of in requests about rules of the stream, and about its connections.

Only refused here: what they ask for is read where it is answered. By OpenAPI 2.166 and 2.167.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import parse_qsl

from fakex.endpoints import CHANGE_RULES, CONNECTIONS, END_CONNECTIONS, RULE_COUNTS, RULES
from fakex.wire.requests_v2 import ID, Complaint

# tweepy sends Python's words.
_YES_OR_NO = frozenset({"true", "false", "True", "False"})
# A parameter has values that are named, or a pattern, or is a number of at most so many.
_Rule = Collection[str] | re.Pattern[str] | int
_PARAMETERS: dict[str, dict[str, _Rule]] = {
    RULES: {"ids": ID, "max_results": 1000, "pagination_token": re.compile(r".{16}\Z")},
    CHANGE_RULES: {"dry_run": _YES_OR_NO, "delete_all": _YES_OR_NO},
    CONNECTIONS: {
        "status": ("active", "inactive", "all"),
        "endpoints": (
            "filtered_stream",
            "sample_stream",
            "sample10_stream",
            "firehose_stream",
            "tweets_compliance_stream",
            "users_compliance_stream",
            "tweet_label_stream",
            "firehose_stream_lang_en",
            "firehose_stream_lang_ja",
            "firehose_stream_lang_ko",
            "firehose_stream_lang_pt",
            "likes_firehose_stream",
            "likes_sample10_stream",
            "likes_compliance_stream",
        ),
        "max_results": 100,
        "pagination_token": re.compile(r".+\Z"),
        "connection.fields": (
            "client_ip",
            "connected_at",
            "disconnect_reason",
            "disconnected_at",
            "endpoint_name",
            "id",
        ),
    },
    END_CONNECTIONS: {},
    RULE_COUNTS: {
        "rules_count.fields": (
            "all_project_client_apps",
            "cap_per_client_app",
            "cap_per_project",
            "client_app_rules_count",
            "project_rules_count",
        ),
    },
}
_LISTS = frozenset({"ids", "endpoints", "connection.fields", "rules_count.fields"})
_MOST_LISTED = 1000


def complaints_about(endpoint: str, query: str) -> list[Complaint]:
    """All that X would complain of; of endpoints that are not here, nothing."""
    known = _PARAMETERS.get(endpoint)
    if known is None:
        return []
    complaints: list[Complaint] = []
    for name, text in parse_qsl(query, keep_blank_values=True):
        values = text.split(",") if name in _LISTS else [text]
        about = f"The `{name}` query parameter value [{text}] is not"
        if name not in known:
            message = f"The query parameter [{name}] is not one of [{','.join(known)}]"
            complaints.append((name, values, message))
        elif len(values) > _MOST_LISTED or not all(_fits(one, known[name]) for one in values):
            complaints.append((name, values, f"{about} valid"))
    return complaints


def _fits(value: str, rule: _Rule) -> bool:
    if isinstance(rule, int):
        return value.isascii() and value.isdigit() and 1 <= int(value) <= rule
    if isinstance(rule, re.Pattern):
        return rule.match(value) is not None
    return value in rule
