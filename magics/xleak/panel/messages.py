"""The messages from the kernel to a panel, `fromKernel` of share/comm/v1.schema.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import xleak
from xleak import _native
from xleak.flight.death import death_of, sentence
from xleak.postmortem import Postmortem

TARGET = "xleak"
VERSION = 1

Message = dict[str, Any]


def hello(capabilities: Sequence[str]) -> Message:
    """The first message on every comm, and the only one until it subscribes."""
    return {
        "kind": "hello",
        "protocol": VERSION,
        "xleak": xleak.__version__,
        "capabilities": list(capabilities),
    }


def session(
    request: int,
    cells: list[Message],
    earlier_cells: int,
    findings: list[Message],
    policy: str,
    dismissed: int,
) -> Message:
    """The answer to `subscribe`. earlier_cells: how many were left out in front of `cells`;
    dismissed: the number of dismissed findings."""
    return {
        "kind": "session",
        "request": request,
        "cells": cells,
        "earlier_cells": earlier_cells,
        "findings": findings,
        "policy": policy,
        "dismissed_now": dismissed,
    }


def cell(shape: Message) -> Message:
    """A cell has ended."""
    return {"kind": "cell", "cell": shape}


def postmortem(cell: int, told: Postmortem) -> Message:
    """A cell has failed because memory ran out."""
    shape = asdict(told)
    # What the frames hold in detail stands under the cell.
    del shape["locals"]
    return {"kind": "postmortem", "cell": cell, **shape}


def findings(
    request: int | None = None,
    *,
    added: Sequence[Message] = (),
    changed: Sequence[Message] = (),
    resolved: Sequence[str] = (),
    dismissed: Sequence[str] = (),
    dismissed_now: int = 0,
) -> Message:
    """What changed; with `request` the answer to it, `added` being all there are. dismissed_now: how
    many of the current findings are dismissed."""
    return {
        "kind": "findings",
        "request": request,
        "added": list(added),
        "changed": list(changed),
        "resolved": list(resolved),
        "dismissed": list(dismissed),
        "dismissed_now": dismissed_now,
    }


def findings_count(count: int) -> Message:
    """For a comm that has not subscribed: how many findings there are, notes and dismissed ones left out."""
    return {"kind": "findings_count", "count": count}


def done(request: int, freed: dict[str, int] | None = None, lines: Sequence[str] = ()) -> Message:
    """The request was carried out. freed: bytes by allocator; lines: what happened, to be read."""
    return {"kind": "done", "request": request, "freed": freed or {}, "lines": list(lines)}


def error(request: int | None, sentence: str) -> Message:
    """The request was not carried out. request: None where its id could not be read."""
    return {"kind": "error", "request": request, "message": sentence}


def answer(request: int, kind: str, fields: Message) -> Message:
    """What was asked for by a request of this kind: names, path, census or devices."""
    return {"kind": kind, "request": request, **fields}


def progress(request: int | None, share: float | None) -> Message:
    """A search takes long. request: None where the kernel searches by itself; share: 0 to 1."""
    return {"kind": "progress", "request": request, "share": share}


def policy(name: str) -> Message:
    """The policy was set."""
    return {"kind": "policy", "policy": name}


def rule_policies(policies: dict[str, str]) -> Message:
    """The rules that have a policy of their own: all of them, by code."""
    return {"kind": "rule_policies", "policies": dict(policies)}


def journal(request: int | None, entries: Iterable[Message]) -> Message:
    """All entries, or with no request those that came or changed."""
    return {"kind": "journal", "request": request, "entries": list(entries)}


def released(findings: list[str], freed: dict[str, int], lines: list[str]) -> Message:
    """The kernel ran the fixes of these findings by itself."""
    return {"kind": "released", "findings": findings, "freed": freed, "lines": lines}


def process(resident_bytes: int) -> Message:
    """The memory of the process now, sent when something was released between two cells."""
    return {"kind": "process", "resident_bytes": resident_bytes}


def guard(note: _native.GuardNote) -> Message:
    """How near a limit of memory is has changed."""
    fields = ("device", "level", "used_bytes", "limit_bytes", "limit", "index", "grown_bytes")
    return {
        "kind": "guard",
        **{field: getattr(note, field) for field in fields},
        "sentence": note.sentence,
    }


def last_session(record: _native.FlightRecord) -> Message:
    """How the kernel before this one ended."""
    cell, death = record.cell, death_of(record)
    sizes = [[seconds, size] for seconds, size, _ in cell.samples] if cell else []
    return {
        "kind": "last_session",
        "sentence": sentence(record, death),
        "cell": cell.index if cell else None,
        "code": cell.source if cell else None,
        "seconds": sizes[-1][0] if sizes else 0,
        "sizes": sizes,
        "cause": death.cause,
    }
