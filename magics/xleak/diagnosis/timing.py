"""Questions about time: where a step waits."""

from __future__ import annotations

from xleak.diagnosis.checks import NOTHING, Answer, Check, by_rules
from xleak.diagnosis.evidence import Evidence
from xleak.explain import kind
from xleak.render.units import counted, human_seconds
from xleak.shell.cell_notes import CellTime
from xleak.shell.line_kinds import Kind
from xleak.verdict import Finding

# The seed of the method calls a device starved below 80 % of use.
STARVED = 0.2
# A read of the device in each step that takes less is nobody's trouble.
_READS = 0.1
# A copy that is over sooner was not worth its start: starting one takes some microseconds.
_TINY_SECONDS = 10e-6
_MANY = 100
_PROFILE = "%%leakcheck --profile"


def speed_findings(evidence: Evidence) -> list[Finding]:
    """What was measured to cost time, notes left out."""
    return [
        it
        for it in evidence.verdict.findings
        if kind(it.code).effect == "speed" and it.severity != "note"
    ]


def timing(evidence: Evidence) -> list[Check]:
    """One check for each of the causes of a slow step."""
    return [
        _one_iteration(evidence),
        waits_for_batches(evidence),
        _reads(evidence),
        _unpinned(evidence),
        _tiny_transfers(evidence),
        _waiting_device(evidence),
        by_rules("Do loaders leave the device waiting?", ["XL610"], evidence),
        _operators(evidence),
    ]


def waits_for_batches(evidence: Evidence) -> Check:
    """Whether a fifth of a long cell's time passed at the head of a loop."""
    question = "Is the next batch waited for?"
    profile = evidence.profile
    if profile is not None and profile.loading_share >= STARVED:
        told = f"{profile.loading_share:.0%} of {evidence.verdict.name_of(profile.cell)}, by torch's profiler"
        return Check(question, "yes", told, "num_workers=2 or more", "XL610", profile.cell)
    if (slow := _most(evidence, "next item")) is not None and slow.share("next item") >= STARVED:
        cell, line = slow.longest["next item"]
        told = f"{_share(evidence, slow, 'next item')}, most of it at line {line} of {evidence.verdict.name_of(cell)}"
        return Check(question, "yes", told, _PROFILE, "XL610", cell)
    if profile is None and not evidence.times:
        return _too_short(question)
    of = evidence.verdict.name_of(profile.cell) if profile is not None else _cells(evidence)
    return Check(question, "no", f"less than {STARVED:.0%} of the time of {of}", NOTHING, "XL610")


def _one_iteration(evidence: Evidence) -> Check:
    question = "Is one step slow?"
    profile = evidence.profile
    steps = (
        next((it for it in profile.phases if it.name == "optimizer step"), None)
        if profile
        else None
    )
    if profile is None or steps is None:
        told = "no step was timed"
        return Check(question, "unknown", told, f"{_PROFILE} above the loop")
    each = human_seconds(profile.seconds / steps.count)
    name = evidence.verdict.name_of(profile.cell)
    told = f"{counted(steps.count, 'step')} of {each} each in {name}; what is slow is yours to say"
    return Check(question, "unknown", told, _PROFILE, None, profile.cell)


def _reads(evidence: Evidence) -> Check:
    question = "Does Python wait for the device to read a value?"
    check = by_rules(question, ["XL609"], evidence)
    if check.answer != "unknown" or evidence.devices:
        return check
    slow = _most(evidence, "read of a result")
    reading = f"; lines that read took {_share(evidence, slow, 'read of a result')}" if slow else ""
    told = f"no device is in use here: a read waits for nothing{reading}"
    return Check(question, "unknown", told, "%xleak devices", "XL609")


def _unpinned(evidence: Evidence) -> Check:
    question = "Do batches come from memory that is not pinned?"
    if not evidence.devices:
        told = "no device is in use here, and without one it does not matter"
        return Check(question, "unknown", told, "%xleak devices", "XL605")
    loose = [it.name for it in evidence.loaders if not it.is_pinned]
    if loose:
        told = f"DataLoader {', '.join(loose)}"
        return Check(question, "yes", told, "DataLoader(…, pin_memory=True)", "XL610")
    if not evidence.loaders:
        return Check(question, "unknown", "no name stands for a DataLoader", NOTHING, "XL610")
    return Check(
        question, "no", f"{counted(len(evidence.loaders), 'loader')} pin", NOTHING, "XL610"
    )


def _tiny_transfers(evidence: Evidence) -> Check:
    question = "Are there many tiny transfers?"
    profile = evidence.profile
    if profile is None or not evidence.devices:
        why = "no cell was profiled" if evidence.devices else "no device is in use here"
        then = _PROFILE if evidence.devices else "%xleak devices"
        return Check(question, "unknown", why, then, "XL605")
    each = profile.transfer_seconds / max(1, profile.transfers)
    name = evidence.verdict.name_of(profile.cell)
    told = f"{counted(profile.transfers, 'transfer')} in {name}, {each * 1e6:.0f} µs each"
    if profile.transfers >= _MANY and each < _TINY_SECONDS:
        return Check(question, "yes", told, "move a whole batch at once", "XL605", profile.cell)
    return Check(question, "no", told, NOTHING, "XL605", profile.cell)


def _waiting_device(evidence: Evidence) -> Check:
    question = "Does the device wait for work?"
    profile = evidence.profile
    if not evidence.devices:
        return Check(question, "unknown", "no device is in use here", "%xleak devices")
    if profile is None or profile.busy_share is None:
        told = "no cell that uses it was profiled"
        return Check(question, "unknown", told, f"{_PROFILE} above the loop", "XL610")
    name = evidence.verdict.name_of(profile.cell)
    told = f"it was busy in {profile.busy_share:.0%} of {name}, by torch's profiler"
    if profile.busy_share < 1 - STARVED:
        then = "more workers, less work on the host between batches, or pin_memory=True"
        return Check(question, "yes", told, then, "XL610", profile.cell)
    return Check(question, "no", told, NOTHING, "XL610", profile.cell)


def _operators(evidence: Evidence) -> Check:
    question = "Does one operator take most of the time?"
    profile = evidence.profile
    if profile is None:
        return Check(question, "unknown", "no cell was profiled", f"{_PROFILE} above the loop")
    top = profile.operators[:3]
    told = ", ".join(f"{it.name} {it.share:.0%}" for it in top) or "none has a tenth"
    answer: Answer = "yes" if top and top[0].share >= 0.5 else "no"
    return Check(question, answer, told, f"{_PROFILE} trace.json", None, profile.cell)


def _most(evidence: Evidence, kind_of_line: Kind) -> CellTime | None:
    return max(evidence.times, key=lambda it: it.share(kind_of_line), default=None)


def _share(evidence: Evidence, time: CellTime, kind_of_line: Kind) -> str:
    name = evidence.verdict.name_of(time.cell)
    return f"{time.share(kind_of_line):.0%} of the {human_seconds(time.seconds)} of {name}"


def _cells(evidence: Evidence) -> str:
    return ", ".join(evidence.verdict.name_of(it.cell) for it in evidence.times)


def _too_short(question: str) -> Check:
    told = "no cell took a second, so there are no samples"
    return Check(question, "unknown", told, f"{_PROFILE} above the loop", "XL610")
