"""Writes docs/rules.md, coverage.md and practices.md from the folders of the smells: `make docs`."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xleak import _native, source

ROOT = Path(__file__).resolve().parents[1]
SMELLS = ROOT / "monitor" / "smells"
FAMILIES = {
    "XL1": "PyTorch: tensors and who refers to them",
    "XL2": "PyTorch: gradients and graphs",
    "XL3": "PyTorch: loops, loaders, tracing",
    "XL4": "The shell and Python itself",
    "XL5": "TensorFlow and Keras",
    "XL6": "Devices and allocators",
}
# How a run-time half hands over code that frees: a rule of holders with a title for it, or a magic.
_RELEASES = re.compile(
    r'\{\s*(?:"[^"]*"|\w+),\s*(?:"[^"]+"|kTitle|fix_title),\s*(?!Severity)\w+|release_cache|%xdel'
)
# How a README says why a half is missing.
_MISSING = re.compile(r"^- (Nothing is (?:measured|read)): ([^.]+)\.", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """One folder."""

    code: str
    slug: str
    severity: str
    title: str
    does: str
    in_source: bool
    at_run_time: bool
    fixes: str
    missing: dict[str, str]
    """Why "Nothing is measured" or "Nothing is read"."""


def rules() -> list[Rule]:
    """All rules by their code."""
    return sorted(map(_rule, _native.smells()), key=lambda rule: rule.code)


def _rule(smell: _native.Smell) -> Rule:
    folder = SMELLS / smell.slug
    readme, code = (folder / "README.md").read_text(), (folder / "smell.cpp").read_text()
    title = readme.partition("\n")[0].removeprefix("# ").rpartition(" (")[0]
    does = readme.partition("## What it does\n")[2].partition("\n\n")[0]
    fixes = [
        "edit" if _has_edits(smell) else "",
        "run" if smell.at_run_time and _RELEASES.search(code) else "",
    ]
    return Rule(
        smell.code,
        smell.slug,
        smell.severity,
        title,
        " ".join(does.split()),
        smell.in_source,
        smell.at_run_time,
        ", ".join(filter(None, fixes)),
        {what: " ".join(why.split()) for what, why in _MISSING.findall(readme)},
    )


def _has_edits(smell: _native.Smell) -> bool:
    """Something that lint tells of the rule's own examples can be edited."""
    bad = [str(path) for path in (SMELLS / smell.slug).glob("bad*.py")]
    found = [it for file in source.lint_files(bad) for it in file.report.findings]
    return any(fix.edits for it in found if it.code == smell.code for fix in it.fixes)


def rules_page() -> str:
    """What every rule reports, by family; each links to its own page."""
    lines = ["# Rules", "", "Made from the folders of `monitor/smells` by `make docs`."]
    for start, family in FAMILIES.items():
        lines += ["", f"## {family}", "", "| rule | severity | what it does |", "|---|---|---|"]
        lines += [
            f"| [{it.code}](../monitor/smells/{it.slug}/README.md) {it.title} | {it.severity} | {it.does} |"
            for it in rules()
            if it.code.startswith(start)
        ]
    return "\n".join(lines) + "\n"


def coverage_page() -> str:
    """Which half of each rule there is."""
    lines = [
        "# Coverage",
        "",
        "Made from the folders of `monitor/smells` by `make docs`. Every rule's examples run in the tests:",
        "through lint where it reads the source, through the real kernel where it measures.",
        "",
        "| rule | smell | source | measured | repair | test |",
        "|---|---|---|---|---|---|",
    ]
    for it in rules():
        folder = f"../monitor/smells/{it.slug}"
        read = "yes" if it.in_source else _why_not("Nothing is read", it)
        measured = "yes" if it.at_run_time else _why_not("Nothing is measured", it)
        lines.append(
            f"| {it.code} | {it.slug} | {read} | {measured} | {it.fixes or 'by hand'} "
            f"| [bad]({folder}/bad.py), [good]({folder}/good.py) |"
        )
    return "\n".join(lines) + "\n"


def _why_not(what: str, rule: Rule) -> str:
    if what not in rule.missing:
        raise SystemExit(f"monitor/smells/{rule.slug}/README.md lacks a limit '- {what}: why'.")
    return f"no: {rule.missing[what]}"


def practices_page() -> str:
    """What answers each practice; the rows stand in practices.py."""
    known = {rule.code: rule for rule in rules()}
    sections: dict[str, list[Any]] = runpy.run_path(str(ROOT / "docs" / "practices.py"))["SECTIONS"]
    lines = [
        "# Practices",
        "",
        "Made from `docs/practices.py` and the folders of `monitor/smells` by `make docs`. What the study of",
        "arXiv:2511.15229 and the methods that xleak grew from recommend, and what answers each. Behind a rule:",
        "r where it reads the source, m where it measures, and its repairs (`edit` of the source, `run` gives",
        "back now).",
    ]
    for title, practices in sections.items():
        lines += ["", f"## {title}", "", "| practice | rules | type | and |", "|---|---|---|---|"]
        for it in practices:
            told = ", ".join(_answer(known[code]) for code in it.rules.split())
            typed = ", ".join(f"`{command}`" for command in it.commands.split(", ") if command)
            lines.append(f"| {it.name} | {told} | {typed} | {it.says} |")
    return "\n".join(lines) + "\n"


def _answer(rule: Rule) -> str:
    halves = ("r" if rule.in_source else "") + ("m" if rule.at_run_time else "")
    fixes = f", {rule.fixes}" if rule.fixes else ""
    return f"[{rule.code}](../monitor/smells/{rule.slug}/README.md) ({halves}{fixes})"


PAGES = {"rules.md": rules_page, "coverage.md": coverage_page, "practices.md": practices_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page())
