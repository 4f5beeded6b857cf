"""The names X accepts in a v2 lookup, in the order its 400s list them (recorded 2026-08).

Those that only its OpenAPI documents 2.166 and 2.167 have come last.
"""

from __future__ import annotations

TWEET_FIELDS = (
    "id",
    "text",
    "edit_history_tweet_ids",
    "withheld",
    "rest_id",
    "created_at",
    "author_id",
    "conversation_id",
    "in_reply_to_user_id",
    "referenced_tweets",
    "attachments",
    "lang",
    "possibly_sensitive",
    "paid_partnership",
    "reply_settings",
    "source",
    "display_text_range",
    "card_uri",
    "community_id",
    "note_tweet",
    "scopes",
    "username",
    "suggested_source_links",
    "suggested_source_links_with_counts",
    "matched_media_notes",
    "note_request_suggestions",
    "public_metrics",
    "context_annotations",
    "entities",
    "geo",
    "edit_controls",
    "media_metadata",
    "non_public_metrics",
    "organic_metrics",
    "promoted_metrics",
    "article",
)
_RENAMED = {
    "edit_history_tweet_ids": "edit_history_post_ids",
    "referenced_tweets": "referenced_posts",
    "note_tweet": "note_post",
}
POST_FIELDS = (*(_RENAMED.get(name, name) for name in TWEET_FIELDS), "article_title")
TWEET_NAMES = {post: tweet for tweet, post in _RENAMED.items()}
# By X's OpenAPI document 2.167 (2026-08-22) these are no fields any more, but come by themselves or
# as expansions.
NO_POST_FIELDS = frozenset(
    {
        "author_id",
        "edit_history_post_ids",
        "in_reply_to_user_id",
        "referenced_posts",
        "rest_id",
        "username",
    }
)

USER_FIELDS = (
    "affiliation",
    "confirmed_email",
    "connection_status",
    "created_at",
    "description",
    "entities",
    "id",
    "is_identity_verified",
    "location",
    "most_recent_tweet_id",
    "name",
    "parody",
    "pinned_tweet_id",
    "profile_banner_url",
    "profile_image_url",
    "protected",
    "public_metrics",
    "receives_your_dm",
    "subscription",
    "subscription_type",
    "url",
    "username",
    "verified",
    "verified_followers_count",
    "verified_type",
    "withheld",
    "subscribes_to_you",
)

MEDIA_FIELDS = (
    "alt_text",
    "duration_ms",
    "height",
    "media_key",
    "non_public_metrics",
    "organic_metrics",
    "preview_image_url",
    "promoted_metrics",
    "public_metrics",
    "type",
    "url",
    "variants",
    "width",
)
POLL_FIELDS = ("duration_minutes", "end_datetime", "id", "options", "voting_status")
PLACE_FIELDS = (
    "contained_within",
    "country",
    "country_code",
    "full_name",
    "geo",
    "id",
    "name",
    "place_type",
)

EXPANSIONS = (
    "article.cover_media",
    "article.media_entities",
    "attachments.media_keys",
    "attachments.media_source_tweet",
    "attachments.poll_ids",
    "author_id",
    "edit_history_tweet_ids",
    "edit_history_post_ids",
    "entities.mentions.username",
    "geo.place_id",
    "in_reply_to_user_id",
    "entities.note.mentions.username",
    "referenced_tweets.id",
    "referenced_tweets.id.author_id",
    "referenced_posts.id",
    "referenced_posts.id.author_id",
    "pinned_tweet_id",
    "most_recent_tweet_id",
    "affiliation.user_id",
    "referenced_tweets.id.attachments.media_keys",
    "affiliation",
    "most_recent_post_id",
    "pinned_post_id",
    "referenced_posts",
    "username",
)
# The fields of a post that are shown because they are expanded.
EXPANDED_FIELDS = {
    "author_id": "author_id",
    "in_reply_to_user_id": "in_reply_to_user_id",
    "referenced_posts": "referenced_tweets",
    "username": "username",
}

OTHER_PARAMETERS = (
    "expansions",
    "tweet.fields",
    "post.fields",
    "media.fields",
    "place.fields",
    "poll.fields",
    "user.fields",
)
