"""The names X accepts in a v2 lookup, in the order its 400s list them (recorded 2026-08)."""

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
POST_FIELDS = tuple(_RENAMED.get(name, name) for name in TWEET_FIELDS)
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
)

OTHER_PARAMETERS = (
    "expansions",
    "tweet.fields",
    "post.fields",
    "media.fields",
    "place.fields",
    "poll.fields",
    "user.fields",
)
