"""Every smell's own examples, run in the real kernel: `# expect: XLnnn` stands on the cell after which it is found,
`# raises` on one that fails."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import PYTHON, TENSORFLOW_PYTHON, Session
from xleak import _native, source
from xleak.cli import main

# Told in the middle of a cell of minutes: tests/kernel/test_long_cells.py.
WHILE_RUNNING = {"XL303"}
# Those that measure; tests/python/test_lint_examples.py has those that read the source.
SMELLS = sorted(
    Path(__file__).parents[2] / "monitor" / "smells" / smell.slug
    for smell in _native.smells()
    if smell.at_run_time and smell.code not in WHILE_RUNNING
)
RAISES = re.compile(r"#\s*raises\b")
EXPECT = re.compile(r"#\s*expect:\s*(XL\d{3})")
# Bad and good variants that a smell must show.
VARIANTS = 3
# Where what comes back is no object's: the whole process says so.
RESIDENT = "int(open('/proc/self/statm').read().split()[1]) * 4096"
COUNTED_BY = {"XL630": RESIDENT}
# On the first line of an example: only a card, or another environment's kernel, can show it.
NEEDS = re.compile(r"# needs: (gpu|two gpus|tensorflow|tensorflow gpu)\n")
# What a promised release must bring back, of its bytes.
RETURNED = 0.95

COUNTERS = """(
    sum(__import__('xleak.shell.counters').shell.counters.read_counters().values())
    + sum(it.reserved or 0 for it in __import__('xleak').shell.readings.device_readings())
)"""


def cells(script: Path) -> list[str]:
    """Split a percent-format script into the cells a notebook would have."""
    code = NEEDS.sub("", script.read_text(), count=1).lstrip()
    return [cell for cell in re.split(r"(?m)^(?=# %%)", code) if cell.strip()]


def expected(script: Path) -> list[tuple[str, int]]:
    return [(code, n) for n, cell in enumerate(cells(script), 1) for code in EXPECT.findall(cell)]


def run(kernel: Session, script: Path) -> tuple[list[tuple[str, int]], list[str]]:
    """(code, cell after which it came) of every finding, and what was displayed by xleak."""
    seen: set[str] = set()
    came: list[tuple[str, int]] = []
    notices: list[str] = []
    for number, cell in enumerate(cells(script), 1):
        ran = kernel.run(cell)
        status = "error" if RAISES.search(cell.splitlines()[0]) else "ok"
        assert ran.content["status"] == status, ran.content
        # A post-mortem stands below any cell that ran out of memory, and is no notice of a leak.
        shown = [it for it in ran.of("display_data") if it["transient"].get("display_id")]
        notices += [str(it["data"]) for it in shown if "xleak" in str(it["data"])]
        now = kernel.findings()
        came += [(found["code"], number) for key, found in now.items() if key not in seen]
        seen = set(now)
    return came, notices


def need_of(smell: Path) -> str | None:
    need = NEEDS.match((smell / "bad.py").read_text())
    return need and need[1]


def count_gpus() -> int:
    torch = pytest.importorskip("torch", reason="no torch, and so no CUDA device, here")
    return int(torch.cuda.device_count())


@functools.cache
def tensorflow_has_gpu() -> bool:
    asked = "import tensorflow as tf; print(len(tf.config.list_physical_devices('GPU')))"
    told = subprocess.run([str(TENSORFLOW_PYTHON), "-c", asked], capture_output=True, text=True)
    return told.stdout.strip() not in ("", "0")


@pytest.fixture(
    params=[
        pytest.param(it, marks=[pytest.mark.gpu] * ("gpu" in (need_of(it) or ""))) for it in SMELLS
    ],
    ids=lambda path: path.name,
)
def smell(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    runs = request.function is not test_a_smell_shows_three_bad_and_three_good_variants
    need = need_of(path) or ""
    if runs and need == "gpu" and count_gpus() < 1:
        pytest.skip("no CUDA device on this machine")
    if runs and need == "two gpus" and count_gpus() < 2:
        pytest.skip("no two CUDA devices on this machine")
    if runs and need.startswith("tensorflow") and not TENSORFLOW_PYTHON:
        pytest.skip("XLEAK_TENSORFLOW_PYTHON names no interpreter that has TensorFlow")
    if runs and need == "tensorflow gpu" and not tensorflow_has_gpu():
        pytest.skip("TensorFlow has no GPU on this machine")
    return path


@pytest.fixture
def kernel_of(smell: Path, start_kernel: Callable[..., Session]) -> Callable[..., Session]:
    """Starts kernels in the environment that the smell's examples need."""
    needs_tensorflow = (need_of(smell) or "").startswith("tensorflow") and TENSORFLOW_PYTHON
    return functools.partial(start_kernel, TENSORFLOW_PYTHON if needs_tensorflow else PYTHON)


def test_a_smell_shows_three_bad_and_three_good_variants(smell: Path) -> None:
    titles = re.findall(r"(?m)^# %% ([^:\n]*)", (smell / "good.py").read_text())
    assert len(expected(smell / "bad.py")) >= VARIANTS
    assert len(set(titles)) >= VARIANTS


def test_the_bad_example_is_reported_where_it_says_and_each_fix_gives_the_bytes_back(
    smell: Path, kernel_of: Callable[..., Session]
) -> None:
    kernel = kernel_of()
    assert run(kernel, smell / "bad.py")[0] == expected(smell / "bad.py")
    promised = kernel.findings()
    assert promised
    # The line that waits for the output of a next cell has memory of its own.
    kernel.run("pass")
    # Where no code is exact, the message alone says what to do.
    fixable = {key: found for key, found in promised.items() if found["fix"]}
    for found in fixable.values():
        counter = COUNTED_BY.get(found["code"], COUNTERS)
        before = kernel.ask(counter)
        assert kernel.run(found["fix"]).content["status"] == "ok"
        # A search that is under way has memory of its own.
        kernel.findings()
        # Unknown: what was counted is no memory of this process.
        if found["bytes"] is not None:
            assert before - kernel.ask(counter) >= found["bytes"] * RETURNED, found
    assert kernel.findings().keys().isdisjoint(fixable)


def has_edits(smell: Path) -> bool:
    """Whether lint repairs something in the bad example."""
    script = smell / "bad.py"
    found = source.lint_text(str(script), script.read_bytes()).report.findings
    return any(fix.edits for finding in found for fix in finding.fixes)


@pytest.mark.parametrize(
    "smell", [it for it in SMELLS if has_edits(it)], indirect=True, ids=lambda it: it.name
)
def test_a_repaired_bad_example_runs_and_keeps_no_more(
    smell: Path, kernel_of: Callable[..., Session], tmp_path: Path
) -> None:
    copy = tmp_path / "bad.py"
    copy.write_bytes((smell / "bad.py").read_bytes())
    assert main(["fix", "--unsafe-fixes", str(copy)]) == 0
    # What stands in lines that have no edit is still there.
    assert set(run(kernel_of(), copy)[0]) <= set(expected(copy))


def test_the_good_example_is_quiet(smell: Path, kernel_of: Callable[..., Session]) -> None:
    kernel = kernel_of(XLEAK_NOTICE_BYTES="1000000")
    assert run(kernel, smell / "good.py") == ([], [])
