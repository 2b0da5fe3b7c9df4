"""Sums what was judged: by question, style, and whether torch takes part."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cases import QUESTIONS, STYLES
from judge import Judged

COLUMNS: dict[str, Callable[[Judged], bool]] = {
    "found": lambda it: it.found,
    "strict": lambda it: it.is_strict,
    "holder": lambda it: it.holder,
    "bytes": lambda it: it.bytes,
    "cell": lambda it: it.cause_cell,
    "line": lambda it: it.cause_line,
    "repair": lambda it: it.repair,
}


def groups(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """All cases, and those of each question and style, with torch and without."""
    chosen: dict[str, Callable[[Judged], bool]] = {"all": lambda it: True}
    for style in STYLES:
        chosen[style] = lambda it, style=style: it.case.style == style  # type: ignore[misc]
    chosen["torch"] = lambda it: it.case.needs_torch
    chosen["no torch"] = lambda it: not it.case.needs_torch
    for question in QUESTIONS:
        chosen[question] = lambda it, question=question: (  # type: ignore[misc]
            it.case.question == question
        )
    return {name: [it for it in judged if belongs(it)] for name, belongs in chosen.items()}


def summed(judged: Iterable[Judged]) -> dict[str, int]:
    """The counts of one group."""
    every = list(judged)
    leaking = [it for it in every if it.case.leak]
    clean = [it for it in every if not it.case.leak]
    return {
        "leaking": len(leaking),
        **{name: sum(is_so(it) for it in leaking) for name, is_so in COLUMNS.items()},
        "alarms_beside": sum(len(it.others) for it in leaking),
        "clean": len(clean),
        "accused": sum(bool(it.alarms) for it in clean),
        "failed": sum(it.failure is not None for it in every),
    }


def table(judged: Sequence[Judged]) -> str:
    """The groups as lines of text."""
    heads = ["leaking", *COLUMNS, "beside", "clean", "accused", "failed"]
    lines = [" " * 9 + "".join(f"{head:>9}" for head in heads)]
    for name, group in groups(judged).items():
        counts = summed(group)
        lines.append(f"{name:9}" + "".join(f"{count:9}" for count in counts.values()))
    return "\n".join(lines)


def line(judged: Judged) -> str:
    """One case, for who may look at it."""
    case = judged.case
    if not case.leak:
        said = "; ".join(_short(it) for it in judged.alarms) or "no alarm"
        word = "ACCUSED" if judged.alarms else "ok"
    else:
        right = [name for name, is_so in COLUMNS.items() if is_so(judged)]
        word = "found" if judged.found else "MISSED"
        about = _short(judged.best) if judged.best else "no finding of this memory"
        said = f"{', '.join(right[1:]) or 'nothing more is right'}: {about}"
        if judged.others:
            said += f"; of other memory: {'; '.join(map(_short, judged.others[:3]))}"
    if judged.failure:
        said += f" [the run failed, {judged.failure[:120]}]"
    return f"{word:8}{case.question:7}{case.style:6}{case.slug}: {said}"


def as_json(judged: Sequence[Judged]) -> dict[str, Any]:
    """The totals of every group."""
    return {name: summed(group) for name, group in groups(judged).items()}


def _short(finding: dict[str, Any]) -> str:
    size = "?" if finding["bytes"] is None else f"{finding['bytes'] / 1e6:.1f} MB"
    holder = (finding["holders"] or [finding["name"] or "?"])[0]
    return f"{finding['code']} {size}, {holder[:60]}, cell {finding['cause_cell']}"
