"""A client of the stream, which keeps every line."""

import json
import threading

import requests

PATH = "/2/tweets/search/stream"


class Listener:
    """A client that reads a stream in a thread of its own until it ends."""

    def __init__(self, x, token="any", **params):
        self.lines, self.keepalives, self.ended = [], 0, ""
        self.reply = requests.get(
            x.url + PATH,
            params=params,
            headers={"Authorization": f"Bearer {token}"},
            stream=True,
            timeout=30,
        )
        if self.reply.status_code == 200:
            self._thread = threading.Thread(target=self._read)
            self._thread.start()

    def _read(self):
        try:
            for line in self.reply.iter_lines(chunk_size=None, delimiter=b"\r\n"):
                if line:
                    self.lines.append(line)
                else:
                    self.keepalives += 1
            self.ended = "closed"
        except (requests.RequestException, OSError, AttributeError) as error:
            self.ended = type(error).__name__

    @property
    def ids(self):
        return [event["data"]["id"] for event in map(json.loads, self.lines) if "data" in event]

    def close(self):
        self.reply.close()


def is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
