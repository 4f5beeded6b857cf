"""A person with a home, sources that bring tweets into it, and what a page of it shows."""

import html
import re
from urllib.parse import urlencode

from django.contrib.auth.models import Group, User

from tests.timelines.homes.world import bring, source, tweet
from trackers.timelines import homes
from trackers.timelines.models import Follower

__all__ = [
    "asked",
    "bring",
    "clock_of",
    "followed",
    "further",
    "home_of",
    "row_ids",
    "source",
    "team",
    "tweet",
]


def home_of(username="ada"):
    """The follower of the person who is logged in."""
    return Follower.objects.get_or_create(user=User.objects.get(username=username))[0].pk


def team(name, *members):
    group = Group.objects.create(name=name)
    for member in members:
        User.objects.get(username=member).groups.add(group)
    return group


def followed(*ids, follower=None):
    """A source that is followed and brought these."""
    made = source()
    homes.follow(follower or home_of(), source_id=made)
    bring(made, *ids)
    return made


def row_ids(page):
    """The ids of the tweets on a page, in their order."""
    return [int(id) for id in re.findall(r'data-id="(\d+)"', page.content.decode())]


def further(page):
    """Where the next older ones are."""
    found = re.search(r'hx-get="(\S+\?part=rows&amp;before=\d+)"', page.content.decode())
    return found and html.unescape(found[1])


def asked(page, **more):
    """What the page's script asks with."""
    return urlencode({"clock": clock_of(page), "top": (row_ids(page) or [""])[0], **more})


def clock_of(page):
    return re.search(r'data-clock="([^"]*)"', page.content.decode())[1]
