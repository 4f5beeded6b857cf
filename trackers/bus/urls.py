"""The bus's own addresses, at the root of its host; no trailing slashes, no redirects.

Routemaster's documentation and its clients spell some paths differently; both spellings work here.
"""

from __future__ import annotations

from django.urls import path, re_path

from trackers.bus import pulse, views
from trackers.bus.answers import by_method, nowhere

tokens = by_method(GET=views.list_tokens, POST=views.make_token)
topic = by_method(POST=views.publish, DELETE=views.delete_topic)
subscribers = by_method(GET=views.list_subscribers)
ping = by_method(GET=pulse.ping, https=False)

urlpatterns = [
    path("topics/<str:name>", topic),
    path("topic/<str:name>", topic),
    path("topics", by_method(GET=views.list_topics)),
    path("subscription", by_method(POST=views.subscribe, DELETE=views.delete_subscriber)),
    path("subscriber", by_method(POST=views.subscribe, DELETE=views.delete_subscriber)),
    path("subscriptions", subscribers),
    path("subscribers", subscribers),
    path("subscriber/topics/<str:name>", by_method(DELETE=views.unsubscribe)),
    path("subscription/topics/<str:name>", by_method(DELETE=views.unsubscribe)),
    path("api_tokens", tokens),
    path("api_tokens/<str:token>", by_method(DELETE=views.revoke_token)),
    path("pulse", by_method(GET=pulse.pulse, when_away=500)),
    path("pulse/scaling", by_method(GET=pulse.scaling)),
    path("health", by_method(GET=pulse.health, https=False)),
    path("health/ping", ping),
    path("health/ping.json", ping),
    re_path("", nowhere),
]
