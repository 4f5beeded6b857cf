"""The /_fake/ routes of posts' contents: long texts, media, where they are withheld; and edits.

`PUT contents/<id>` takes any of {"text", "media_keys": [...], "withheld": {...}};
`POST edits/<id>` takes {"text"} and returns the ids of all versions; `DELETE contents` undoes both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fakex.control.acts import Act, Body, Params
from fakex.world.contents import AS_INVENTED, edited
from fakex.world.ids import LOW_BITS, TWEPOCH_MS
from fakex.x import X

_MOST_EDITS = 5
_FIELDS = {"text", "media_keys", "withheld"}


class ContentActs:
    def __init__(self, x: X) -> None:
        self._x = x
        self.acts: dict[tuple[str, str], Act] = {
            ("PUT", "contents"): self._put,
            ("DELETE", "contents"): self._delete,
            ("POST", "edits"): self._edit,
        }

    def _put(self, rest: str, _query: Params, body: Body) -> Any:
        if not body or (unknown := set(body) - _FIELDS):
            raise ValueError(f"unknown: {', '.join(sorted(unknown)) if body else 'nothing given'}")
        post_id, world = self._known(rest), self._x.world
        was = world.contents.get(post_id, AS_INVENTED)
        now = replace(
            was,
            text=body.get("text", was.text),
            media=tuple(map(str, body.get("media_keys", was.media))),
            withheld=body.get("withheld", was.withheld),
        )
        self._x.replace_world(world.with_contents({**world.contents, post_id: now}))
        return {"contents": rest}

    def _edit(self, rest: str, _query: Params, body: Body) -> Any:
        """A new version, born now; X allows five per post."""
        post_id, world, now_ms = self._known(rest), self._x.world, self._x.now_ms()
        if len(world.contents.get(post_id, AS_INVENTED).versions) > _MOST_EDITS:
            raise ValueError(f"a post is edited {_MOST_EDITS} times at the most")
        new_id = (now_ms - TWEPOCH_MS) << LOW_BITS
        while world.traits(new_id):
            new_id += 1
        contents = edited(
            world.contents, post_id, new_id=new_id, text=str(body["text"]), now_ms=now_ms
        )
        self._x.replace_world(world.with_contents(contents))
        return {"id": str(new_id), "versions": [str(one) for one in contents[new_id].versions]}

    def _delete(self, _rest: str, _query: Params, _body: Body) -> Any:
        self._x.replace_world(self._x.world.with_contents({}))
        return {}

    def _known(self, rest: str) -> int:
        if self._x.world.traits(int(rest)) is None:
            raise LookupError(rest)
        return int(rest)
