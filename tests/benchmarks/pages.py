"""Do the pages care how many tweets there are? Each page, read again and again, at two sizes."""

from __future__ import annotations

import json
from statistics import median

from tests.benchmarks.database import Database
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop

TRACKED = (100_000, 1_000_000)
FILL = "from tests.pages.many import fill; fill({tweets})"
# As a signed-in browser asks, without the network. The figures are those that a cluster keeps.
READ = """
import json, statistics, time
from django.contrib.auth.models import User
from django.test import Client
from trackers import tasks
from trackers.tweets.models import Tweet, TweetText
tasks.record_statistics()
browser = Client(SERVER_NAME="localhost")
browser.force_login(User.objects.create_superuser("bench"))
newest, oldest = (Tweet.objects.order_by(order).first().pk for order in ("-id", "id"))
deep = oldest + (newest - oldest) // 10
word = TweetText.objects.order_by("-pk").first().text.split()[1]
pages = {
    "overview": "/", "overview, polled": "/?part=now",
    "the next hour": "/?part=ahead", "the fastest": "/fastest/",
    "tweets": "/tweets/", "tweets, deep": f"/tweets/?before={deep}",
    "tweets, polled": "/tweets/?part=rows",
    "resting": "/tweets/?state=resting", "gone": "/tweets/?state=gone",
    "isolated": "/tweets/?state=isolated",
    "a frequent word": "/tweets/?q=the", "a rare word": "/tweets/?q=zyzzyva",
    "a word of long ago": "/tweets/?q=worldcup",
    "a new word": f"/tweets/?q={word}",
    "a word nobody wrote": "/tweets/?q=qqqqqqq", "one letter": "/tweets/?q=z",
    "@nobody": "/tweets/?q=%40nobody_of_this_name", "a tweet": f"/tweets/{newest}/",
    "operations": "/operations/", "operations, polled": "/operations/?part=figures",
    "sources": "/sources/",
}
told = {}
for name, address in pages.items():
    took = []
    for _ in range(9):
        begun = time.perf_counter()
        reply = browser.get(address)
        took.append(1000 * (time.perf_counter() - begun))
        assert reply.status_code == 200, (address, reply.status_code)
    told[name] = statistics.median(took)
print(json.dumps(told))
"""


def run(shop: Workshop) -> Result:
    sizes = [shop.size.many(tracked) for tracked in TRACKED]
    few, many = (read(shop, tweets) for tweets in sizes)
    rows: list[dict[str, Value]] = [
        {
            "page": name,
            f"ms at {sizes[0]:,}": few[name],
            f"ms at {sizes[1]:,} tweets": many[name],
            "ratio": many[name] / few[name],
        }
        for name in few
    ]
    # Not the worst: of a rare state there are more to show among more tweets.
    usual = median(many[name] / few[name] for name in few)
    slowest = max(many.values())
    return Result(
        name="pages",
        rows=rows,
        bars=[
            Bar("a page at most tweets ÷ at fewest, median", usual, 1.5, "at most"),
            Bar("slowest page at most tweets", slowest, 300, "at most", "ms"),
        ],
    )


def read(shop: Workshop, tweets: int) -> dict[str, float]:
    """Milliseconds of each page; the median."""
    with shop.databases.fresh() as database:
        shop.say(f"pages: making {tweets:,} tweets with texts")
        shell(database, FILL.format(tweets=tweets))
        shop.databases.settle()
        shop.say(f"pages: reading each at {tweets:,} tweets")
        found: dict[str, float] = json.loads(shell(database, READ))
        return found


def shell(database: Database, program: str) -> str:
    return database.manage("shell", "--verbosity=0", "-c", program)
