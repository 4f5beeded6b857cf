from __future__ import annotations

from django.urls import path

from trackers.dashboards import (
    acts,
    imports,
    metrics,
    operations,
    source,
    source_acts,
    sources,
    tweet,
    tweets,
)

urlpatterns = [
    path("", tweets.tweets, name="tweets"),
    path("rows/", tweets.tweet_rows, name="tweet-rows"),
    path("tweets/<int:id>/", tweet.tweet, name="tweet"),
    path("tweets/<int:id>/now/", tweet.tweet_now, name="tweet-now"),
    path("tweets/<int:id>/series.json", tweet.series_json, name="tweet-series"),
    path("tweets/<int:id>/samples.csv", tweet.samples_csv, name="tweet-csv"),
    path("tweets/<int:id>/<str:act>", acts.act_on_tweet, name="tweet-act"),
    path("sources/", sources.sources, name="sources"),
    path("sources/now/", sources.sources_now, name="sources-now"),
    path("sources/cost/", sources.source_cost, name="source-cost"),
    path("sources/import/", imports.import_file, name="import-file"),
    path("sources/import/<int:id>/", imports.import_report, name="import-report"),
    path("sources/import/<int:id>/now/", imports.import_now, name="import-now"),
    path("sources/import/<int:id>/choice/", imports.import_choice, name="import-choice"),
    path("sources/import/<int:id>/rejected.csv", imports.import_rejected, name="import-rejected"),
    path("sources/<int:id>/", source.source, name="source"),
    path("sources/<int:id>/now/", source.source_now, name="source-now"),
    path("sources/<int:id>/rows/", source.source_rows, name="source-rows"),
    path("sources/<int:id>/<str:act>", source_acts.act_on_source, name="source-act"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operations/", operations.operations, name="operations"),
    path("operations/now/", operations.operations_now, name="operations-now"),
    path("operations/strip/", operations.strip, name="operations-strip"),
]
