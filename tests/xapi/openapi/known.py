"""Where X itself, and so the fake, differs from its OpenAPI documents; and why we think so."""

from fnmatch import fnmatchcase

# By pattern of the version and of the line that `Document.differences` gives.
KNOWN = {
    "* GET /2/usage/credits is not in the document": "published on 2026-08-24, after 2.167",
    "2.167 GET /2/tweets/counts/recent: refuses OAuth2UserToken": "X's limits name apps only",
    "* POST /2/tweets/search/stream/rules 201: another status": "to new rules, as twarc knows",
    "2.166 GET /2/connections 200 data [*]: has id, *": "it is one of the connection.fields",
    "2.166 * 402 type: */2/problems/credits* is none *": "pay-per-use is younger (seen 2026-03)",
    "2.167 * type: */2/problems/* is none of the values": "it has 9 types, 2.166 has 18, and X all",
    "2.167 * type: about:blank is none of the values": "the same",
    # What explains a problem further.
    "2.167 * 400: has errors, *": "each complaint, by parameter (seen 2026-08)",
    "2.167 POST /2/tweets/search/stream/rules 200 errors [*]: has errors, *": "the same",
    "* POST /2/tweets/search/stream/rules 200 errors [*]: has details, value, *": "which, why",
    "2.167 POST /2/tweets/search/stream/rules 200 errors [*]: has id, value, *": "which",
    "2.167 * 4[02]9: has connection_issue, *": "as in 2.166",
    "2.167 * 200 errors [*]: has disconnect_type, *": "as in 2.166",
    "* 402: has account_id, *": "seen 2026-03 and 2026-07",
    "2.166 * 429: has account_id, product_name, *": "seen in public",
    "2.167 * 429: has account_id, period, product_name, scope, *": "seen; in part of 2.166",
    "2.166 * 403: has client_id, required_enrollment, *": "seen in public",
    "2.167 * 403: has client_id, *": "seen; in part of 2.166",
    # The stream has kept `tweet.fields`. Its posts are documented with the names of `post.fields`,
    # but what was asked for is what X sends (seen elsewhere; we read both).
    "2.167 GET /2/tweets/search/stream 200 data: has edit_history_tweet_ids, *": "see above",
    "2.167 GET /2/tweets/search/stream 200 * public_metrics: has [rt]*weet_count, *": "see above",
    "2.167 GET /2/tweets/search/stream 200 * public_metrics: is without *post_count": "see above",
    "2.167 GET /2/tweets/search/stream/rules 200 meta: has sent, *": "recorded in 2019 (corpus)",
}


def known_as(line, version):
    """The patterns that a difference is known by; none if it is not."""
    return [pattern for pattern in KNOWN if fnmatchcase(f"{version} {line}", pattern)]
