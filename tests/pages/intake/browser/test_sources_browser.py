"""Every kind of source, added on the page in a real browser; its first posts on its page."""

import os
import re
import subprocess
import sys
from urllib.parse import urlencode

import pytest

from tests.conftest import PROJECT, FakeX
from tests.pages.chromium import Demo, poll, screen

FREE = {"token": None, "app": None, "project": None, "window": 900}
STREAMING = (
    "GET /2/tweets/search/stream",
    "GET /2/tweets/search/stream/rules",
    "POST /2/tweets/search/stream/rules",
)
LIST = 4711
AT_ONCE = {"usual_ms": 20, "late_share": 0, "very_late_share": 0}


class World:
    """The demo, and somebody in its X who posts."""

    def __init__(self, demo):
        self.demo, self.x = demo, FakeX(demo.fake)
        steady = [one for one in self.x.get("authors")["authors"] if one["steady"]]
        self.id, self.username = steady[0]["id"], steady[0]["username"]
        self.x.put(f"lists/{LIST}", {"members": [self.id]})
        self.x.put("world", {"search_newest_s": 0})
        self.x.put("limits", dict.fromkeys(STREAMING, FREE))
        self.x.put("stream", {"rule_delay_s": 0})

    def release(self, *tags, count=12):
        """Posts of that one, which carry the tags; their ids."""
        before = self.ids(author=self.id)
        self.post(authors=[self.id], count=count, tags=list(tags), tagged=1)
        return self.ids(author=self.id) - before

    def post(self, **flow):
        """Until all of them have appeared."""
        before = len(self.ids())
        kinds = {"retweets": 0, "replies": 0, "quotes": 0}
        self.x.tell("POST", "posts", {"rate": 1e6, "lag": AT_ONCE, **kinds, **flow})
        poll(lambda: len(self.ids()) >= before + flow["count"], within=120, what="all posts")

    def ids(self, **which):
        return {one["id"] for one in self.x.get(f"visible?{urlencode(which)}")["posts"]}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("demo"), "--tweets=100")
    yield World(demo)
    demo.close()


@pytest.fixture
def stream(world):
    """Who listens; where the demo starts one itself, this one stands by."""
    place = {
        "DATABASE_URL": "",
        "EMBEDDED_POSTGRES_DIR": str(world.demo.log.parent / "demo" / "postgres"),
        "X_API_BASE_URL": world.demo.fake,
    }
    with (world.demo.log.parent / "stream.txt").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "stream"],
            cwd=PROJECT,
            env={**os.environ, **place},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    yield process
    process.terminate()
    process.wait(20)


def add(seen, kind, of, **fields):
    """As a person fills it in; the id of the source."""
    page = seen.page
    page.goto(f"{seen.address}/sources/")
    page.select_option("#id_kind", kind)
    page.fill("#id_of", of)
    if fields:
        page.click("text=More: how often")
    for name, value in fields.items():
        page.fill(f"#id_{name}", value)
    seen.follow("#watch button")
    page.wait_for_selector("#source")
    return re.search(r"/sources/(\d+)/", page.url)[1]


def row_ids(seen):
    return {row["id"] for row in seen.rows()}


def wait_for_posts(seen, ids):
    """Until the newest of them are shown. The page renews itself: nobody clicks."""
    newest = set(sorted(ids, key=int)[-20:])
    return poll(
        lambda: newest <= (found := row_ids(seen)) and found,
        within=120,
        what=f"the posts on a page that says {seen.page.inner_text('#source')}",
    )


@pytest.mark.browser
@pytest.mark.parametrize(
    "kind",
    ["account", *(pytest.param(kind, marks=pytest.mark.more) for kind in ("search", "list"))],
)
def test_a_polled_source_is_added_and_its_posts_arrive(world, kind):
    of = {
        "account": f"https://x.com/{world.username}",
        "search": "#search",
        "list": f"https://x.com/i/lists/{LIST}",
    }[kind]
    posts = world.release(kind)

    with screen(world.demo) as seen:
        id = add(seen, kind, of, every="5s", backfill="1h")
        wait_for_posts(seen, posts)
        more = world.release(kind, count=3)
        wait_for_posts(seen, more)
        # Between two polls: while one is under way, the page says that.
        poll(
            lambda: "reads every 5 seconds" in seen.page.inner_text("#source").lower(),
            within=120,
            what="how often it reads",
        )
        seen.follow(f"#tweet-{min(more)}")
        seen.page.wait_for_selector(".origins")
        assert seen.page.locator(f"#origin-{id}").count() == 1


@pytest.mark.browser
@pytest.mark.more
def test_mentions_are_added_and_their_posts_arrive(world):
    with screen(world.demo) as seen:
        add(seen, "mentions", f"@{world.username}", every="5s", backfill="")
        authors = [one["id"] for one in world.x.get("authors")["authors"] if one["steady"]]
        world.post(authors=authors[:3], count=200, mentions=1)
        truth = world.ids(mentions=world.id)

        assert truth
        assert wait_for_posts(seen, truth) <= truth


@pytest.mark.browser
def test_a_stream_rule_is_added_and_its_posts_arrive_live(world, stream):
    with screen(world.demo) as seen:
        add(seen, "stream", "#live")
        poll(
            lambda: seen.page.inner_text("#source .badge").lower() == "live",
            within=120,
            what="a stream that is open",
        )
        posts = world.release("live")

        assert wait_for_posts(seen, posts) == posts
        seen.page.goto(f"{world.demo.address}/sources/")
        assert "The live stream" in seen.page.inner_text("#sources")


@pytest.mark.browser
@pytest.mark.more
def test_a_file_is_uploaded_and_its_posts_arrive(world, tmp_path):
    posts = world.release("file")
    file = tmp_path / "ids.txt"
    file.write_text("\n".join(posts) + "\nno tweet\n")

    with screen(world.demo) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.click("text=import a file")
        page.set_input_files("input[type=file]", str(file))
        page.click("text=Upload")
        page.click("button[value=start]")
        poll(lambda: "Done in" in page.inner_text("#import"), within=120, what="an import")
        seen.follow("text=Show the imported tweets")
        page.wait_for_selector("#source")
        assert wait_for_posts(seen, posts) == posts


@pytest.mark.browser
def test_a_source_is_added_on_the_page_and_errors_are_named(world):
    with screen(world.demo, viewport={"width": 390, "height": 844}) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.fill("#id_of", "na sa")
        seen.follow("#watch button")
        assert "is not a username" in page.inner_text(".fault")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        page.click("text=More: how often")
        page.fill("#id_every", "10s")
        page.wait_for_selector("#cost >> text=8,640 polls a day")
        page.fill("#id_of", "nobody_at_all")
        seen.follow("#watch button")
        page.wait_for_selector("#source")
        poll(
            lambda: "not found on x" in page.inner_text("#source").lower(),
            within=120,
            what="that X knows nobody of that name",
        )
        page.click("#act-remove")
        page.click("button#act-remove")
        page.wait_for_selector("text=stay tracked")
        assert page.url == f"{seen.address}/sources/"
