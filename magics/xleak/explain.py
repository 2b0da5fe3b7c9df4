"""What a rule means: the README of its smell, by its code or slug."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xleak import resources

_TITLE = re.compile(r"^# (?P<title>.*) \((?P<code>XL\d{3})\)\s*$")
_KIND = re.compile(
    r"^Category: (?P<category>[\w ]+)\. Scope: (?P<scope>\w+)\. Effect: (?P<effect>\w+)\."
    r"(?: Twin: (?P<twins>[XL\d, ]+)\.)?$",
    re.MULTILINE,
)

CATEGORIES = (
    "resource management",
    "graph and gradient",
    "training pipeline",
    "loop lifecycle",
    "framework use",
    "environment",
)
SCOPES = ("general", "PyTorch", "TensorFlow", "Keras")
# leak: memory that stays. peak: memory for a while. speed: time alone. result: what is computed is wrong.
EFFECTS = ("leak", "peak", "speed", "result")


@dataclass(frozen=True)
class Kind:
    """What a rule is about: one of CATEGORIES, of SCOPES and of EFFECTS."""

    category: str
    scope: str
    effect: str
    twins: tuple[str, ...] = ()
    """Codes of the rules for the same mistake in another framework."""


def explanation(rule: str) -> str:
    """The README of a smell. Raises LookupError with a sentence where there is no such rule."""
    known = _readmes()
    slugs = {readme.parent.name: code for code, readme in known.items()}
    code = slugs.get(rule.lower(), rule.upper())
    if code not in known:
        raise LookupError(f"there is no rule {rule!r}; known are {', '.join(sorted(known))}")
    return known[code].read_text(encoding="utf-8").rstrip()


def title(code: str) -> str:
    """The name of a rule, as its README has it."""
    match = _TITLE.match(_text(code).partition("\n")[0])
    return match["title"] if match else code


def summary(code: str) -> str:
    """What a rule reports, in the first paragraph of its README."""
    paragraphs = _text(code).split("\n\n")
    told = next((it for it in paragraphs if it.startswith("## What it does")), "")
    return " ".join(told.splitlines()[1:])


@cache
def kind(code: str) -> Kind:
    """What a rule is about, as its README says below the title. Raises LookupError without that line."""
    # One file, where the list of them all would be read to find it: this is asked after a cell.
    readme = resources.smells() / _slugs().get(code, "") / "README.md"
    told = _KIND.search(readme.read_text(encoding="utf-8")) if readme.is_file() else None
    if told is None:
        raise LookupError(f"{code} has no line 'Category: …. Scope: …. Effect: ….' below its title")
    twins = tuple(told["twins"].split(", ")) if told["twins"] else ()
    return Kind(told["category"], told["scope"], told["effect"], twins)


def _text(code: str) -> str:
    readme = _readmes().get(code)
    return "" if readme is None else readme.read_text(encoding="utf-8")


@cache
def _slugs() -> dict[str, str]:
    from xleak import _native

    return {smell.code: smell.slug for smell in _native.smells()}


@cache
def _readmes() -> dict[str, Path]:
    found = {}
    for readme in resources.smells().glob("*/README.md"):
        with readme.open(encoding="utf-8") as lines:
            title = _TITLE.match(lines.readline())
        if title:
            found[title["code"]] = readme
    return found
