from __future__ import annotations

from django.urls import path

from trackers.dashboards import authors, channels, columns, health, help_pages, home, live, metrics
from trackers.dashboards.account import urls as account
from trackers.dashboards.alerts import acts as alert_acts
from trackers.dashboards.alerts import views as alerts
from trackers.dashboards.alerts.mute import mute_page
from trackers.dashboards.compare import sets as compared_sets
from trackers.dashboards.compare import views as compare
from trackers.dashboards.feeds import views as feeds
from trackers.dashboards.following import acts as following_acts
from trackers.dashboards.following import views as following
from trackers.dashboards.imports import views as imports
from trackers.dashboards.leaderboards import views as leaderboards
from trackers.dashboards.notes import views as notes
from trackers.dashboards.operations import acts as operation_acts
from trackers.dashboards.operations import views as operations
from trackers.dashboards.operations.over_time import queues_file
from trackers.dashboards.overview import fastest, since
from trackers.dashboards.overview import views as overview
from trackers.dashboards.search import views as search
from trackers.dashboards.sets import views as sets
from trackers.dashboards.shares import public
from trackers.dashboards.shares import views as shares
from trackers.dashboards.sources import acts as source_acts
from trackers.dashboards.sources import detail_views as source
from trackers.dashboards.sources import list_views as sources
from trackers.dashboards.subscribers import acts as subscriber_acts
from trackers.dashboards.subscribers import views as subscribers
from trackers.dashboards.tweets import acts as tweet_acts
from trackers.dashboards.tweets import chart_views as tweet_chart
from trackers.dashboards.tweets import detail_views as tweet
from trackers.dashboards.tweets import left, many, saved_views
from trackers.dashboards.tweets import list_views as tweets

urlpatterns = [
    path("", overview.start, name="overview"),
    path("today/", overview.overview, name="today"),
    *account.urlpatterns,
    path("answers/", health.ping, name="answers"),
    path("search/", search.search, name="search"),
    path("fastest/", fastest.fastest, name="fastest"),
    path("happenings/", since.happenings, name="happenings"),
    path("tweets/", tweets.tweet_list, name="tweets"),
    path("tweets/export.<str:form>", tweets.tweets_file, name="tweets-file"),
    path("tweets/left/", left.what_is_left, name="tweets-left"),
    path("tweets/left/presences.<str:form>", left.presences_file, name="tweets-left-file"),
    path("tweets/track", tweet_acts.track_pasted, name="tweets-track"),
    path("tweets/views/", saved_views.saved_views, name="saved-views"),
    path("tweets/views/save", saved_views.save_view, name="view-save"),
    path("tweets/views/undo", saved_views.undo_removal, name="view-undo"),
    path("tweets/views/<int:id>/remove", saved_views.remove_view, name="view-remove"),
    path("tweets/many/", many.many_tweets, name="tweets-many"),
    path("tweets/many/act", many.act_on_many, name="tweets-many-act"),
    path("tweets/many/<int:id>/", many.bulk_progress, name="tweets-progress"),
    path("tweets/many/<int:id>/stop", many.stop_act, name="tweets-stop"),
    path("tweets/<int:id>/", tweet.tweet, name="tweet"),
    path("tweets/<int:id>/tag", tweet_acts.tag_tweet, name="tweet-tag"),
    path("tweets/<int:id>/untag", tweet_acts.untag_tweet, name="tweet-untag"),
    path("tweets/<int:id>/series.json", tweet_chart.series_json, name="tweet-series"),
    path("tweets/<int:id>/samples.<str:form>", tweet_chart.samples_file, name="tweet-file"),
    path("tweets/<int:id>/chart.<str:form>", tweet_chart.chart_file, name="tweet-chart"),
    path("tweets/<int:id>/<str:act>", tweet_acts.act_on_tweet, name="tweet-act"),
    path("compare/", compare.compare_page, name="compare"),
    path("compare/series.json", compare.compare_series, name="compare-series"),
    path("compare/chart.<str:form>", compare.compare_chart, name="compare-chart"),
    path("compare/values.<str:form>", compare.compare_file, name="compare-file"),
    path("leaderboards/", leaderboards.leaderboards, name="leaderboards"),
    path(
        "leaderboards/leaderboard.<str:form>",
        leaderboards.leaderboard_file,
        name="leaderboard-file",
    ),
    path("leaderboards/count", leaderboards.count_leaderboard, name="leaderboard-count"),
    path("sets/<str:kind>/<str:key>/", sets.set_page, name="set"),
    path("sets/<str:kind>/<str:key>/<str:chart>.<str:form>", sets.set_chart, name="set-chart"),
    path("compare/sets/", compared_sets.compare_sets, name="compare-sets"),
    path(
        "compare/sets/<str:chart>.<str:form>", compared_sets.sets_chart, name="compare-sets-chart"
    ),
    path("home/", home.home, name="home"),
    path("home/team/<int:team>/", home.home, name="home"),
    path("following/", following.following, name="following"),
    path("following/follows.csv", following.follows_csv, name="follows-csv"),
    path("following/<str:act>", following_acts.follow_act, name="follow-act"),
    path("columns/", columns.columns_page, name="columns"),
    path("columns/add", columns.add_column, name="column-add"),
    path("columns/<int:id>/", columns.column, name="column"),
    path("columns/<int:id>/<str:act>", columns.act_on_column, name="column-act"),
    path("live/", live.live, name="live"),
    path("authors/<int:id>/", authors.author, name="author"),
    path("sources/", sources.sources, name="sources"),
    path("sources/act", source_acts.act_on_ticked, name="sources-act"),
    path("sources/import/", imports.import_file, name="import-file"),
    path("sources/import/<int:id>/", imports.import_report, name="import-report"),
    path("sources/import/<int:id>/rejected.csv", imports.import_rejected, name="import-rejected"),
    path("sources/import/<int:id>/warnings.csv", imports.import_warnings, name="import-warnings"),
    path("sources/<int:id>/", source.source_page, name="source"),
    path("sources/<int:id>/days.<str:form>", source.source_days, name="source-days"),
    path("sources/<int:id>/edit/", source_acts.edit_source, name="source-edit"),
    path("sources/<int:id>/remove/", source_acts.source_remove, name="source-remove"),
    path("sources/<int:id>/<str:act>", source_acts.act_on_source, name="source-act"),
    path("feeds/", feeds.feeds, name="feeds"),
    path("feeds/make/<int:follower>", feeds.make_address, name="feed-make"),
    path("feeds/revoke/<int:follower>", feeds.revoke_address, name="feed-revoke"),
    path("feeds/<str:secret>/home.atom", feeds.home_feed, {"form": "atom"}, name="feed-home-atom"),
    path("feeds/<str:secret>/home.json", feeds.home_feed, {"form": "json"}, name="feed-home-json"),
    path(
        "feeds/<str:secret>/sources/<int:id>.atom",
        feeds.source_feed,
        {"form": "atom"},
        name="feed-source-atom",
    ),
    path(
        "feeds/<str:secret>/views/<int:id>.atom",
        feeds.view_feed,
        {"form": "atom"},
        name="feed-view-atom",
    ),
    path("feeds/<str:secret>/views/<int:id>.json", feeds.view_feed, {"form": "json"}),
    path("feeds/<str:secret>/sources/<int:id>.json", feeds.source_feed, {"form": "json"}),
    path("subscribers/", subscribers.subscribers, name="subscribers"),
    path("subscribers/add/", subscriber_acts.add_subscriber, name="subscriber-add"),
    path("subscribers/<int:id>/", subscribers.subscriber, name="subscriber"),
    path("subscribers/<int:id>/edit/", subscriber_acts.edit_subscriber, name="subscriber-edit"),
    path("subscribers/<int:id>/key", subscriber_acts.new_key, name="subscriber-key"),
    path("subscribers/<int:id>/replay/", subscriber_acts.replay_page, name="subscriber-replay"),
    path(
        "subscribers/<int:id>/<str:act>", subscriber_acts.act_on_subscriber, name="subscriber-act"
    ),
    path("s/<str:key>/", public.share_page, name="share-public"),
    path("s/<str:key>/embed/", public.share_embed, name="share-embed"),
    path("s/<str:key>/<str:name>.<str:form>", public.share_picture, name="share-picture"),
    path("shares/", shares.share_list, name="shares"),
    path("shares/new/", shares.share_new, name="share-new"),
    path("shares/switch", shares.sharing_switch, name="sharing-switch"),
    path("shares/<int:id>/", shares.share_row, name="share"),
    path("shares/<int:id>/<str:act>", shares.share_act, name="share-act"),
    path("notes/", notes.notes, name="notes"),
    path("notes/write", notes.write_note, name="note-write"),
    path("notes/undo", notes.undo_removal, name="note-undo"),
    path("notes/<int:id>/edit/", notes.edit_note, name="note-edit"),
    path("notes/<int:id>/remove", notes.remove_note, name="note-remove"),
    path("help/", help_pages.help_search, name="help"),
    path("help/<slug:name>/", help_pages.help_page, name="help-page"),
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/log/", alerts.alert_log, name="alert-log"),
    path("alerts/read", alerts.alerts_read, name="alerts-read"),
    path("alerts/add/", alert_acts.add_alert, name="alert-add"),
    path("alerts/digest", alert_acts.alert_digest, name="alert-digest"),
    path("alerts/mute/<str:key>/", mute_page, name="alert-mute"),
    path("alerts/muted/<int:id>/end", alert_acts.act_on_mute, name="alert-mute-end"),
    path("alerts/channels/", channels.channels, name="channels"),
    path("alerts/channels/add/", channels.add_channel, name="channel-add"),
    path("alerts/channels/<int:id>/", channels.channel, name="channel"),
    path("alerts/channels/<int:id>/edit/", channels.edit_channel, name="channel-edit"),
    path("alerts/channels/<int:id>/<str:act>", channels.act_on_channel, name="channel-act"),
    # As `trackers.alerts.text` writes it.
    path("alerts/digest/end/<str:signed>/", alert_acts.end_digest, name="alert-digest-end"),
    path("alerts/<int:id>/", alerts.alert, name="alert"),
    path("alerts/<int:id>/edit/", alert_acts.edit_alert, name="alert-edit"),
    path("alerts/<int:id>/<str:act>", alert_acts.act_on_alert, name="alert-act"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operations/", operations.operations, name="operations"),
    path("operations/pause/", operation_acts.pause_everything, name="pause-all"),
    path("operations/resume", operation_acts.resume_everything, name="resume-all"),
    path("operations/paused/", operation_acts.paused_now, name="paused-now"),
    path("operations/queues/<str:name>/resume", operation_acts.resume_queue, name="queue-resume"),
    path("operations/projects/<int:id>/ask", operation_acts.ask_again, name="project-ask"),
    path("operations/queues.<str:form>", queues_file, name="operations-queues"),
]
