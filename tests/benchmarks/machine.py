"""The machine that the figures are of."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.benchmarks.database import url_of

SETTINGS = (
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "synchronous_commit",
    "fsync",
    "full_page_writes",
    "autovacuum",
    "autovacuum_naptime",
    "autovacuum_vacuum_cost_limit",
    "random_page_cost",
    "jit",
)


def describe() -> dict[str, Any]:
    """Processors, memory, the server and those of its settings that decide its speed."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as db:
        version = db.execute("SHOW server_version").fetchone()
        rows = db.execute(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
            (list(SETTINGS),),
        ).fetchall()
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / (1 << 30), 1),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "postgres": version[0] if version else "",
        "settings": dict(rows),
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
