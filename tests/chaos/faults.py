"""The kinds of faults, and what each of them may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fakex.faults.script import ID_KINDS, REPLY_KINDS

Lane = Literal["process", "stop", "network", "database", "saves", "clock", "x", "stream", "deliver"]
Busy = Literal["busy", "idle", "any"]
Loses = Literal["nothing", "one", "host", "all", "probes"]


@dataclass(frozen=True, slots=True)
class Kind:
    """`lane`: what happens one after the other; lanes run side by side.

    `seconds`: how long it lasts, in leases where `in_leases`. `loses`: whose batch in hand may
    be answered and never saved: one worker's, each of the host's, or each of all hosts'; "probes":
    also what is asked meanwhile to find out whether it can be saved again. `once`: in a run of any
    length, if it is long enough.
    """

    name: str
    lane: Lane
    busy: Busy = "any"
    seconds: tuple[float, float] = (0.0, 0.0)
    in_leases: bool = False
    loses: Loses = "nothing"
    once: bool = False


PROCESS = [
    Kind("kill a worker in its batch", "process", "busy", loses="one"),
    Kind("kill an idle worker", "process", "idle"),
    Kind("kill the pusher", "process"),
    Kind("kill the monitor", "process"),
    Kind("kill the sentinel", "process", loses="host"),
    Kind("kill main", "process", loses="host"),
    Kind("kill the whole cluster", "process", loses="host"),
    Kind("SIGTERM to the group", "process"),
]
STOP = [
    Kind("stop a worker in its batch", "stop", "busy", (1.2, 1.4), in_leases=True, loses="one"),
    Kind("stop an idle worker", "stop", "idle", (1.2, 1.4), in_leases=True),
    Kind("stop the pusher", "stop", seconds=(1.2, 1.4), in_leases=True, loses="one"),
    Kind("stop the whole cluster", "stop", seconds=(1.2, 1.4), in_leases=True, loses="host"),
]
NETWORK = [
    Kind("cut off from the database", "network", seconds=(0.5, 1.5), in_leases=True, loses="host"),
    Kind("database stalled", "network", seconds=(0.5, 1.5), in_leases=True, loses="host"),
    Kind("database slow", "network", seconds=(0.5, 1.0), in_leases=True, loses="host"),
    Kind("cut off from X", "network", seconds=(0.3, 1.0), in_leases=True),
    Kind("SYNs to X dropped", "network", seconds=(0.3, 1.0), in_leases=True),
    Kind("X stalled", "network", seconds=(0.3, 1.0), in_leases=True),
    Kind("X slow", "network", seconds=(0.3, 1.0), in_leases=True),
]
DATABASE = [
    Kind("kill Postgres", "database", loses="all"),
    Kind("connections all taken", "database", seconds=(3.0, 5.0), loses="all"),
]
# As long as a person needs to see it. The first two are there and cannot save.
SAVES = [
    Kind("a full disk", "saves", seconds=(60.0, 60.0), loses="probes", once=True),
    Kind("a missing column", "saves", seconds=(60.0, 60.0), loses="probes", once=True),
    Kind("failover to the standby", "saves", loses="all", once=True),
]
CLOCK = [
    Kind("clock an hour ahead", "clock", seconds=(8.0, 12.0)),
    Kind("clock an hour behind", "clock", seconds=(8.0, 12.0)),
]
STREAM = [
    Kind("a rule of the stream deleted elsewhere", "stream"),
    Kind("the stream cut in a line", "stream"),
    Kind("kill the stream", "stream"),
]
DELIVER = [
    Kind("kill a deliverer", "deliver"),
    Kind("kill every deliverer", "deliver"),
    Kind("kill every deliverer in mid-send", "deliver"),
    Kind("stop a deliverer", "deliver", seconds=(1.2, 1.4), in_leases=True),
    Kind("SIGTERM to a deliverer", "deliver"),
    Kind("a deliverer cut off from the database", "deliver", seconds=(0.5, 1.0), in_leases=True),
]
X = [Kind(f"X: {name}", "x") for name in (*REPLY_KINDS, *ID_KINDS)]

# Seconds of faults, of which those that happen once take some three minutes.
ONCE_FROM = 300.0

# After these a project is stopped until somebody has paid.
UNPAID = frozenset({"402_credits", "402_depleted", "429_cap"})

# After these X is not asked with a credential, here or anywhere, until it is due or enabled.
REFUSED = frozenset({"401", "403", "403_unsupported", "403_forbidden"})

# What a rule of X's script gets beside its kind, and how many requests it spoils.
TIMES = 3
PARAMS = {
    "429": {"reset_in": 2},
    "429_twice": {"reset_in": 2},
    "503_json": {"retry_after": 1},
    "slow": {"ms": 2600},
    "omit": {"share": 0.1},
    "not_found": {"share": 0.1},
    "broken": {"share": 0.1},
}


def kinds(*, clocks, seconds):
    """Every kind that this machine can do in a run of so many seconds of faults."""
    saves = SAVES if seconds >= ONCE_FROM else []
    clock = CLOCK if clocks else []
    return [*PROCESS, *STOP, *NETWORK, *DATABASE, *saves, *clock, *STREAM, *DELIVER, *X]
