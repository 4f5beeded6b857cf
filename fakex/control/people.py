"""The /_fake/authors routes: who exists, who hides, and who was renamed."""

from __future__ import annotations

from typing import Any

from fakex.control.acts import Act, Body, Params
from fakex.wire.requests_v2 import USERNAMES
from fakex.world.authors import Author
from fakex.x import X


class People:
    def __init__(self, x: X) -> None:
        self._x = x
        self.acts: dict[tuple[str, str], Act] = {
            ("GET", "authors"): self._show_authors,
            ("PUT", "authors"): self._override_author,
            ("DELETE", "authors"): self._lift_authors,
        }

    def _show_authors(self, rest: str, _query: Params, _body: Body) -> Any:
        world = self._x.world
        people = [world.people_by_id[int(rest)]] if rest else world.people
        return {"authors": [self._author(author) for author in people]}

    def _override_author(self, rest: str, _query: Params, body: Body) -> Any:
        """{"state": ..., "username": ...}, either or both."""
        world, author_id = self._x.world, int(rest)
        author = world.people_by_id[author_id]
        state, username = body.get("state"), body.get("username")
        if state is None and username is None:
            raise LookupError("state or username")
        if state not in (None, "live", "protected", "suspended"):
            raise ValueError("state is live, protected or suspended")
        if username is not None:
            if not USERNAMES.match(username):
                raise ValueError("a username has 1 to 15 letters, digits and _")
            if world.people_by_username.get(username.lower(), author) is not author:
                raise ValueError("somebody else has that username")
            world = world.with_name(author_id, username)
        self._x.replace_world(world.with_author(author_id, state) if state else world)
        return self._author(self._x.world.people_by_id[author_id])

    def _lift_authors(self, rest: str, _query: Params, _body: Body) -> Any:
        world = self._x.world
        lifted = [int(rest)] if rest else list({**world.authors, **world.names})
        for author_id in lifted:
            world = world.with_author(author_id, None).with_name(author_id, None)
        self._x.replace_world(world)
        return {"lifted": len(lifted)}

    def _author(self, author: Author) -> dict[str, Any]:
        """A steady author never hides, unless someone sets it so."""
        world = self._x.world
        state = world.author_state(author, world.moment(self._x.now_ms()))
        return {
            "id": str(author.id),
            "username": author.username,
            "state": state,
            "steady": not author.troubled,
        }
