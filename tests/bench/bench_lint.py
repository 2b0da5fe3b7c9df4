"""`xleak lint`: its speed on notebooks, and the whole command beside ruff and torch-preflight."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpus
from claims import Claim, Measurement

MEGABYTES = 20
ROUNDS = 7
BIN = Path(sys.executable).parent


def measure() -> list[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        notebooks, copy = Path(folder, "notebooks"), Path(folder, "nn")
        notebooks.mkdir()
        size = corpus.write(notebooks, MEGABYTES)
        _copy_of_torch_nn(copy)
        return [
            *_throughput(notebooks, size),
            _memory(notebooks),
            _beside_ruff(copy),
            _beside_preflight(copy),
        ]


def _copy_of_torch_nn(folder: Path) -> None:
    import torch

    shutil.copytree(
        Path(torch.__file__).parent / "nn",
        folder,
        ignore=shutil.ignore_patterns("*.pyc", "__pycache__"),
    )


def _throughput(folder: Path, size: int) -> list[Measurement]:
    from xleak import source

    paths = sorted(map(str, folder.iterdir()))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for threads in seconds:
            begun = time.perf_counter()
            source.lint_files(paths, threads)
            seconds[threads].append((time.perf_counter() - begun) * 1e9 / size)
    samples = {
        f"{threads} thread{'s' * (threads > 1)}": times for threads, times in seconds.items()
    }
    # 125 ns a byte are 8 MB/s.
    claims = [Claim("1 thread", None, 125), Claim("2 threads", "1 thread", 0.65)]
    return [
        Measurement(f"lint of {size / 1e6:.0f} MB of code in notebooks", "ns/B", samples, claims)
    ]


def _memory(folder: Path) -> Measurement:
    """What a process that lints everything uses at its peak, beside one that lints a tenth."""
    paths = sorted(map(str, folder.iterdir()))
    samples = {"all": [_peak(paths)], "a tenth": [_peak(paths[::10])]}
    doubled = {name: values * 2 for name, values in samples.items()}
    return Measurement("peak memory of lint", "MiB", doubled, [Claim("all", "a tenth", 1.1)])


def _peak(paths: list[str]) -> float:
    code = (
        "import resource, sys; from xleak import source; source.lint_files(sys.argv[1:], 1);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _beside_ruff(folder: Path) -> Measurement:
    sides = {
        "xleak": ["xleak", "lint", "--notes", "--fail-on", "never"],
        "ruff": [
            "ruff",
            "check",
            "--select",
            "ALL",
            "--no-cache",
            "--isolated",
            "--exit-zero",
            "-q",
        ],
    }
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, command in sides.items():
            samples[name].append(_seconds([str(BIN / command[0]), *command[1:], str(folder)]))
    return Measurement(
        "the whole command on a copy of torch/nn", "s", samples, [Claim("xleak", "ruff", 1.0)]
    )


def _beside_preflight(folder: Path) -> Measurement:
    """torch-preflight takes about a minute, so it runs twice."""
    sides = {
        "xleak": [str(BIN / "xleak"), "lint", "--fail-on", "never", str(folder)],
        "torch-preflight": [str(BIN / "torch-preflight"), str(folder)],
    }
    samples = {name: [_seconds(command), _seconds(command)] for name, command in sides.items()}
    claims = [Claim("xleak", "torch-preflight", 0.01)]
    return Measurement(
        "the whole command on a copy of torch/nn, beside torch-preflight", "s", samples, claims
    )


def _seconds(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - begun
