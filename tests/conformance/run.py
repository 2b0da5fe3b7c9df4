"""Runs test suites that others wrote on the kernel, and writes the result to docs/conformance.md.

`--kernel MODULE` runs them on another kernel, ipykernel_launcher say, to see what a suite asks of
the kernel that it was written for; nothing is written then.
"""

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "conformance"
XLEAK = "xleak.kernel"
# Every suite ends in a minute; one that hangs must not hang what waits for it.
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Suite:
    """One suite: where it lies, what of it is run, and why the rest is not."""

    title: str
    folder: Path
    arguments: list[str]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    suite: Suite
    counts: Mapping[str, int]
    failures: list[str]
    succeeded: bool


SUITES = [
    Suite(
        "jupyter_kernel_test 0.7.0",
        ROOT / "tests" / "conformance",
        ["test_jupyter_kernel_test.py"],
    ),
    Suite(
        "ipykernel 7.4.0, tests/test_message_spec.py",
        UNPACKED / "ipykernel-7.4.0",
        ["tests/test_message_spec.py", "-p", "any_version"],
        {
            "test_kernel_info_request": "asks for the feature `kernel subshells`",
            "test_subshell": "subshells are not there yet",
        },
    ),
    Suite(
        "nbclient 0.11.0, tests/test_client.py",
        UNPACKED / "nbclient-0.11.0",
        [
            "tests/test_client.py",
            "-k",
            "run_notebook or run_all or many or parallel or timeout or"
            " kernel_death or interrupt or allow_errors or error or update_display",
        ],
    ),
]


def write_kernelspecs(folder: Path, module: str) -> None:
    """Makes the kernel answer to its own name and to the ones that the suites ask for."""
    spec = {
        "argv": [sys.executable, "-m", module, "-f", "{connection_file}"],
        "display_name": "The kernel under test",
        "language": "python",
        "metadata": {"debugger": True},
    }
    for name in ("xleak", "python3", "python"):
        (folder / "kernels" / name).mkdir(parents=True)
        (folder / "kernels" / name / "kernel.json").write_text(json.dumps(spec))


def closing_counts(output: str) -> dict[str, int]:
    """Reads pytest's closing line: {"passed": 40, "deselected": 29}."""
    closing = re.findall(r"^=+ (.* in [\d.]+s.*) =+$", output, re.MULTILINE)
    if not closing:
        return {}
    pairs = re.findall(
        r"(\d+) (passed|failed|errors?|skipped|deselected|subtests passed)", closing[-1]
    )
    return {what: int(count) for count, what in pairs}


def run(suite: Suite, environment: Mapping[str, str]) -> Outcome:
    deselect = [f"--deselect={suite.arguments[0]}::{name}" for name in suite.left_out]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::DeprecationWarning",
        "-ra",
        "--tb=short",
        "--rootdir=.",
        "-c",
        os.devnull,
        *suite.arguments,
        *deselect,
    ]
    finished = subprocess.run(
        command,
        cwd=suite.folder,
        env=dict(environment),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    print(finished.stdout, flush=True)
    failures = re.findall(r"^(?:FAILED|ERROR|SUBFAILED\S*) (.*)$", finished.stdout, re.MULTILINE)
    return Outcome(suite, closing_counts(finished.stdout), failures, finished.returncode == 0)


def report(outcomes: list[Outcome]) -> str:
    """The page docs/conformance.md."""
    lines = [
        "# Conformance",
        "",
        "Suites that others wrote, run on the kernel by `make conformance`, which writes this.",
        "",
        f"xleak {importlib.metadata.version('xleak')}, "
        f"IPython {importlib.metadata.version('ipython')}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor}",
        "",
        "| suite | passed | failed | skipped | not run here |",
        "|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        counts = outcome.counts
        failed = sum(n for what, n in counts.items() if what.startswith(("fail", "error")))
        lines.append(
            f"| {outcome.suite.title} | {counts.get('passed', 0)} | {failed} "
            f"| {counts.get('skipped', 0)} | {counts.get('deselected', 0)} |"
        )
    lines += ["", "## What is not run, and why", ""]
    for outcome in outcomes:
        lines += [
            f"- {outcome.suite.title}: `{name}`: {why}."
            for name, why in outcome.suite.left_out.items()
        ]
        if "-k" in outcome.suite.arguments:
            lines.append(
                f'- {outcome.suite.title}: what `-k "{outcome.suite.arguments[-1]}"` leaves '
                "out: tests of nbclient itself, which start no kernel or mock it."
            )
    failures = [f"- `{name}`" for outcome in outcomes for name in outcome.failures]
    if failures:
        lines += ["", "## What fails", "", *failures]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", default=XLEAK, metavar="MODULE")
    module = parser.parse_args().kernel
    with tempfile.TemporaryDirectory() as folder:
        write_kernelspecs(Path(folder), module)
        environment = {
            **os.environ,
            "JUPYTER_PATH": folder,
            "IPYTHONDIR": f"{folder}/ipython",
            "XDG_STATE_HOME": f"{folder}/state",
            "PYTHONPATH": str(ROOT / "tests" / "conformance"),
        }
        outcomes = [run(suite, environment) for suite in SUITES]
    for outcome in outcomes:
        print(
            f"{'ok' if outcome.succeeded else 'FAILED':7}{outcome.suite.title}: "
            + ", ".join(f"{count} {what}" for what, count in outcome.counts.items())
        )
    if module == XLEAK:
        (ROOT / "docs" / "conformance.md").write_text(report(outcomes))
    return 0 if all(outcome.succeeded for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
