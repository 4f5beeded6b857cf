"""Where the processors' time went between two moments, and how much memory is a process's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from tests.benchmarks.database import Database

MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds by group of processes, and those of the whole machine."""

    by_group: Mapping[str, float]
    machine: float

    def since(self, before: Used) -> Used:
        groups = {
            name: seconds - before.by_group.get(name, 0.0)
            for name, seconds in self.by_group.items()
        }
        return Used(groups, self.machine - before.machine)

    @property
    def others(self) -> float:
        """What processes that have nothing to do with the bench used."""
        return max(0.0, self.machine - sum(self.by_group.values()))


def used(groups: Mapping[str, Sequence[int]], *, postgres: int | None) -> Used:
    """`postgres` is the postmaster here, None when the server is on another machine."""
    by_group = {name: sum(map(of_process, pids)) for name, pids in groups.items()}
    if postgres is not None:
        by_group["postgres"] = of_server(postgres)
    times = psutil.cpu_times()
    return Used(by_group, times.user + times.nice + times.system + times.softirq + times.irq)


def of_process(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def of_server(postmaster: int) -> float:
    """With all that it ever started: the ended ones are in its children's times.

    Read again when one ended meanwhile: its time went from the living to the ended, and would be
    in neither.
    """
    server = psutil.Process(postmaster)
    while True:
        before = server.cpu_times()
        living = sum(of_process(child.pid) for child in server.children())
        times = server.cpu_times()
        ended = times.children_user + times.children_system
        if ended == before.children_user + before.children_system:
            return float(times.user + times.system + ended + living)


def postmaster_of(database: Database) -> int | None:
    """The server's main process, if it runs on this machine."""
    with database.connect() as db:
        pid = db.info.backend_pid
        try:
            process = psutil.Process(pid)
            if "postgres" in process.name():
                parent = process.parent()
                return parent.pid if parent else None
        except psutil.NoSuchProcess:
            pass
    return None


def own_megabytes(pids: Sequence[int]) -> list[float]:
    """The memory (USS) that each would give back by ending; of the living ones."""
    collected = []
    for pid in pids:
        try:
            collected.append(psutil.Process(pid).memory_full_info().uss / MB)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return collected
