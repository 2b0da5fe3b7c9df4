"""`xleak build-torch`: builds xleak's module for the torch of this environment, into a cache."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from xleak import resources
from xleak.cli import cuda_headers, output
from xleak.cli.problem import Problem
from xleak.shell import torch_module


def build_torch(arguments: argparse.Namespace) -> int:
    """Builds the module, unless one is there, and prints where."""
    torch = _torch()
    target = torch_module.built_path(torch_module.key_of(torch))
    there = None if arguments.force else torch_module.find(torch)
    if there is not None:
        _print(f"The module for torch {torch.__version__} is there: {there}")
        return 0
    _check_tools()
    cuda = cuda_headers.folders(torch)
    _print(f"Building the module for torch {torch.__version__}. This takes a minute or two.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            # A half-written file never stands where kernels look.
            os.replace(_built(Path(folder), cuda), target)
    except OSError as refused:
        raise Problem(
            f"cannot write {refused.filename}: {refused.strerror}. "
            "Point XDG_CACHE_HOME at a folder that can be written, and run it again."
        ) from None
    _print(f"Built {target}. Kernels use it from their next start.")
    if torch.version.cuda and not cuda:
        _print(cuda_headers.MISSING)
    return 0


def _print(sentence: str) -> None:
    with output.to_stdout() as stream:
        print(sentence, file=stream)


def _torch() -> ModuleType:
    try:
        torch = importlib.import_module("torch")
    except ImportError as missing:
        raise Problem(
            f"cannot import torch in {sys.executable} ({missing}). Run xleak build-torch with the "
            "Python that your notebooks use."
        ) from None
    if torch_module.is_too_old(torch):
        raise Problem(
            f"torch {torch.__version__} is too old: the module needs 2.4 or later. All of xleak but "
            "tensor memory works without it."
        )
    return torch


def _check_tools() -> None:
    compiler = os.environ.get("CXX", "c++")
    with _scripts_on_path():
        if shutil.which(compiler) is None:
            raise Problem(
                f"there is no C++ compiler {compiler!r}. Install one (on Debian: apt install g++) "
                "or name yours in CXX."
            )
        if shutil.which("ninja") is None:
            raise Problem(
                f"there is no ninja. Install it with: {sys.executable} -m pip install ninja"
            )
    headers = sysconfig.get_path("include")
    if not (Path(headers) / "Python.h").is_file():
        raise Problem(
            f"Python's headers are not in {headers}. Install them (on Debian: apt install "
            "python3-dev)."
        )


def _built(folder: Path, cuda: list[Path]) -> Path:
    from torch.utils import cpp_extension

    sources = sorted(resources.torch_sources().glob("*.cpp"))
    if not sources:
        raise Problem("this installation has no sources of the module. Install xleak again.")
    half = len(sources) // 2
    batches = [_batch(folder / "first.cpp", sources[:half])]
    batches.append(_batch(folder / "second.cpp", sources[half:]))
    try:
        with _scripts_on_path():
            cpp_extension.load(
                name="_torch",
                sources=batches,
                extra_cflags=[
                    "-O3",
                    "-fvisibility=hidden",
                    *(["-DXLEAK_CUDA_TRACE"] if cuda else []),
                ],
                extra_ldflags=["-Wl,-z,nodelete", *(["-lc10_cuda"] if cuda else [])],
                extra_include_paths=[str(it) for it in [resources.torch_sources(), *cuda]],
                build_directory=str(folder),
                with_cuda=False,
            )
    except (ImportError, RuntimeError, subprocess.SubprocessError) as failed:
        raise Problem(f"torch's extension builder failed: {_reason(str(failed))}") from None
    return folder / "_torch.so"


def _batch(path: Path, sources: list[Path]) -> str:
    """A file that compiles them together: nearly all of the time goes to torch's headers."""
    path.write_text("".join(f'#include "{source}"\n' for source in sources))
    return str(path)


def _reason(log: str) -> str:
    """The first line that says what was wrong; the whole may be thousands."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = (line for line in lines if "error:" in line)
    return next(errors, lines[0] if lines else "it gave no reason")


@contextmanager
def _scripts_on_path() -> Iterator[None]:
    """With the programs of this Python's environment, which need not be an active one."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), before))
    try:
        yield
    finally:
        os.environ["PATH"] = before
