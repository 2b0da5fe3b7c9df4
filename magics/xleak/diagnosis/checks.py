"""One question of a diagnosis, and how rules answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xleak.diagnosis.evidence import Evidence
from xleak.explain import kind
from xleak.render.table import printable, where
from xleak.render.units import counted, human_bytes

Answer = Literal["yes", "no", "unknown"]
NOTHING = "nothing to do"
# These judge by the allocators of devices, or by the time that one takes.
_OF_DEVICES = frozenset({"XL601", "XL602", "XL603", "XL604", "XL605", "XL608", "XL609", "XL610"})
# Without training there is nothing that they could see.
_OF_TRAINING = frozenset({"XL101", "XL102", "XL203", "XL204", "XL208"})


@dataclass(frozen=True)
class Check:
    """A question whose `yes` is a problem, with what answers it and what to type next."""

    question: str
    answer: Answer
    evidence: str
    next: str
    rule: str | None = None
    cell: int | None = None


@dataclass(frozen=True)
class Section:
    """Questions that belong together."""

    title: str
    checks: list[Check]


def by_rules(question: str, codes: Sequence[str], evidence: Evidence) -> Check:
    """Yes where one of the rules measured it, no where all of them looked and saw nothing, else unknown."""
    explain = f"%leakcheck --explain {codes[0]}"
    found = evidence.found(codes)
    if found:
        first = max(found, key=lambda it: it.bytes or 0)
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        size = "" if first.bytes is None or first.bytes == 0 else f" ({human_bytes(first.bytes)})"
        told = f"{first.code} in {where(first, evidence.verdict.name_of)}{more}: {printable(first.message)}{size}"
        fix = next(iter(first.fixes), None)
        code = printable(fix.code) if fix else f"%leakcheck --explain {first.code}"
        return Check(question, "yes", told, code, first.code, first.cause_cell or first.cell)
    if not evidence.is_watched:
        return Check(question, "unknown", "cells are not watched", "%xleak policy report")
    suspected = evidence.suspected(codes)
    if suspected:
        first_line = suspected[0]
        looked = "memory shows nothing of it" if first_line.refuted else "it was not measured"
        told = (
            f"{first_line.found.code}: {printable(first_line.where)}, line "
            f"{first_line.found.line} reads like it; {looked}"
        )
        return Check(question, "unknown", told, "%leakcheck --notes", first_line.found.code)
    return _without_findings(question, codes, evidence, explain)


def _without_findings(
    question: str, codes: Sequence[str], evidence: Evidence, explain: str
) -> Check:
    of_torch = all(kind(code).scope == "PyTorch" for code in codes)
    rule = codes[0]
    if of_torch and not evidence.has_torch:
        return Check(question, "no", "torch is not imported", NOTHING, rule)
    if of_torch and evidence.tensors_unknown:
        return Check(question, "unknown", evidence.tensors_unknown, "%xleak env", rule)
    if _OF_DEVICES.issuperset(codes) and not evidence.devices:
        return Check(question, "unknown", "no device is in use here", "%xleak devices", rule)
    if _OF_TRAINING.issuperset(codes) and not evidence.has_trained:
        told = "no cell calls backward() yet"
        return Check(question, "unknown", told, "train, then %leakcheck --diagnose", rule)
    told = f"{', '.join(codes)} saw none in {counted(len(evidence.cells), 'cell')}"
    return Check(question, "no", told, explain, rule)
