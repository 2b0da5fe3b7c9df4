"""`%leakcheck --diagnose` and `%%leakcheck --profile`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from shell_session import session as in_process
from shells import Session
from verdict_samples import cell, verdict
from xleak import _native
from xleak.cell_names import name_of_run
from xleak.diagnosis.checks import Check, by_rules
from xleak.diagnosis.evidence import Evidence, Loader
from xleak.diagnosis.timing import timing
from xleak.diagnosis.walk import Diagnosis, walk
from xleak.render import diagnosis as render
from xleak.shell.batches import BatchPeak, batch_size
from xleak.shell.cell_notes import CellTime
from xleak.shell.line_kinds import line_kinds
from xleak.shell.profile import Event, Profile, Totals, profile_of
from xleak.shell.readings import DeviceReading

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "share" / "comm" / "diagnosis.v1.schema.json").read_text())
CLEAN = Path(__file__).with_name("complete_training.py").read_text()
MS = 1_000_000
CARD = DeviceReading("cuda:0", 40 << 20, 50 << 20, 45 << 20, 0, 90 << 20)


def cells(script: str) -> list[str]:
    return [cell for cell in script.split("# %%\n") if cell.strip()]


def evidence(**changed: Any) -> Evidence:
    """That of a watched session with torch that has trained, where nothing was found."""
    told: dict[str, Any] = {
        "verdict": verdict([cell(1), cell(2), cell(4)]),
        "suspicions": [],
        "devices": [],
        "is_watched": True,
        "has_torch": True,
        "tensors_unknown": None,
        "has_trained": True,
        "times": [],
        "out_of_memory": [],
        "growth": [],
        "loaders": [],
        "profile": None,
    }
    return Evidence(**(told | changed))


def answer(checks: list[Check], question: str) -> Check:
    [found] = [it for it in checks if question in it.question]
    return found


def asked(diagnosis: Diagnosis, question: str) -> Check:
    checks = [it for section in diagnosis.sections for it in section.checks]
    return next(it for it in checks if question in it.question)


def diagnosed(session: Session, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    session.run("%leakcheck --diagnose --json")
    shape: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(shape, SCHEMA)
    return shape


def answers(shape: dict[str, Any]) -> dict[str, str]:
    return {it["question"]: it["answer"] for part in shape["sections"] for it in part["checks"]}


# --- whole sessions ------------------------------------------------------------------------------


def test_a_correct_training_loop_has_no_finding_and_its_questions_are_answered(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert session.new_findings(cells(CLEAN)) == []
    shape = diagnosed(session, capsys)
    assert answers(shape)["Do gradients of earlier steps add up?"] == "no"
    assert answers(shape)["Do results keep their graphs?"] == "no"


def test_the_missing_reset_is_answered_with_its_rule_and_its_cell(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import torch\nnet = torch.nn.Linear(64, 1)")
    session.run("optimizer = torch.optim.SGD(net.parameters(), 1e-6)")
    session.run(
        "for _ in range(12):\n"
        "    net(torch.rand(8, 64)).square().mean().backward()\n"
        "    optimizer.step()"
    )
    shape = diagnosed(session, capsys)
    [check] = [
        it
        for part in shape["sections"]
        for it in part["checks"]
        if part["title"] == "2. Gradient reset"
    ]
    assert (check["answer"], check["rule"]) == ("yes", "XL204")
    assert check["cell"] == _native.records()[-2].index
    assert check["next"]


def test_a_cell_that_keeps_more_with_each_run_is_the_symptom(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import numpy\nrows = []")
    for _ in range(3):
        session.run("rows.append(numpy.ones(1 << 19))")
    shape = diagnosed(session, capsys)
    assert "grows" in [it["name"] for it in shape["symptoms"]]
    assert answers(shape)["Does a cell keep more with each run?"] == "yes"


def test_a_cell_that_makes_its_value_anew_does_not_grow(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import numpy")
    for _ in range(4):
        session.run("rows = numpy.ones(1 << 20)")
    assert answers(diagnosed(session, capsys))["Does a cell keep more with each run?"] == "no"


def test_a_cell_that_ran_out_of_memory_is_the_first_symptom(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("big = bytearray(1 << 62)")
    name = name_of_run(_native.records()[-1].index)
    [first, *_] = diagnosed(session, capsys)["symptoms"]
    assert first["name"] == "out of memory"
    assert f"{name} " in first["evidence"]


def test_torch_that_could_not_allocate_on_the_host_ran_out_of_memory(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import torch\ntorch.empty(1 << 60)")
    assert diagnosed(session, capsys)["symptoms"][0]["name"] == "out of memory"


def test_a_diagnosis_runs_no_code_of_the_users(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(
        "ran = []\n"
        "class Odd:\n"
        "    def __getattribute__(self, name): ran.append(name); return object.__getattribute__(self, name)\n"
        "    def __repr__(self): ran.append('repr'); return 'odd'\n"
        "    def __len__(self): ran.append('len'); return 0\n"
        "    def __eq__(self, other): ran.append('eq'); return True\n"
        "    __hash__ = None\n"
        "odd = Odd(); ran.clear()"
    )
    diagnosed(session, capsys)
    assert session.shell.user_ns["ran"] == []


def test_before_anything_ran_all_is_no_or_unknown() -> None:
    printed = in_process("run('%leakcheck --diagnose')")
    assert printed.startswith("0 problems")
    assert "Symptom: none" in printed


@pytest.mark.parametrize("line", ["%leakcheck --diagnose --all", "%leakcheck --diagnose it"])
def test_a_diagnosis_with_more_words_is_one_sentence(line: str) -> None:
    printed = in_process(f"print(run({line!r}).success)")
    assert "Traceback" not in printed and printed.rstrip().endswith("False")


# --- one question --------------------------------------------------------------------------------


def test_what_nobody_watches_is_unknown() -> None:
    check = by_rules("?", ["XL204"], evidence(is_watched=False))
    assert (check.answer, check.next) == ("unknown", "%xleak policy report")


def test_tensors_that_are_not_counted_are_unknown_with_the_reason() -> None:
    check = by_rules("?", ["XL208"], evidence(tensors_unknown="no module for torch 9"))
    assert (check.answer, check.evidence) == ("unknown", "no module for torch 9")


def test_a_rule_of_devices_is_unknown_where_none_is_in_use() -> None:
    assert by_rules("?", ["XL609"], evidence()).answer == "unknown"
    assert by_rules("?", ["XL609"], evidence(devices=[CARD])).answer == "no"


def test_a_session_that_never_trained_has_no_verdict_on_its_gradients() -> None:
    assert by_rules("?", ["XL204"], evidence(has_trained=False)).answer == "unknown"


def test_loaders_that_do_not_pin_are_told_only_where_a_device_is() -> None:
    loose = [Loader("train", 0, False)]
    question = "memory that is not pinned"
    assert answer(timing(evidence(loaders=loose)), question).answer == "unknown"
    assert answer(timing(evidence(loaders=loose, devices=[CARD])), question).answer == "yes"
    pinned = evidence(loaders=[Loader("train", 2, True)], devices=[CARD])
    assert answer(timing(pinned), question).answer == "no"


def test_a_fifth_of_the_time_at_the_head_of_a_loop_is_waiting_for_batches() -> None:
    question = "next batch waited"
    slow = CellTime(4, 10.0, {"next item": 2.5}, {"next item": (4, 2)})
    check = answer(timing(evidence(times=[slow])), question)
    assert (check.answer, check.cell) == ("yes", 4)
    assert "25%" in check.evidence and "line 2 of cell 4" in check.evidence
    fast = CellTime(4, 10.0, {"next item": 1.5}, {"next item": (4, 2)})
    assert answer(timing(evidence(times=[fast])), question).answer == "no"
    assert answer(timing(evidence()), question).answer == "unknown"


def test_memory_reserved_beside_what_is_allocated_is_told_in_numbers() -> None:
    check = asked(walk(evidence(devices=[CARD])), "reserved")
    assert "1.2 times" in check.evidence


def test_user_text_is_data_in_html() -> None:
    check = Check("<b>?", "yes", "<script>", "<i>")
    shown = Diagnosis([], [])
    shown.sections.append(type(walk(evidence()).sections[0])("<u>", [check]))
    page = render.fragment(shown)
    assert "<script>" not in page and "&lt;script&gt;" in page


# --- lines ---------------------------------------------------------------------------------------


def test_the_lines_of_a_step_are_told_apart() -> None:
    source = (
        "for x, y in loader:\n"
        "    x = x.to(device)\n"
        "    loss = net(x)\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    total += loss.item()\n"
    )
    assert line_kinds(source) == {
        1: "next item",
        2: "transfer",
        4: "backward",
        5: "optimizer step",
        6: "read of a result",
    }


def test_a_loop_on_one_line_is_not_told_as_waiting() -> None:
    assert line_kinds("for x in xs: net(x)") == {}


# --- the profiler --------------------------------------------------------------------------------


def scripted_profile() -> Profile:
    """Two steps: a batch, a forward pass that saves 8 MiB, its way back, a step that takes 2."""
    events, at = [], 0
    for _ in range(2):
        events += [
            Event("enumerate(DataLoader)#_Single.__next__", at, at + 4 * MS),
            Event("aten::mm", at + 4 * MS, at + 6 * MS),
            Event("[memory]", at + 5 * MS, at + 5 * MS, 8 << 20),
            Event("autograd::engine::evaluate_function: Mm", at + 6 * MS, at + 7 * MS),
            Event("autograd::engine::evaluate_function: Sum", at + 7 * MS, at + 8 * MS),
            Event("[memory]", at + 8 * MS, at + 8 * MS, -(8 << 20)),
            Event("Optimizer.step#SGD.step", at + 8 * MS, at + 10 * MS),
            Event("[memory]", at + 9 * MS, at + 9 * MS, 2 << 20),
            Event("[memory]", at + 9 * MS + 1, at + 9 * MS + 1, -(2 << 20)),
        ]
        at += 10 * MS
    totals = [
        Totals("aten::mm", 0.004, 2, 16 << 20),
        Totals("aten::add", 0.0001, 2, 0),
        Totals("aten::clone", 0.001, 1, 1 << 20),
        Totals("aten::_local_scalar_dense", 0.0, 7, 0),
    ]
    return profile_of(3, reversed(events), totals)


def test_a_profile_has_time_and_memory_by_phase() -> None:
    profile = scripted_profile()
    phases = {it.name: it for it in profile.phases}
    assert profile.seconds == pytest.approx(0.02)
    assert phases["next batch"].seconds == pytest.approx(0.008)
    assert phases["backward"].count == phases["optimizer step"].count == 2
    assert phases["forward and the rest"].peak_bytes == 8 << 20
    assert phases["optimizer step"].peak_bytes == 2 << 20
    assert profile.saved_bytes == 8 << 20
    assert profile.saved_share == 1.0
    assert profile.loading_share == pytest.approx(0.4)
    assert profile.reads == 7
    assert [it.name for it in profile.operators] == ["aten::mm", "aten::clone"]


def test_a_profile_answers_what_samples_cannot() -> None:
    diagnosis = walk(evidence(profile=scripted_profile()))
    assert asked(diagnosis, "next batch waited").answer == "yes"
    assert asked(diagnosis, "one operator").answer == "yes"
    assert "backward 8 MiB" in asked(diagnosis, "peak far above").evidence


def test_a_profiled_cell_runs_once_and_its_phases_are_told(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    printed = in_process(
        "run('import torch; net = torch.nn.Linear(64, 8); times = []')\n"
        "run('optimizer = torch.optim.SGD(net.parameters(), 0.1)')\n"
        f"run('%%leakcheck --profile {trace}\\ntimes.append(1)\\n"
        "net(torch.rand(4, 64)).sum().backward()\\noptimizer.step()')\n"
        "run('print(len(times), torch.autograd._profiler_enabled())')\n"
        "run('%leakcheck --diagnose')"
    )
    assert "under torch's profiler" in printed
    assert "backward:" in printed and "optimizer step:" in printed
    assert "1 False" in printed
    assert "Does one operator take most of the time? aten::" in printed
    assert json.loads(trace.read_text())["traceEvents"]


def test_a_profiler_of_the_users_is_left_alone() -> None:
    printed = in_process(
        "run('import torch')\n"
        "run('mine = torch.profiler.profile(); mine.start()')\n"
        "run('%%leakcheck --profile\\ntorch.rand(3).sum()')\n"
        "run('mine.stop(); print(len(mine.events()) > 0)')"
    )
    assert "a profiler of your own has this cell" in printed
    assert printed.rstrip().endswith("True")


def test_a_trace_that_cannot_be_written_is_one_sentence_and_the_cell_has_run(
    tmp_path: Path,
) -> None:
    printed = in_process(
        "run('import torch')\n"
        f"run('%%leakcheck --profile {tmp_path}/no/trace.json\\nprint(torch.ones(3).sum().item())')"
    )
    assert "3.0" in printed and "the trace was not written" in printed
    assert "Traceback" not in printed


def test_a_cell_that_stops_the_watching_is_not_profiled() -> None:
    printed = in_process(
        "run('import torch')\n"
        "run('%%leakcheck --profile\\n%xleak policy off')\n"
        "run('print(torch.autograd._profiler_enabled())')"
    )
    assert printed.rstrip().endswith("False")


def test_a_cell_that_fails_under_the_profiler_ends_it() -> None:
    printed = in_process(
        "run('import torch')\n"
        "run('%%leakcheck --profile\\ntorch.rand(3).sum(); 1 / 0')\n"
        "run('print(torch.autograd._profiler_enabled())')"
    )
    assert "ZeroDivisionError" in printed
    assert printed.rstrip().endswith("False")


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("torch.empty(1 << 60)", "forward and the rest"),
        ("loss.register_hook(lambda g: torch.empty(1 << 60)); loss.backward()", "backward"),
        (
            "loss.backward(); optimizer.register_step_pre_hook(boom); optimizer.step()",
            "optimizer step",
        ),
    ],
    ids=["forward", "backward", "step"],
)
def test_a_profiled_cell_that_runs_out_of_memory_says_in_which_phase_beside_the_peaks(
    line: str, phase: str
) -> None:
    printed = in_process(
        "run('import torch; net = torch.nn.Linear(64, 8)')\n"
        "run('optimizer = torch.optim.SGD(net.parameters(), 0.1)')\n"
        "run('def boom(*it): torch.empty(1 << 60)')\n"
        f"run('%%leakcheck --profile\\nloss = net(torch.rand(4, 64)).sum()\\n{line}')\n"
        "run('%leakcheck --diagnose')"
    )
    assert "asked the host for 4 EiB" in printed
    assert f"  it failed in: {phase}\n" in printed
    assert "forward and the rest:" in printed
    assert f"it failed in: {phase}" in " ".join(printed.partition("Is a peak far above")[2].split())


def test_a_device_is_busy_while_anything_runs_there_and_marks_of_the_host_are_nothing() -> None:
    events = [
        Event("Optimizer.step#SGD.step", 0, 100 * MS),
        Event("Optimizer.step#SGD.step", 0, 100 * MS, on_device=True),
        Event("gemm", 10 * MS, 30 * MS, on_device=True),
        Event("Memcpy HtoD", 20 * MS, 40 * MS, on_device=True),
        Event("gemm", 60 * MS, 80 * MS, on_device=True),
    ]
    profile = profile_of(3, events, [])
    assert profile.busy_share == pytest.approx(0.5)
    question = "Does the device wait"
    check = answer(timing(evidence(profile=profile, devices=[CARD])), question)
    assert (check.answer, check.rule) == ("yes", "XL610") and "50%" in check.evidence
    assert answer(timing(evidence(devices=[CARD])), question).answer == "unknown"
    assert scripted_profile().busy_share is None


def test_the_largest_batch_is_estimated_where_peaks_rise_on_a_line() -> None:
    def check(peaks: dict[int, int], free: int | None = 1000 << 20) -> Check:
        batches = [
            BatchPeak(cell, size, peak << 20) for cell, (size, peak) in enumerate(peaks.items(), 1)
        ]
        return asked(walk(evidence(batches=batches, room_bytes=free)), "largest that fits")

    told = check({16: 60, 32: 100})
    # 20 MiB for any batch and 2.5 MiB for each element.
    assert told.answer == "no" and "about 392 fit into the 1000 MiB" in told.evidence
    assert check({16: 60, 32: 100}, free=105 << 20).answer == "yes"
    assert check({16: 60}).answer == check({16: 60, 32: 60}).answer == "unknown"
    assert check({16: 60, 32: 100, 64: 400}).evidence.endswith("no straight line")
    assert check({16: 60, 32: 100}, free=None).answer == "unknown"


def test_the_size_of_a_batch_is_what_a_name_of_the_cell_says() -> None:
    assert batch_size("for x in batches(data, batch_size): net(x)", {"batch_size": 32}) == 32
    assert batch_size("f(batch_size=8)", {}) is None
    assert batch_size("net(bs, BATCH_SIZE)", {"bs": 4, "BATCH_SIZE": 8}) is None
    assert batch_size("net(bs)", {"bs": True}) is batch_size("net(bs)", {"bs": 2.0}) is None


def test_profiled_cells_with_two_batch_sizes_give_an_estimate() -> None:
    cell = "%%leakcheck --profile\\nfor _ in range(2): net(torch.rand(batch_size, 64)).sum().backward()"
    printed = in_process(
        "run('import torch; net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU())')\n"
        f"run('batch_size = 256')\nrun('{cell}')\nrun('batch_size = 1024')\nrun('{cell}')\n"
        "run('%leakcheck --diagnose')"
    )
    told = " ".join(printed.partition("Is the batch near the largest that fits?")[2].split())
    assert told.startswith("about ")
    assert "by the peaks of batches of 256, 1024" in told


def test_the_modes_of_torch_are_a_line_of_the_diagnosis() -> None:
    told = in_process(
        "run('import torch; torch.autograd.set_detect_anomaly(True, check_nan=False)')\n"
        "run('torch.use_deterministic_algorithms(True)')\n"
        "run('%leakcheck --diagnose')\nrun('%leakcheck')\nrun('%memreport')\nrun('%%leakcheck\\n1')"
    )
    lines = [line for line in told.splitlines() if line.startswith("torch has gradients, ")]
    assert len(lines) == 4 and len(set(lines)) == 1
    on, _, off = lines[0].partition(" on; ")
    assert "anomaly detection" in on and "deterministic algorithms" in on
    assert "autocast" in off and "cudnn.benchmark" in off


def test_without_torch_there_is_no_line_of_modes() -> None:
    assert "torch has" not in in_process("run('a = 1')\nrun('%leakcheck')")


def test_without_torch_the_cell_runs_and_says_that_nothing_was_profiled() -> None:
    printed = in_process("run('%%leakcheck --profile\\nprint(6 * 7)')")
    assert "42" in printed and "torch was not imported" in printed
