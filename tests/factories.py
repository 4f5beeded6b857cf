"""The smallest valid rows; a test states what matters to it."""

from datetime import UTC, datetime, timedelta

import factory
from django.utils import timezone

from tests import queues
from trackers.credentials.models import Credential
from trackers.money.models import App, Project
from trackers.schedule.models import Interval
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate
from trackers.xapi.keys import Secrets
from trackers.xapi.results import Figures, Post

TWEPOCH = datetime(2010, 11, 4, 1, 42, 54, 657000, tzinfo=UTC)


def id_born(at, low=0):
    """The id of a tweet born then."""
    return (int((at - TWEPOCH) / timedelta(milliseconds=1)) << 22) + low


class TweetFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Tweet

    id = factory.Sequence(lambda n: 1000 + n)
    tracked_at = factory.LazyFunction(timezone.now)

    class Params:
        measured = factory.Trait(
            created_at=factory.LazyFunction(timezone.now),
            taken_at=factory.LazyFunction(timezone.now),
            measured_until=factory.SelfAttribute("taken_at"),
            measurements=1,
            likes=1,
        )


class TweetUpdateFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = TweetUpdate

    @classmethod
    def _create(cls, model, **row):
        return queues.put(model, **row)

    key = factory.Sequence(lambda n: 1000 + n)
    due_at = factory.LazyFunction(timezone.now)


class IntervalFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Interval

    younger_than = timedelta(hours=1)
    every = timedelta(minutes=1)
    jitter = 0


class ProjectFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Project
        django_get_or_create = ("name",)

    name = factory.Sequence(lambda n: f"project-{n}")


class AppFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = App
        django_get_or_create = ("name",)

    name = factory.Sequence(lambda n: f"app-{n}")
    project = factory.SubFactory(ProjectFactory, name=factory.SelfAttribute("..name"))


class CredentialFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Credential

    name = factory.Sequence(lambda n: f"credential-{n}")
    kind = "bearer"
    app = factory.SubFactory(AppFactory, name=factory.SelfAttribute("..name"))
    secrets = factory.LazyAttribute(lambda o: Secrets({"bearer_token": f"token-of-{o.name}"}))


def figures(likes=0, *, retweets=0, replies=0, quotes=0, bookmarks=0, views=0):
    return Figures(retweets, replies, likes, quotes, bookmarks, views)


def post(id, *, likes=0, created_at=None, text="words", author_id=7):
    return Post(id, author_id, created_at, text, "en", (id,), figures(likes))
