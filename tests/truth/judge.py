"""Judges a verdict of `xleak run` by what a case declares. Nothing here runs anything."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cases import Case, Leak

# A finding within these of the declared bytes is about that memory; within the second it says how much.
SAME_MEMORY = 2.0
BYTES_RIGHT = 0.25
# A finding that agrees in its cell, or in a word, and names a hundredth of the bytes speaks of something else.
SAME_SIZE = 4.0
_ALARMS = ("warning", "error")

Found = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """What a run was worth. Of a clean case only `alarms` counts."""

    case: Case
    alarms: tuple[Found, ...]
    failure: str | None
    # The finding that is held to be about the declared memory, None where there is none.
    best: Found | None = None
    is_strict: bool = False
    holder: bool = False
    bytes: bool = False
    cause_cell: bool = False
    cause_line: bool = False
    repair: bool = False
    # Alarms about other memory than the declared.
    others: tuple[Found, ...] = ()

    @property
    def found(self) -> bool:
        return self.best is not None


def judge(case: Case, verdict: dict[str, Any]) -> Judged:
    """Finds the findings that are about the declared memory, and what they say rightly of it."""
    failure = verdict.get("failure")
    said = f"{failure['kind']}: {failure['message']}" if failure else None
    alarms = tuple(it for it in verdict["findings"] if it["severity"] in _ALARMS)
    if case.leak is None:
        return Judged(case, alarms, said)
    # What is dead by its name alone is said in a note, never in a warning.
    counting = tuple(verdict["findings"]) if case.question == "unused" else alarms
    about = _about(case, case.leak, counting)
    if not about:
        return Judged(case, alarms, said, others=alarms)
    best = max(about, key=lambda it: _worth(case, it))
    leak = case.leak
    together = sum(it["bytes"] or 0 for it in about)
    naming = [it for it in about if names_holder(it, leak.holders)]
    named_together = sum(it["bytes"] or 0 for it in naming)
    return Judged(
        case,
        alarms,
        said,
        best,
        # One leak may be reported piece by piece.
        is_strict=_is_strict(leak, best) or _within(named_together, leak.bytes, SAME_MEMORY),
        holder=names_holder(best, leak.holders),
        bytes=is_near(best["bytes"], leak.bytes) or is_near(together, leak.bytes),
        cause_cell=_cell(case, best) == leak.cause_cell,
        cause_line=case.is_cause(_cell(case, best), best["line"]),
        repair=any(fix["kind"] == "run" for fix in best["fixes"]),
        others=tuple(it for it in alarms if it not in about),
    )


def names_holder(finding: Found, holders: Sequence[str]) -> bool:
    """Whether one of the declared words stands, as a word, in what the finding says of its holder."""
    exact = " \n ".join([finding["name"] or "", *finding["holders"], *finding["path"]])
    # A name of one or two letters is a word of any sentence.
    return any(
        has_word(exact, holder) or (len(holder) > 2 and has_word(finding["message"], holder))
        for holder in holders
    )


def has_word(text: str, word: str) -> bool:
    """Whether the word stands in the text, and not as a part of a longer one. `Out` is no "out"."""
    flags = re.IGNORECASE if word.islower() else re.NOFLAG
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) is not None


def _is_strict(leak: Leak, finding: Found) -> bool:
    return names_holder(finding, leak.holders) and _within(
        finding["bytes"], leak.bytes, SAME_MEMORY
    )


def _about(case: Case, leak: Leak, findings: Sequence[Found]) -> list[Found]:
    """Those that agree in two of three: the holder, the cause cell, the bytes. A leak that is reported in pieces, which
    name its holder, has the bytes of all of them."""
    pieces = sum(it["bytes"] or 0 for it in findings if names_holder(it, leak.holders))
    is_whole = _within(pieces, leak.bytes, SAME_SIZE)

    def agrees(finding: Found) -> bool:
        size, named = finding["bytes"], names_holder(finding, leak.holders)
        is_size = size is None or _within(size, leak.bytes, SAME_SIZE) or (named and is_whole)
        return [named, _cell(case, finding) == leak.cause_cell, is_size].count(True) >= 2

    return [it for it in findings if agrees(it)]


def _worth(case: Case, finding: Found) -> tuple[bool, bool, bool, bool]:
    assert case.leak
    return (
        _is_strict(case.leak, finding),
        names_holder(finding, case.leak.holders),
        is_near(finding["bytes"], case.leak.bytes),
        _cell(case, finding) == case.leak.cause_cell,
    )


def _within(size: int | None, declared: int, factor: float) -> bool:
    return size is not None and declared / factor <= size <= declared * factor


def is_near(size: int | None, declared: int) -> bool:
    """Whether the bytes are right."""
    return size is not None and abs(size - declared) <= declared * BYTES_RIGHT


def _cell(case: Case, finding: Found) -> int | None:
    """The cell of the case; a notebook has a copy of it for each time that it runs."""
    number: int | None = finding["cause_cell"]
    return None if number is None else case.order[number - 1]
