"""The cases as they are written: nothing is run here."""

from collections import Counter
from pathlib import Path

import cases
import form
import pytest

PATHS = [path for half in cases.HALVES for path in cases.all_paths(half)]
# Of each question and kind the halves have as many, but for what was left out late.
APART = 3

LEAKING = """\
# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "A forum thread: rows stay after del"
# leaked = "8 * 1000 * (500 + 500)"
# cause_cell = 2
# cause_line = "rows = make()"
# holder = ["log", "log[0]"]
# repair = "log.clear()"
# ///
# %%
import numpy as np
log = []
# %% [markdown]
# Some words
# %%
def make():
    return np.ones((1000, 1000))
rows = make()
log.append(rows)
del rows
"""


def written(folder: Path, text: str, name: str = "rows_in_a_log.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_case_can_be_read_and_looks_as_it_must(path: Path) -> None:
    form.check(cases.read(path))


def test_a_slug_is_there_once() -> None:
    slugs = Counter(path.stem for path in PATHS)
    assert [slug for slug, count in slugs.items() if count > 1] == []


def test_the_halves_have_the_same_questions_and_kinds() -> None:
    counts = {
        half: Counter(
            (case.question, case.leak is not None)
            for case in map(cases.read, cases.all_paths(half))
        )
        for half in cases.HALVES
    }
    seen, unseen = counts["seen"], counts["unseen"]
    uneven = {key: (seen[key], unseen[key]) for key in {*seen, *unseen}}
    assert {key: both for key, both in uneven.items() if abs(both[0] - both[1]) > APART} == {}


def test_a_case_is_read_with_its_cells_counted_without_markdown(tmp_path: Path) -> None:
    case = cases.read(written(tmp_path, LEAKING))
    assert [cell.number for cell in case.cells] == [1, 2]
    assert [kind for kind, _ in case.parts] == ["code", "markdown", "code"]
    assert case.leak and case.leak.bytes == 8_000_000
    assert case.order == (1, 2)
    assert not case.needs_torch


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"reach"', '"reached"', "`question` is 'reached', and is to be one of"),
        ("# repair", "# cure", "lacks `repair`"),
        ("cause_cell = 2", "cause_cell = 3", "there are code cells 1 to 2"),
        ("cause_cell = 2", "cause_cell = 1", "is not in cell 1; it is in cell 2"),
        ("8 * 1000", "len(rows)", "`leaked` holds 'len(rows)'"),
        ('"A forum', '"https://a.example: a forum', "without an address"),
        ('# style = "short"', '# style = "short"\n# order = [1, 1]', "`order` never runs cell 2"),
        ("# ///\n# %%", "# %%", "has no line '# ///'"),
        ('needs = ["numpy"]', "needs = numpy", "are no TOML"),
    ],
)
def test_what_is_wrong_with_a_case_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in LEAKING
    with pytest.raises(cases.BadCase) as raised:
        cases.read(written(tmp_path, LEAKING.replace(old, new)))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("import numpy as np", "import numpy as np, pandas", "imports pandas"),
        ('["numpy"]', '["numpy", "torch"]', "names torch in `needs`"),
        ("# Some words", "# Here it leaks", "gives it away"),
        ("log = []", "log = [", "no Python"),
        ("(500 + 500)", "50", "declares 0.4 MB"),
        ('"short"', '"long"', "is long, and has 2 code cells"),
    ],
)
def test_what_a_case_must_not_look_like_is_said(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(cases.BadCase) as raised:
        form.check(cases.read(written(tmp_path, LEAKING.replace(old, new))))
    assert said in str(raised.value)


def test_a_leaky_relu_is_no_hint(tmp_path: Path) -> None:
    text = LEAKING.replace("log = []", "log = []\nname = 'LeakyReLU'")
    form.check(cases.read(written(tmp_path, text)))
