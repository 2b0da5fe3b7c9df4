"""`xleak run`: exit codes, and that the report of what ran is always written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from notebook_files import KERNEL, LIMIT_SECONDS, code, command, notebook, report, run, written
from xleak.cli import main

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "share" / "comm" / "verdict.v1.schema.json").read_text()
)
# Displayed, then deleted: only Out keeps these 32 MiB.
LEAK = ("import numpy\nrows = numpy.ones(4 << 20)", "rows", "del rows")


def statuses(shape: Any) -> list[str]:
    return [cell["status"] for cell in shape["cells"]]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence on stderr of a command that ends with code 2."""
    assert main(["run", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1, shown.err
    return shown.err


# --- exit codes ------------------------------------------------------------------------------


def test_a_clean_notebook_ends_with_0_and_every_cell_in_the_table(tmp_path: Path) -> None:
    done = run(written(tmp_path, notebook("a = 1", "print(a)")))
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:3]] == [
        ["1", "ok"],
        ["2", "ok"],
    ]
    assert "No leak found" in done.stdout


def test_a_leak_ends_with_1_and_is_named_with_its_cell_its_bytes_and_its_repair(
    tmp_path: Path,
) -> None:
    done = run(written(tmp_path, notebook(*LEAK)), "--format", "json")
    assert done.returncode == 1, done.stderr
    shape = report(done)
    jsonschema.validate(shape, SCHEMA)
    [found] = shape["findings"]
    assert (found["code"], found["cell"], found["cause_cell"]) == ("XL401", 3, 2)
    assert found["bytes"] == pytest.approx(32 << 20, rel=0.01)
    assert found["fixes"][0] == {"kind": "run", "title": "Release it", "code": "%xdel Out[2]"}


def test_fail_on_decides_which_findings_count(tmp_path: Path) -> None:
    path = written(tmp_path, notebook(*LEAK))
    assert run(path, "--fail-on", "error").returncode == 0
    assert run(path, "--fail-on", "never").returncode == 0


def test_a_cell_that_raises_ends_with_3_and_what_ran_is_reported(tmp_path: Path) -> None:
    done = run(written(tmp_path, notebook("a = 1", "1 / 0", "b = 2")), "--format", "json")
    assert done.returncode == 3
    shape = report(done)
    jsonschema.validate(shape, SCHEMA)
    assert statuses(shape) == ["ok", "error", "not_run"]
    assert shape["cells"][2]["seconds"] is None
    assert shape["failure"]["cell"] == 2
    assert "ZeroDivisionError" in shape["failure"]["message"]


def test_allow_errors_goes_on_after_a_cell_that_raised(tmp_path: Path) -> None:
    done = run(written(tmp_path, notebook("1 / 0", "b = 2")), "--allow-errors", "--format", "json")
    assert done.returncode == 0
    assert statuses(report(done)) == ["error", "ok"]


def test_a_cell_that_is_tagged_to_raise_does_not_fail_the_run(tmp_path: Path) -> None:
    raising = code("1 / 0", metadata={"tags": ["raises-exception"]})
    done = run(written(tmp_path, notebook(raising, "b = 2")), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert statuses(report(done)) == ["error", "ok"]


def test_a_cell_beyond_the_timeout_ends_with_3_and_has_its_numbers(tmp_path: Path) -> None:
    endless = notebook("a = 1", "import time\ntime.sleep(1000)", "b = 2")
    done = run(written(tmp_path, endless), "--timeout", "2", "--format", "json")
    assert done.returncode == 3
    shape = report(done)
    assert statuses(shape) == ["ok", "error", "not_run"]
    assert shape["cells"][1]["seconds"] >= 2
    assert shape["failure"]["kind"] == "timeout"


def test_a_kernel_that_dies_ends_with_3_and_what_it_told_before_is_reported(tmp_path: Path) -> None:
    deadly = notebook(*LEAK, "import os\nos._exit(9)", "b = 2")
    done = run(written(tmp_path, deadly), "--format", "json")
    assert done.returncode == 3
    shape = report(done)
    jsonschema.validate(shape, SCHEMA)
    assert statuses(shape) == ["ok", "ok", "ok", "aborted", "not_run"]
    failure = shape["failure"]
    assert (failure["kind"], failure["cell"]) == ("died", 4)
    assert failure["message"].startswith("the kernel died")
    assert "ended by itself, with exit code 9." in failure["message"]
    assert [found["code"] for found in shape["findings"]] == ["XL401"]


def started(path: Path, mark: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """A run that has come to the cell that makes the file `mark`."""
    os.mkfifo(mark)
    process = subprocess.Popen(
        command(path, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # Opening a pipe for reading waits until the cell has opened it for writing.
    mark.read_text()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_with_3_and_what_ran_is_reported(
    tmp_path: Path, number: signal.Signals
) -> None:
    mark, target = tmp_path / "mark", tmp_path / "report.json"
    waiting = f"import time\nopen({str(mark)!r}, 'w').close()\ntime.sleep(1000)"
    path = written(tmp_path, notebook("a = 1", waiting, "b = 2"))
    process = started(path, mark, "--format", "json", "--output", target)
    process.send_signal(number)
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 3
    shape = json.loads(target.read_text())
    jsonschema.validate(shape, SCHEMA)
    assert statuses(shape) == ["ok", "error", "not_run"]
    assert shape["failure"]["kind"] == "interrupted"


# --- what a run does to the notebook -----------------------------------------------------------


def test_cells_are_numbered_as_in_the_notebook_when_some_do_not_run(tmp_path: Path) -> None:
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "# Title"}
    shape = report(run(written(tmp_path, notebook("", text, *LEAK)), "--format", "json"))
    assert [(cell["index"], cell["status"]) for cell in shape["cells"]] == [
        (1, "not_run"),
        (2, "ok"),
        (3, "ok"),
        (4, "ok"),
    ]
    assert [(found["cell"], found["cause_cell"]) for found in shape["findings"]] == [(4, 3)]


def test_a_cell_keeps_the_id_that_it_has_in_the_notebook(tmp_path: Path) -> None:
    shape = report(run(written(tmp_path, notebook(code("1", id="mine"))), "--format", "json"))
    assert shape["cells"][0]["cell_id"] == "mine"


def test_it_runs_in_the_folder_of_the_notebook(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("here")
    done = run(written(tmp_path, notebook("assert open('data.txt').read() == 'here'")))
    assert done.returncode == 0, done.stdout


def test_a_run_is_not_written_into_the_history_of_what_the_user_typed(tmp_path: Path) -> None:
    done = subprocess.run(
        command(written(tmp_path, notebook("a = 'only here'"))),
        env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")},
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [path for path in (tmp_path / "ipython").rglob("*") if path.is_file()]
    assert not any(b"only here" in path.read_bytes() for path in files)


def test_a_percent_script_runs_as_the_cells_that_it_marks(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("x = 1\n\n# %% [markdown]\n# # Not code\n\n# %% second\nassert x == 1\n")
    shape = report(run(path, "--format", "json"))
    assert statuses(shape) == ["ok", "ok"]


def test_a_notebook_of_format_3_runs(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "language": "python", "input": "1 + 1", "outputs": []}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    done = run(written(tmp_path, old), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert statuses(report(done)) == ["ok"]


def test_the_executed_notebook_is_saved_with_its_outputs(tmp_path: Path) -> None:
    path, saved = written(tmp_path, notebook("6 * 7")), tmp_path / "executed.ipynb"
    before = path.read_text()
    assert run(path, "--save-executed", saved).returncode == 0
    [cell] = json.loads(saved.read_text())["cells"]
    assert cell["execution_count"] == 1
    assert cell["outputs"][0]["data"]["text/plain"] == ["42"]
    assert path.read_text() == before


def test_the_executed_notebook_has_the_facts_of_each_cell_and_nbconvert_keeps_them(
    tmp_path: Path,
) -> None:
    shape = notebook(*LEAK, "raise ValueError", "never = 1")
    shape["cells"][-1]["metadata"] = {"xleak": {"kept_bytes": 5}, "tags": ["mine"]}
    path, saved = written(tmp_path, shape), tmp_path / "executed.ipynb"
    told = report(run(path, "--save-executed", saved, "--format", "json"))
    cells = json.loads(saved.read_text())["cells"]
    facts = [cell["metadata"].get("xleak") for cell in cells]
    for fact, cell in zip(facts[:-1], told["cells"], strict=False):
        host = cell["host"]
        kept = host["resident_after_bytes"] - host["resident_before_bytes"]
        assert (fact["kept_bytes"], fact["peak_bytes"]) == (kept, host["resident_peak_bytes"])
        assert fact["devices"] == []
    [found] = told["findings"]
    codes = {at: fact["findings"] for at, fact in enumerate(facts[:-1], 1) if fact["findings"]}
    assert codes == {found["cause_cell"]: [found["code"]]}
    assert cells[-1]["metadata"] == {"tags": ["mine"]}, "what did not run has no facts"
    words = ["-m", "nbconvert", "--to", "notebook", "--output", "converted", str(saved)]
    subprocess.run([sys.executable, *words], check=True, timeout=LIMIT_SECONDS, cwd=tmp_path)
    converted = json.loads((tmp_path / "converted.ipynb").read_text())["cells"]
    assert [cell["metadata"].get("xleak") for cell in converted] == facts


def test_papermill_keeps_the_facts_of_each_cell(tmp_path: Path) -> None:
    path, saved = written(tmp_path, notebook(*LEAK)), tmp_path / "executed.ipynb"
    assert run(path, "--save-executed", saved).returncode == 1
    facts = [cell["metadata"]["xleak"] for cell in json.loads(saved.read_text())["cells"]]
    again = tmp_path / "again.ipynb"
    words = ["-m", "papermill", "-k", "python3", "--no-progress-bar", str(saved), str(again)]
    subprocess.run([sys.executable, *words], check=True, timeout=LIMIT_SECONDS)
    ran = json.loads(again.read_text())["cells"]
    assert [cell["metadata"]["papermill"]["status"] for cell in ran] == ["completed"] * len(LEAK)
    assert [cell["metadata"]["xleak"] for cell in ran] == facts


def test_what_a_cell_writes_to_descriptor_1_does_not_get_into_the_report(tmp_path: Path) -> None:
    noisy = notebook("import os\nos.write(1, b'noise')\nos.system('echo noise');")
    assert statuses(report(run(written(tmp_path, noisy), "--format", "json"))) == ["ok"]


def test_with_output_the_file_has_the_format_and_stdout_the_text(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    done = run(written(tmp_path, notebook(*LEAK)), "--format", "html", "--output", target)
    assert done.returncode == 1
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert "XL401" in done.stdout and "<html" not in done.stdout


def test_a_reader_that_goes_away_does_not_disturb_the_exit_code(tmp_path: Path) -> None:
    words = command(written(tmp_path, notebook("a = 1")))
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    shown = process.stderr.read()
    assert process.wait(LIMIT_SECONDS) == 0
    assert "BrokenPipe" not in shown


def test_a_report_can_be_shown_where_stdout_knows_only_ascii(tmp_path: Path) -> None:
    done = subprocess.run(
        command(written(tmp_path, notebook("é = 'naïve →'"))),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb"\xe9 = 'na\xefve \u2192'" in done.stdout


def test_when_the_output_cannot_be_written_any_more_the_report_is_still_shown(
    tmp_path: Path,
) -> None:
    target = tmp_path / "gone" / "report.json"
    target.parent.mkdir()
    done = run(written(tmp_path, notebook("import os\nos.rmdir('gone')")), "--output", target)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "No leak found" in done.stdout


# --- bad usage and input -------------------------------------------------------------------------


def test_a_missing_file_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "No such file" in refused(capsys, tmp_path / "none.ipynb")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"{}",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"nbformat": 4, "nbformat_minor": 5}',
        b'{"nbformat": 9, "nbformat_minor": 0, "cells": [], "metadata": {}}',
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}',
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}',
        json.dumps(notebook("x = '\ud800'")).encode(),
    ],
)
def test_what_is_no_notebook_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "nb.ipynb"
    path.write_bytes(content)
    assert "nb.ipynb" in refused(capsys, path)


def test_a_folder_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "Is a directory" in refused(capsys, tmp_path)


def test_a_notebook_of_another_language_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, notebook("x <- 1", language_info={"name": "R"}))
    assert "written in R" in refused(capsys, path)


def test_an_unknown_kernel_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, notebook("1"))
    assert "no kernel 'nosuch'" in refused(capsys, path, "--kernel", "nosuch")


@pytest.mark.parametrize("option", ["--output", "--save-executed"])
def test_the_notebook_itself_is_never_overwritten(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    path = written(tmp_path, notebook("1"))
    before = path.read_text()
    (tmp_path / "link.ipynb").symlink_to(path)
    for target in (path, tmp_path / "." / "nb.ipynb", tmp_path / "link.ipynb"):
        assert "the notebook itself" in refused(capsys, path, option, target)
    assert path.read_text() == before


def test_an_output_that_cannot_be_written_is_known_before_anything_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, notebook("open('ran', 'w')"))
    assert "no folder" in refused(capsys, path, "--output", tmp_path / "none" / "report.json")
    assert "not a regular file" in refused(capsys, path, "--output", tmp_path)
    assert not (tmp_path / "ran").exists()


def test_two_files_of_the_same_name_are_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, same = written(tmp_path, notebook("1")), tmp_path / "same"
    assert "same file" in refused(capsys, path, "--output", same, "--save-executed", same)


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["run"], ["run", "x", "--timeout", "0"]])
def test_bad_usage_ends_with_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert "usage: xleak" in capsys.readouterr().err


def test_an_old_report_stays_when_the_run_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    refused(capsys, tmp_path / "none.ipynb", "--output", target)
    assert target.read_text() == "old"


def test_a_kernel_that_cannot_start_ends_with_3_and_a_report(tmp_path: Path) -> None:
    spec = tmp_path / "kernels" / "broken"
    spec.mkdir(parents=True)
    argv = [str(tmp_path / "nothing"), "{connection_file}"]
    description = {"argv": argv, "display_name": "Broken", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(description))
    done = subprocess.run(
        [*command(written(tmp_path, notebook("1")), "--format", "json"), "--kernel", "broken"],
        env={**os.environ, "JUPYTER_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 3
    shape = report(done)
    jsonschema.validate(shape, SCHEMA)
    assert shape["failure"]["kind"] == "not_started"


def test_the_kernel_is_gone_after_the_run(tmp_path: Path) -> None:
    done = run(written(tmp_path, notebook("import os\nopen('pid', 'w').write(str(os.getpid()))")))
    assert done.returncode == 0, f"{KERNEL}: {done.stderr}"
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_magics_show_below_their_cells_in_the_kernel(tmp_path: Path) -> None:
    saved = tmp_path / "executed.ipynb"
    path = written(tmp_path, notebook("%%leakcheck\nx = 41\nx + 1", "%memreport"))
    assert run(path, "--save-executed", saved).returncode == 0
    marked, report_cell = json.loads(saved.read_text())["cells"]
    kinds = [output["output_type"] for output in marked["outputs"]]
    assert kinds == ["execute_result", "stream"]
    assert "".join(marked["outputs"][1]["text"]).startswith("cell 1: kept")
    assert {"text/plain", "text/html"} == set(report_cell["outputs"][0]["data"])


# --- the notebook that shows it ---------------------------------------------------------------


def test_the_training_notebook_names_the_leak_that_it_leaves_and_not_the_one_it_repairs() -> None:
    training = Path(__file__).parents[2] / "notebooks" / "leaky_training.ipynb"
    done = run(training, "--format", "json")
    assert done.returncode == 1, done.stderr
    shape = report(done)
    assert statuses(shape) == ["ok"] * 15
    [found] = shape["findings"]
    assert (found["code"], found["cell"], found["cause_cell"]) == ("XL401", 9, 7)
    assert found["bytes"] >= 20 << 20
    assert found["fixes"][0]["code"] == "%xdel Out[7]"
