"""The projects, their money, and the clock that decides the UTC day on which a read is billed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from fakex.account.billing import Bill, Counting, Project, Short, UserRead, day_name
from fakex.account.callers import Caller
from fakex.account.terms import Terms, read_term


class Ledger:
    """All projects; one without terms of its own has the terms set for all."""

    def __init__(self) -> None:
        self.offset_ms = 0
        self.terms = Terms()
        self.projects: dict[str, Project] = {}

    def at(self, now_ms: int) -> int:
        """The instant, by the clock that decides the UTC day on which a read is billed."""
        return now_ms + self.offset_ms

    def charge(
        self,
        caller: Caller,
        *,
        posts: Collection[int] = (),
        users: Collection[UserRead] = (),
        lists: Collection[int] = (),
        counts: Counting | None = None,
        is_owned: bool = False,
        now_ms: int,
    ) -> Bill | Short:
        """Book what the caller has just read, or say what the project is short of.

        With `is_owned` the posts are the caller's own, and cheaper.
        """
        project = self.project(caller.project)
        return project.charge(
            posts,
            users,
            lists=lists,
            counts=counts,
            is_owned=is_owned,
            app=caller.app,
            at_ms=self.at(now_ms),
        )

    def project(self, name: str) -> Project:
        project = self.projects.get(name)
        if project is None:
            project = self.projects[name] = Project(name, replace(self.terms))
        return project

    def change(self, name: str, body: Mapping[str, Any], *, now_ms: int) -> None:
        """Set terms of one project, or of all present and future ones when `name` is empty.

        `others_today`: how many posts others on the same account have read today.
        """
        body = dict(body)
        others = body.pop("others_today", None)
        changes = {term: read_term(term, value) for term, value in body.items()}
        if name:
            projects = [self.project(name)]
        else:
            projects = list(self.projects.values())
            self.terms = replace(self.terms, **changes)
        for project in projects:
            project.terms = replace(project.terms, **changes)
            if others is not None:
                project.set_others(int(others), at_ms=self.at(now_ms))

    def clear(self, name: str) -> None:
        """Forget what one project read and its terms; everything when `name` is empty."""
        if name:
            self.projects.pop(name, None)
        else:
            self.projects.clear()
            self.terms = Terms()

    def totals(self) -> dict[str, dict[str, int]]:
        """Billed posts by project and UTC day."""
        return {
            name: {day_name(number): day.billed for number, day in sorted(project.days.items())}
            for name, project in sorted(self.projects.items())
        }
