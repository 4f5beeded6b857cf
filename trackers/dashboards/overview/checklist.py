"""The first steps of a new installation, until its first tweet is measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString

from trackers.credentials.sentences import NONE_YET
from trackers.dashboards.words import with_code
from trackers.jobs.models import Worker
from trackers.schedule.catch_up import NO_WORKERS
from tweetwatch.database import cursor

_NO_TWEET = "Add a source, import a file, or run `manage.py track FILE`."
_NO_SAMPLE = "It follows automatically once the three steps above are done."

# Each ends at the first row, or at the newest thousand tweets: the first figures of a tweet stay in
# its row until they change.
_WHAT_EXISTS = """
    SELECT EXISTS (SELECT FROM trackers_credential),
           EXISTS (SELECT FROM trackers_tweet),
           EXISTS (SELECT FROM trackers_worker WHERE seen_at > %(since)s),
           EXISTS (SELECT FROM trackers_sample) OR EXISTS (SELECT FROM trackers_packedsamples)
           OR EXISTS (SELECT FROM (
               SELECT measurements FROM trackers_tweet ORDER BY id DESC LIMIT 1000) AS newest
               WHERE measurements > 0)
"""


@dataclass(frozen=True, slots=True)
class FirstStep:
    title: str
    is_done: bool
    how: str  # a sentence with commands between backticks
    link: str = ""
    link_words: str = ""
    needs: str = ""  # the permission for the link

    @property
    def html(self) -> SafeString:
        return with_code(self.how)


def checklist(*, now: datetime) -> list[FirstStep]:
    """Empty once there is a credential, a tweet and a measurement."""
    with cursor() as db:
        row = db.execute(_WHAT_EXISTS, {"since": now - Worker.SILENT_AFTER}).fetchone()
    assert row is not None
    credential, tweet, worker, sample = row
    if credential and tweet and sample:
        return []
    return [
        FirstStep(
            "A credential for X", credential, NONE_YET,
            reverse("admin:trackers_credential_add"), "Add one", "trackers.add_credential",
        ),
        FirstStep(
            "A tweet to watch", tweet, _NO_TWEET,
            reverse("sources"), "Add a source", "trackers.add_source",
        ),
        FirstStep("A running worker", worker, NO_WORKERS),
        FirstStep("A first measurement", sample, _NO_SAMPLE),
    ]  # fmt: skip
