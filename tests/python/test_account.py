"""The kernel's cells and the notebook's, joined; and scripts as notebooks."""

from __future__ import annotations

from dataclasses import replace

import nbformat
from nbformat import NotebookNode
from notebook_files import code, notebook
from verdict_samples import cell, finding, verdict
from xleak.cli.account import joined
from xleak.cli.notebook import from_script
from xleak.verdict import Failure


def of(*cells: str) -> NotebookNode:
    named = [code(text, id=f"id{at}") for at, text in enumerate(cells)]
    return nbformat.from_dict(notebook(*named))


def test_findings_have_the_numbers_of_the_notebook_s_cells() -> None:
    told = verdict(
        [cell(1, cell_id="id1"), cell(2, cell_id="id3")],
        [finding(cell=2, cause_cell=1)],
    )
    [found] = joined("nb.ipynb", of("", "x", "", "del x"), told, {}, None).findings
    assert (found.cell, found.cause_cell) == (4, 2)


def test_cells_without_an_id_are_found_by_their_prompt() -> None:
    whole = of("", "x")
    whole.cells[1].execution_count = 7
    told = verdict([cell(3, 10, 20, execution_count=7)])
    cells = joined("nb", whole, told, {}, None).cells
    assert [c.host.grown_bytes for c in cells] == [None, 10 << 20]


def test_a_cell_of_which_the_kernel_told_nothing_has_its_status_and_no_numbers() -> None:
    cells = joined("nb", of("a", "b"), None, {1: "aborted"}, None).cells
    assert [(c.status, c.seconds, c.host.grown_bytes) for c in cells] == [
        ("aborted", None, None),
        ("not_run", None, None),
    ]


def test_totals_are_of_the_cells_of_the_notebook() -> None:
    told = verdict([cell(1, 1, 2, cell_id="id0"), cell(2, 2, 99, cell_id="of another")])
    assert joined("nb", of("a"), told, {}, None).summary.kept_bytes == 1 << 20


def test_path_and_failure_are_those_of_the_run() -> None:
    failure = Failure("died", 1, "the kernel died")
    whole = joined("nb.ipynb", of("a"), replace(verdict([]), failure=None), {}, failure)
    assert (whole.source.path, whole.failure) == ("nb.ipynb", failure)


def script(text: str) -> list[tuple[str, str]]:
    return [(c.cell_type, c.source) for c in from_script(text).cells]


def test_a_script_is_cut_at_its_markers() -> None:
    assert script("a\n\n# %% title\nb\n\n#%%\nc\n") == [("code", "a"), ("code", "b"), ("code", "c")]


def test_text_cells_of_a_script_lose_their_comment_signs() -> None:
    text = "# %% [markdown]\n# # Title\n#\n# text\n# %%\nb"
    assert script(text) == [("markdown", "# Title\n\ntext"), ("code", "b")]


def test_the_header_and_empty_cells_of_a_script_are_no_cells() -> None:
    text = "# ---\n# jupyter:\n#   x: y\n# ---\n\n# %%\n\n# %%\na\n"
    assert script(text) == [("code", "a")]


def test_a_comment_that_only_looks_like_a_marker_is_code() -> None:
    assert script("# %%time is a magic\nx") == [("code", "# %%time is a magic\nx")]
