"""What a finding of `xleak lint` says is what stands in the source."""

from __future__ import annotations

from pathlib import Path

import pytest
from xleak import _native, source

MODEL = "import torch\nfrom torch import nn\nnet = nn.Linear(4, 2)\n"
MAY_BE_LOST = "what was written last may not be in it"


def findings(folder: Path, code: str, rule: str) -> list[_native.Finding]:
    path = folder / "code.py"
    path.write_text(code)
    files = source.lint_files([str(path)])
    return [it for file in files for it in file.report.findings if it.code == rule]


def message(folder: Path, code: str, rule: str) -> str:
    (found,) = findings(folder, code, rule)
    return found.message


@pytest.mark.parametrize("opening", ["open(path)", 'open(path, "rb")', 'open(path, mode="r")'])
def test_nothing_is_lost_of_a_file_that_is_only_read(tmp_path: Path, opening: str) -> None:
    text = message(tmp_path, f"log = {opening}\nprint(log.read())\n", "XL505")
    assert "stays open" in text
    assert MAY_BE_LOST not in text


@pytest.mark.parametrize(
    "opening", ['open(path, "w")', 'open(path, "r+")', "open(path, mode)", "open(path, *given)"]
)
def test_what_may_be_written_may_be_lost(tmp_path: Path, opening: str) -> None:
    assert MAY_BE_LOST in message(tmp_path, f"log = {opening}\nprint(log)\n", "XL505")


def test_what_has_no_with_is_released_by_its_method(tmp_path: Path) -> None:
    text = message(tmp_path, "import cv2\nfilm = cv2.VideoCapture(path)\nfilm.read()\n", "XL505")
    assert text.endswith("Call `film.release()` in a `finally`.")


def test_an_array_in_a_file_has_nothing_to_close(tmp_path: Path) -> None:
    code = "import numpy as np\nstore = np.memmap(path, mode='w+', shape=4)\nstore[0] = 1\n"
    assert findings(tmp_path, code, "XL505") == []


def sums(term: str) -> str:
    return f"{MODEL}total = 0\nfor batch in loader:\n    total += {term}\nprint(total)\n"


def test_a_sum_of_numbers_is_made_of_items(tmp_path: Path) -> None:
    assert "`net(batch).mean().item()`" in message(tmp_path, sums("net(batch).mean()"), "XL203")


@pytest.mark.parametrize("term", ["net(batch)", "net(batch).softmax(-1)", "net(batch).mean(dim=0)"])
def test_a_sum_of_vectors_has_no_item(tmp_path: Path, term: str) -> None:
    text = message(tmp_path, sums(term), "XL203")
    assert f"Add `{term}.detach()`." in text
    assert ".item()" not in text


def test_rows_of_losses_in_a_list_have_no_item(tmp_path: Path) -> None:
    made = "nn.CrossEntropyLoss(reduction='none')"
    kept = f"{MODEL}measure = {made}\nlosses = []\nfor x, y in loader:\n"
    text = message(tmp_path, kept + "    losses.append(measure(net(x), y))\n", "XL102")
    assert ".item()" not in text
    assert ".detach()" in text


def cached(result: str) -> str:
    return (
        "import functools\nimport numpy as np\nimport torch\n@functools.cache\n"
        f"def made(path):\n    return {result}\nfor path in paths:\n    made(path)\n"
    )


def test_a_cache_of_arrays_is_no_cache_of_tensors(tmp_path: Path) -> None:
    assert "keeps an array for" in message(tmp_path, cached("np.ones(path)"), "XL109")
    assert "keeps a tensor for" in message(tmp_path, cached("torch.ones(path)"), "XL109")


def test_arrays_are_not_to_be_moved_off_a_device(tmp_path: Path) -> None:
    code = (
        "import numpy as np\ncache = {}\ndef made(path):\n    if path not in cache:\n"
        "        cache[path] = np.ones(path)\n    return cache[path]\n"
    )
    assert "device" not in message(tmp_path, code, "XL109")


def test_what_few_turns_make_on_the_host_is_a_note(tmp_path: Path) -> None:
    made = "torch.randn(8, 3, 256, 256).to(device)\n"
    each = f"{MODEL}for step in range(n):\n    noise = {made}"
    seldom = f"{MODEL}for step in range(n):\n    if step % 100 == 0:\n        noise = {made}"
    (often,) = findings(tmp_path, each, "XL114")
    (rare,) = findings(tmp_path, seldom, "XL114")
    assert (often.severity, rare.severity) == ("warning", "note")
    assert "in each iteration" in often.message
    assert "in each iteration" not in rare.message


def test_what_a_notebook_imports_runs_once(tmp_path: Path) -> None:
    added = "import logging\nlogging.getLogger().addHandler(logging.StreamHandler())\n"
    (tmp_path / "helper.py").write_text(added)
    assert findings(tmp_path, "# %%\nimport helper\n\n# %%\nx = 1\n", "XL406") == []
    assert len(findings(tmp_path, f"# %%\n{added}\n# %%\nx = 1\n", "XL406")) == 1
