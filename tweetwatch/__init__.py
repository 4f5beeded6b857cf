"""tweetwatch watches tweets: it keeps their statistics fresh, and keeps the history."""

VERSION = "1.0.0"
