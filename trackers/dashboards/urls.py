from __future__ import annotations

from django.urls import path

from trackers.dashboards import acts, operations, tweet, tweets

urlpatterns = [
    path("", tweets.tweets, name="tweets"),
    path("rows/", tweets.tweet_rows, name="tweet-rows"),
    path("tweets/<int:id>/", tweet.tweet, name="tweet"),
    path("tweets/<int:id>/now/", tweet.tweet_now, name="tweet-now"),
    path("tweets/<int:id>/series.json", tweet.series_json, name="tweet-series"),
    path("tweets/<int:id>/samples.csv", tweet.samples_csv, name="tweet-csv"),
    path("tweets/<int:id>/<str:act>", acts.act_on_tweet, name="tweet-act"),
    path("operations/", operations.operations, name="operations"),
    path("operations/now/", operations.operations_now, name="operations-now"),
    path("operations/strip/", operations.strip, name="operations-strip"),
]
