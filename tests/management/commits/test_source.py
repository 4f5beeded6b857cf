"""`manage.py source`: by the rules of the page's form, with the names of the options."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.factories import CredentialFactory, TweetFactory, id_born
from trackers.ingest.sources.models import Source, SourcePoll, SourceTweet
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db(transaction=True)


def run(*words):
    """What it printed, and what it said beside."""
    told, said = StringIO(), StringIO()
    call_command("source", *map(str, words), stdout=told, stderr=said)
    return told.getvalue(), said.getvalue()


def add(*words):
    return json.loads(run("add", *words, "--json")[0])


def listed():
    return [json.loads(line) for line in run("list", "--json")[0].splitlines()]


def test_a_source_is_added_as_named_and_polled_at_once():
    add("account", "https://x.com/nasa", "--pages", 3, "--late-by", "7s", "--priority", "high",
        "--without-replies", "--owner", "space")  # fmt: skip

    source = Source.objects.get()
    assert (source.of, source.pages, source.late_by, source.priority, source.owner) == (
        "nasa", 3, timedelta(seconds=7), 2, "space",
    )  # fmt: skip
    # What was not named is as the model has it.
    assert (source.every, source.backfill) == (timedelta(minutes=5), timedelta(days=1))
    assert (source.exclude_replies, source.exclude_retweets) == (True, False)
    assert SourcePoll.objects.filter(key=source.pk).exists()


def test_a_link_becomes_the_source_that_it_means():
    added = add("account", "https://x.com/i/lists/1234")

    assert (added["kind"], added["of"]) == ("list", "1234")
    with pytest.raises(CommandError, match="link of a single post, which is tracked by itself"):
        add("account", "https://x.com/nasa/status/1650000000000000000")


@pytest.mark.parametrize(
    ("words", "kind", "of"),
    [
        (["@nasa"], "account", "nasa"),
        (["https://x.com/nasa"], "account", "nasa"),
        (["#artemis"], "search", "#artemis"),
        (["x.com/search?q=moon%20lang%3Aen"], "search", "moon lang:en"),
        (["https://x.com/i/lists/1234"], "list", "1234"),
        (["search", "list"], "search", "list"),
        (["list", "https://x.com/nasa"], "account", "nasa"),
    ],
)
def test_a_name_or_a_link_says_its_kind_by_itself(words, kind, of):
    added = add(*words, "--pages", "3")

    assert (added["kind"], added["of"], Source.objects.get().pages) == (kind, of, 3)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nasa"], "“nasa” does not say by itself what it is"),
        (["search"], "Name its kind: account, mentions, search, list, stream."),
        (["moon", "lang:en"], "“moon lang:en” does not say by itself"),
        (["1234"], "Name its kind"),
        (["https://x.com/nasa/lists/moon"], "Name its kind"),
        (["https://x.com/nasa/status/1650000000000000000"], "single post, which is tracked by"),
    ],
)
def test_words_of_unknown_kind_are_refused_with_the_kinds(words, why):
    with pytest.raises(CommandError) as refused:
        run("add", *words)

    assert why in str(refused.value)
    assert refused.value.returncode == 2
    assert not Source.objects.exists()


def test_a_query_may_have_several_words_and_begin_with_a_minus():
    run("add", "search", "#artemis", "lang:en")
    run("add", "--owner", "x", "search", "--", "-is:retweet", "moon")

    assert {source.of for source in Source.objects.all()} == {
        "#artemis lang:en",
        "-is:retweet moon",
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["account", "no name"], "is not a username"),
        (
            ["account", "nasa", "--every", "1s"],
            "--every: An interval is 5 seconds at least and 1 day at most.",
        ),
        (["account", "nasa", "--every", "soon"], "--every: “soon” is not a duration"),
        (["account", "nasa", "--pages", "0"], "--pages: A poll reads 1 to 500 pages."),
        (["account", "nasa", "--pages", "many"], "--pages: "),
        (["account", "nasa", "--late-by=-0:00:05"], "--late-by: A duration cannot be neg"),
        (["account", "nasa", "--late-by", "99d"], "--late-by: Give at most 1 day"),
        (["stream", "moon", "--without-replies"], "--without-replies: Add -is:reply to the rule"),
    ],
)
def test_an_error_names_its_option(words, why):
    with pytest.raises(CommandError) as refused:
        run("add", *words)

    assert why in str(refused.value)
    assert refused.value.returncode == 2
    assert not Source.objects.exists()


def test_spellings_of_an_account_name_are_one_source():
    there = Source.objects.create(kind="account", of="old_name", username="nasa")

    for name in ("NASA", "@nasa", "OLD_NAME"):
        with pytest.raises(CommandError, match="It already exists: @nasa's posts"):
            run("add", "account", name)
    assert Source.objects.get() == there


def test_changing_a_source_keeps_other_settings_and_the_cursor():
    id = add("account", "nasa", "--every", "90s", "--backfill", "all")["id"]
    Source.objects.update(latest_id=7)

    [data] = [json.loads(run("change", id, "--pages", "20", "--without-replies", "--json")[0])]

    source = Source.objects.get()
    assert (source.pages, source.exclude_replies, source.latest_id) == (20, True, 7)
    assert (source.every, source.backfill) == (timedelta(seconds=90), None)
    assert data["every_seconds"] == 90
    run("change", id, "--with-replies")
    assert not Source.objects.get().exclude_replies
    assert "Nothing to change" in run("change", id, "--pages", "20")[1]


def test_settings_that_streams_and_imports_lack_cannot_be_changed():
    stream = Source.objects.create(kind="stream", of="moon")
    file = Source.objects.create(kind="import", of="ids.txt")

    run("change", file.pk, "--owner", "ada")
    assert Source.objects.get(pk=file.pk).owner == "ada"
    for id in (stream.pk, file.pk):
        with pytest.raises(CommandError, match="has no --every"):
            run("change", id, "--every", "5m")
    with pytest.raises(CommandError, match="Give at least one option"):
        run("change", stream.pk)


def test_sources_are_paused_resumed_and_removed_by_their_names():
    id = add("account", "nasa")["id"]

    assert run("pause", id)[1] == "@nasa's posts: Paused. It is not read until it is resumed.\n"
    assert run("pause", id)[1] == "@nasa's posts: It was already paused.\n"
    assert (listed()[0]["state"], SourcePoll.objects.count()) == ("paused", 0)
    assert run("resume", id)[1] == "@nasa's posts: Resumed.\n"
    assert (listed()[0]["state"], SourcePoll.objects.count()) == ("new", 1)
    assert "its tweets stay tracked" in run("remove", id)[0]
    assert listed() == []
    assert "source add @nasa" in run("list")[1]


def test_removing_a_source_can_untrack_tweets_of_no_other_source():
    ours, other = (Source.objects.create(kind="search", of=word) for word in ("moon", "mars"))
    for id, came_from, sources in (
        (1, "search: moon", [ours]),
        (2, "search: moon", [ours, other]),
        (3, "pasted by ada", [ours]),
        (4, "search: mars", [other]),
    ):
        TweetFactory(id=id, came_from=came_from)
        for source in sources:
            SourceTweet.objects.create(source=source, tweet_id=id, seen_at="2026-01-01T00:00Z")

    counted = json.loads(run("remove", ours.pk, "--with-tweets", "--dry-run", "--json")[0])
    assert counted == {"id": str(ours.pk), "tweets": 3, "only_from_there": 1}
    assert Source.objects.count() == 2

    told, said = run("remove", ours.pk, "--with-tweets")

    assert "Untracking 1 tweet from search: moon." in said
    assert told == "Removed search: moon and untracked 1 tweet.\n"
    assert set(Tweet.objects.values_list("pk", flat=True)) == {2, 3, 4}
    assert [source.of for source in Source.objects.all()] == ["mars"]


def test_the_archive_is_searched_after_its_cost_was_said():
    run("add", "search", "#artemis")
    source = Source.objects.get()
    with pytest.raises(CommandError, match="no lost gap"):
        run("full-archive", source.pk)
    CredentialFactory()
    now = timezone.now()
    source.gaps.create(
        from_id=id_born(now - timedelta(days=20)),
        to_id=id_born(now - timedelta(days=9)),
        why="reach",
        found_at=now,
    )

    with pytest.raises(CommandError, match=r"Search X's full archive for 11 days .* with --yes"):
        run("full-archive", source.pk)
    assert not source.gaps.exclude(archive_asked_at=None).exists()

    printed, _ = run("full-archive", source.pk, "--yes")

    assert "X's full archive will be searched for 1 gap." in printed
    assert source.gaps.exclude(archive_asked_at=None).count() == 1
