"""The books for a person, and as one object for a program."""

from __future__ import annotations


def to_dict(evidence, books, *, seed, minutes):
    return {
        "seed": seed,
        "minutes": minutes,
        "tweets": evidence.pace.tweets,
        "requests_a_second": round(evidence.pace.load, 1),
        "machine_busy_percent": round(evidence.busy[0]),
        "own_share_percent": round(evidence.busy[1]),
        "right": all(book.right for book in books),
        "books": [
            {
                "name": book.name,
                "right": book.right,
                "figures": book.figures,
                "differs": book.differs,
            }
            for book in books
        ],
        "faults": [
            {
                "at": round(happening.begun_at - evidence.calm_from, 2),
                "kind": happening.fault.kind.name,
                "host": happening.host,
                "lasted": round(happening.ended_at - happening.begun_at, 2),
                "happened": happening.happened,
            }
            for happening in evidence.happenings
        ],
    }


def to_text(books):
    lines = []
    for book in books:
        lines.append(f"{'right' if book.right else 'WRONG'}  {book.name}")
        lines += [f"         {line}" for line in told(book.figures)]
        lines += [f"    !!   {line}" for line in book.differs]
    return "\n".join(lines)


def told(figures):
    for name, value in figures.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{key} {one}" for key, one in value.items())
            yield f"{name}: {inner or 'none'}"
        elif isinstance(value, int):
            yield f"{name}: {value:,}"
        else:
            yield f"{name}: {value}"
