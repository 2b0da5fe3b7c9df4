"""What kind of trouble a session has, if any: the first question of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xleak.diagnosis.evidence import Evidence
from xleak.diagnosis.timing import speed_findings, waits_for_batches
from xleak.render.table import total_bytes
from xleak.render.units import counted, human_bytes

Name = Literal["out of memory", "grows", "not freed after its cell", "slow", "none"]
# Less after a cell worries nobody.
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class Symptom:
    """One of the four, or none."""

    name: Name
    evidence: str
    next: str


def symptoms(evidence: Evidence) -> list[Symptom]:
    """What was seen, the worst first; one `none` where nothing was."""
    found = [*_out_of_memory(evidence), *_grows(evidence), *_kept(evidence), *_slow(evidence)]
    return found or [_none(evidence)]


def _out_of_memory(evidence: Evidence) -> list[Symptom]:
    if not evidence.out_of_memory:
        return []
    told = (
        f"{evidence.verdict.name_of(evidence.out_of_memory[-1])} ended with an out-of-memory error"
    )
    return [Symptom("out of memory", told, "%xleak oom")]


def _grows(evidence: Evidence) -> list[Symptom]:
    return [
        Symptom(
            "grows",
            f"the last {it.runs} runs of {evidence.verdict.name_of(it.cell)} kept {human_bytes(it.bytes)}, each more",
            "%memreport",
        )
        for it in evidence.growth
    ]


def _kept(evidence: Evidence) -> list[Symptom]:
    leaks = evidence.leaks(_LEAST_BYTES)
    if not leaks:
        return []
    told = f"{counted(len(leaks), 'finding')} keep {human_bytes(total_bytes(leaks))}"
    return [Symptom("not freed after its cell", told, "%leakcheck")]


def _slow(evidence: Evidence) -> list[Symptom]:
    wait = waits_for_batches(evidence)
    if wait.answer == "yes":
        return [Symptom("slow", wait.evidence, wait.next)]
    if found := speed_findings(evidence):
        codes = ", ".join(dict.fromkeys(it.code for it in found))
        return [Symptom("slow", f"rules of speed tell of it: {codes}", "%leakcheck --all")]
    return []


def _none(evidence: Evidence) -> Symptom:
    if not evidence.is_watched:
        return Symptom(
            "none", "cells are not watched, so nothing can be seen", "%xleak policy report"
        )
    told = (
        "nothing ran out, grew, stayed or waited. What a name holds is no leak, and questions of "
        "architecture or convergence are none of memory"
    )
    return Symptom("none", told, "%memreport")
