"""A post-mortem as plain text and as HTML."""

from __future__ import annotations

import re

from xleak import resources
from xleak.cell_names import Naming
from xleak.postmortem import LEAST_BYTES, HeldByName, Postmortem
from xleak.render.escape import escape
from xleak.render.table import printable
from xleak.render.units import human_bytes

# What the frames hold is as good as free: nobody has to type anything for it.
_BY_ITSELF = "its frames go when the next cell runs; `%debug` and `%tb` have them until then"


def plain(told: Postmortem, named: Naming) -> str:
    """Several lines, the first a sentence."""
    rows = [f"  {name + ':':<13} {text}" for name, text in _rows(told, named)]
    return "\n".join(
        [f"xleak: {_safe(told.sentence)}", *rows, *(f"  - {it}" for it in _advice(told))]
    )


def fragment(told: Postmortem, named: Naming) -> str:
    """The same in the colours of the page that it is put into, with its style."""
    style = resources.style("report.css")
    return f'<style>{style}</style><div class="xleak">{card(told, named)}</div>'


def card(told: Postmortem, named: Naming) -> str:
    """The same without the style."""
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{markup(text)}</td></tr>'
        for name, text in _rows(told, named)
    )
    advice = "".join(f"<p>{markup(it)}</p>" for it in _advice(told))
    return (
        f'<article class="finding error"><header><h3>{markup(told.sentence)}</h3></header>'
        f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>{advice}</article>'
    )


def sizes(allocated: int | None, reserved: int | None, fragmented: int | None) -> str:
    """What an allocator says of itself; empty where it says nothing."""
    known = {"allocated": allocated, "reserved": reserved, "of it unused": fragmented}
    return ", ".join(f"{human_bytes(it)} {name}" for name, it in known.items() if it is not None)


def _rows(told: Postmortem, named: Naming) -> list[tuple[str, str]]:
    rows = {
        "memory": sizes(told.allocated_bytes, told.reserved_bytes, told.fragmented_bytes),
        "failed frames": _of_frames(told),
        "names": listed(told.names),
        "cells": ", ".join(
            f"{named(it.index)} kept {human_bytes(it.kept_bytes)}" for it in told.cells
        ),
        "releasable": _releasable(told),
    }
    return [(name, text) for name, text in rows.items() if text]


def _of_frames(told: Postmortem) -> str:
    if told.failing_cell_bytes is None:
        return "what they hold is unknown: the search found no room, or took too long"
    if told.failing_cell_bytes < LEAST_BYTES:
        return ""
    inside = f", most of it {listed(told.locals)}" if told.locals else ""
    return f"hold {human_bytes(told.failing_cell_bytes)}{inside}; {_BY_ITSELF}"


def _releasable(told: Postmortem) -> str:
    if told.releasable_bytes is None:
        return ""
    if told.fix is None:
        return f"less than {human_bytes(LEAST_BYTES)} that no name reaches"
    return f"{human_bytes(told.releasable_bytes)} with `{told.fix}`"


def listed(held: list[HeldByName]) -> str:
    """Names with their sizes."""
    return ", ".join(f"`{_safe(it.name)}` {human_bytes(it.retained_bytes)}" for it in held)


def _advice(told: Postmortem) -> list[str]:
    return [_safe(it) for it in told.advice]


def _safe(text: str) -> str:
    return printable(text)


def markup(text: str) -> str:
    """A sentence as HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(_safe(text)))
