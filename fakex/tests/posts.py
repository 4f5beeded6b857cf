"""Posts that appear, and the pages on which they are read."""

from fakex.tests.conftest import wait_until

# Later than anything that is planned.
FAR = 10**15


def release(x, **flow):
    """Posts of one account, which appear at once."""
    [author] = x.authors(1)
    return x.release(**{"authors": [author], "rate": 200, "tags": ["moon"], "tagged": 1, **flow})


def all_visible(x, **which):
    planned = {post["id"] for post in x.visible(until_ms=FAR, **which)}
    wait_until(lambda: len(x.visible(**which)) == len(planned), seconds=20)
    return planned


def release_all(x, **flow):
    """Posts that have all appeared, newest id first."""
    x.release(rate=1e6, **flow)
    wait_until(lambda: len(x.visible()) == len(x.visible(until_ms=FAR)))
    return sorted((int(post["id"]) for post in x.visible()), reverse=True)


def read(x, path, **params):
    """All pages to the last: the ids of each."""
    pages, token = [], {}
    while True:
        reply = x.get(path, **params, **token)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        pages.append([int(post["id"]) for post in body.get("data", ())])
        if "next_token" not in body["meta"]:
            return pages
        token = {"pagination_token": body["meta"]["next_token"]}


def joined(pages):
    return [id for page in pages for id in page]
