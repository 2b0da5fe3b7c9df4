"""A diagnosis as text and as HTML."""

from __future__ import annotations

import textwrap

from xleak import resources
from xleak.diagnosis.checks import NOTHING, Section
from xleak.diagnosis.walk import Diagnosis
from xleak.render.escape import escape
from xleak.render.table import printable
from xleak.render.units import counted

_WIDTH = 100
_CLASS = {"yes": "status-error", "no": "", "unknown": "status-not_run"}


def plain(diagnosis: Diagnosis) -> str:
    """For each question the answer, what it rests on, and what to type next."""
    parts = [_head(diagnosis)]
    parts += [
        _line(f"Symptom: {it.name}", it.evidence, it.next, indent=2) for it in diagnosis.symptoms
    ]
    parts += [diagnosis.modes] if diagnosis.modes else []
    known: set[str] = set()
    for section in diagnosis.sections:
        lines = [section.title]
        for it in section.checks:
            again, evidence = it.question in known, "as above"
            known.add(it.question)
            then = "" if again else it.next
            lines.append(
                _line(f"{it.answer:7}  {it.question}", evidence if again else it.evidence, then)
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _line(said: str, evidence: str, then: str, indent: int = 9) -> str:
    """What is to be typed stands unbroken, on a line of its own where it does not fit."""
    mark = ": " if said.startswith("Symptom") else " "
    wrapped = textwrap.fill(
        printable(f"{said}{mark}{evidence}."),
        _WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not then:
        return wrapped
    next_step = f"→ {printable(then)}"
    fits = len(wrapped.rpartition("\n")[2]) + 1 + len(next_step) <= _WIDTH
    return f"{wrapped} {next_step}" if fits else f"{wrapped}\n{' ' * indent}{next_step}"


def fragment(diagnosis: Diagnosis) -> str:
    """The same as tables, in the colours of the page that they are put into."""
    css = resources.style("report.css")
    body = "".join(
        f"<p><strong>{_data(it.name)}</strong>: {_data(it.evidence)} <code>{_data(it.next)}</code></p>"
        for it in diagnosis.symptoms
    )
    rows = "".join(_rows(section) for section in diagnosis.sections)
    table = f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
    head = f"<p>{_data(_head(diagnosis))}</p>"
    head += f"<p>{_data(diagnosis.modes)}</p>" if diagnosis.modes else ""
    return f'<style>{css}</style><div class="xleak">{head}{body}{table}</div>'


def _rows(section: Section) -> str:
    """One table for all sections keeps their columns in line."""
    rows = "".join(
        f'<tr class="{_CLASS[it.answer]}"><td>{it.answer}</td><td class="said">{_data(it.question)}</td>'
        f'<td class="said">{_data(it.evidence)}</td><td>{_typed(it.next)}</td></tr>'
        for it in section.checks
    )
    return f'<tr><th colspan="4">{_data(section.title)}</th></tr>{rows}'


def _typed(then: str) -> str:
    return "" if then == NOTHING else f"<code>{_data(then)}</code>"


def _head(diagnosis: Diagnosis) -> str:
    # One question may stand in several lists.
    checks = {it.question: it for section in diagnosis.sections for it in section.checks}
    answers = [it.answer for it in checks.values()]
    return (
        f"{counted(answers.count('yes'), 'problem')}, {counted(answers.count('no'), 'question')} "
        f"answered no, {answers.count('unknown')} unknown. Yes is a problem; no: the rules looked and "
        "saw nothing."
    )


def _data(text: str) -> str:
    return escape(printable(text))
