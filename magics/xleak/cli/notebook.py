"""Notebooks as `xleak run` takes them: .ipynb of formats 3 and 4, and .py with `# %%` cells."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from xleak.cli.problem import Problem

_MARKER = re.compile(r"^# ?%%(?P<rest>(?:\s.*)?)$")
_KIND = re.compile(r"\[(markdown|md|raw)\]")
_HEADER = re.compile(r"\A(?:#!.*\n)?# ---\n(?:#.*\n)*?# ---\n")


def read(path: Path) -> NotebookNode:
    """A notebook of format 4.5 without outputs, every cell with an id of its own.

    Raises Problem for what is missing, broken or written in another language.
    """
    text = _text(path)
    if path.suffix == ".py":
        return _prepared(from_script(text))
    notebook = _parsed(path, text)
    language = _language(notebook)
    if language.lower() not in ("python", "python3", "ipython"):
        raise Problem(f"{path} is written in {language}, and xleak runs Python.")
    return notebook


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that reports count from 1."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Problem(f"{path} is not text in UTF-8, so it is no notebook.") from None
    except OSError as failed:
        raise Problem(f"cannot read {path}: {failed.strerror}. Check the name.") from None


def _parsed(path: Path, text: str) -> NotebookNode:
    try:
        notebook = _prepared(nbformat.reads(text, as_version=4))
        nbformat.validate(notebook, relax_add_props=True)
    except Exception as broken:
        # nbformat lets many kinds of error through, KeyError and RecursionError among them.
        reason = str(getattr(broken, "message", broken)).splitlines() or [type(broken).__name__]
        raise Problem(f"{path} is not a readable notebook: {reason[0][:200]}") from None
    return notebook


def _language(notebook: NotebookNode) -> str:
    metadata = notebook.metadata
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        value = metadata.get(name, {}).get(key)
        if isinstance(value, str) and value:
            return value
    return "python"


def _prepared(notebook: NotebookNode) -> NotebookNode:
    notebook.nbformat_minor = max(5, notebook.nbformat_minor)
    seen: set[str] = set()
    for cell in notebook.cells:
        if not cell.get("id") or cell.id in seen:
            cell.id = uuid.uuid4().hex[:8]
        seen.add(cell.id)
        cell.setdefault("metadata", {})
        if cell.cell_type == "code":
            # JSON can spell half a character, which no kernel can be sent.
            cell.source.encode()
            cell.outputs = []
            cell.execution_count = None
    return notebook


def from_script(text: str) -> NotebookNode:
    """The cells of a percent-format script; what stands before the first marker is a cell too."""
    cells: list[NotebookNode] = []
    kind, lines = "code", list[str]()
    for line in _HEADER.sub("", text).splitlines():
        marker = _MARKER.match(line)
        if marker is None:
            lines.append(line)
            continue
        cells += _cell(kind, lines)
        word = _KIND.search(marker["rest"])
        kind, lines = ("code" if word is None else word[1]), []
    return nbformat.v4.new_notebook(cells=cells + _cell(kind, lines))


def _cell(kind: str, lines: list[str]) -> list[NotebookNode]:
    source = "\n".join(lines).strip("\n")
    if not source.strip():
        return []
    if kind == "code":
        return [nbformat.v4.new_code_cell(source)]
    return [nbformat.v4.new_markdown_cell(re.sub(r"(?m)^# ?", "", source))]
