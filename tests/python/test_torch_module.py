"""How the module for torch is found, refused and built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
import xleak
from xleak.cli import build_torch, cuda_headers, main
from xleak.shell import torch_module

USE = """
import json, torch
from xleak.shell import torch_module
loaded = torch_module.load()
kept = None
if loaded:
    from xleak import _torch
    _torch.install()
    _torch.begin_cell(1)
    kept = torch.zeros(1000)
    kept = _torch.end_cell(1)[0]
print(json.dumps([loaded, kept, torch_module.why_missing()]))
"""

# Says who it is, and compiles nothing.
COMPILER = """#!/bin/sh
case "$*" in *" -c "*) echo "x.cpp:1: error: no such luck" >&2; exit 1;; esac
echo 12.2.0
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no module tried yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(torch_module, "_outcome", None)
    return tmp_path / "cache"


@pytest.fixture
def unpackaged(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, and xleak came without a module."""
    monkeypatch.setattr(torch_module, "_PACKAGE", cache)
    return cache


def used_without_the_packaged_one() -> list[object]:
    hide = (
        "from pathlib import Path\n"
        "from xleak.shell import torch_module\n"
        "torch_module._PACKAGE = Path('nowhere')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide + USE], capture_output=True, text=True, check=True, timeout=120
    )
    told: list[object] = json.loads(done.stdout)
    return told


def refusal(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["build-torch", "--force", *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("xleak build-torch: ")
    assert said.count("\n") == 1
    return said


# --- finding it ------------------------------------------------------------------------------


def test_the_module_that_came_with_xleak_is_taken_for_its_own_torch(cache: Path) -> None:
    found = torch_module.find(torch)
    assert found is not None
    assert found.parent == Path(xleak.__file__).parent
    assert torch_module.load()
    assert torch_module.why_missing() is None


def test_a_module_for_another_torch_is_not_loaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", "2.99.0")
    assert not torch_module.load()
    why = torch_module.why_missing()
    assert why is not None
    assert why.startswith("tensor memory per cell, ")
    assert why.endswith("xleak has no module for torch 2.99.0. Build it with: xleak build-torch")


def test_a_torch_that_is_too_old_is_offered_no_command(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cu118")
    why = torch_module.why_missing()
    assert why is not None
    assert why.endswith("are unknown: torch 2.3.1+cu118 is older than 2.4.")


def test_a_module_that_cannot_be_loaded_is_said_in_a_sentence(unpackaged: Path) -> None:
    broken = torch_module.built_path(torch_module.key_of(torch))
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no library")
    assert not torch_module.load()
    why = torch_module.why_missing()
    assert why is not None
    assert "its module for torch failed" in why


def test_the_cache_is_kept_apart_by_torch_abi_and_python(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = torch_module.key_of(torch)
    assert (
        key == f"{torch.__version__}-cxx11abi1-cpython-{sys.version_info[0]}{sys.version_info[1]}"
    )
    path = torch_module.built_path(key)
    assert path == cache / "xleak" / xleak.__version__ / "torch" / key / "_torch.so"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/somewhere")
    assert torch_module.built_path(key).is_relative_to("/somewhere/.cache/xleak")


def test_while_torch_is_not_imported_nothing_is_missing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    assert not torch_module.load()
    assert torch_module.why_missing() is None


# --- building it -----------------------------------------------------------------------------


# Two minutes of a compiler's time, which other work on the machine stretches.
@pytest.mark.timeout(900)
@pytest.mark.slow
def test_a_module_is_built_and_used(unpackaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert used_without_the_packaged_one()[:2] == [False, None]
    assert main(["build-torch"]) == 0
    path = torch_module.built_path(torch_module.key_of(torch))
    assert f"Built {path}." in capsys.readouterr().out
    # Nothing of the build is left beside it.
    assert list(path.parent.iterdir()) == [path]
    assert used_without_the_packaged_one() == [True, 4000, None]
    assert main(["build-torch"]) == 0
    assert f"is there: {path}" in capsys.readouterr().out


def torch_for(cuda: str | None, site_packages: Path) -> ModuleType:
    """A torch that was built for this CUDA, installed there."""
    built = ModuleType("torch")
    built.__file__ = str(site_packages / "torch" / "__init__.py")
    built.__dict__["version"] = SimpleNamespace(cuda=cuda)
    return built


def lay_out(include: Path, names: list[str], cuda_version: int = 12010) -> None:
    """Headers of such a CUDA."""
    for name in names:
        (include / name).parent.mkdir(parents=True, exist_ok=True)
        (include / name).write_text(f"#define CUDA_VERSION {cuda_version}\n")


OF_THE_RUNTIME = ["cuda.h", "cuda_runtime_api.h"]
OF_THE_COMPILER = ["crt/host_config.h", "crt/host_defines.h"]


def test_the_headers_of_cuda_are_taken_from_the_toolkit_or_from_the_packages_beside_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolkit, packages = tmp_path / "toolkit", tmp_path / "site-packages"
    monkeypatch.setattr("torch.utils.cpp_extension.CUDA_HOME", str(toolkit))
    lay_out(packages / "nvidia" / "cuda_runtime" / "include", OF_THE_RUNTIME)
    lay_out(packages / "nvidia" / "cuda_nvcc" / "include", OF_THE_COMPILER)
    beside = sorted((packages / "nvidia").glob("*/include"))
    assert cuda_headers.folders(torch_for("12.1", packages)) == beside
    lay_out(toolkit / "include", OF_THE_RUNTIME + OF_THE_COMPILER)
    assert cuda_headers.folders(torch_for("12.1", packages)) == [toolkit / "include"]


def test_without_all_headers_of_the_right_cuda_none_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.utils.cpp_extension.CUDA_HOME", None)
    include = tmp_path / "nvidia" / "cu13" / "include"
    lay_out(include, OF_THE_RUNTIME, 13020)
    assert cuda_headers.folders(torch_for("13.2", tmp_path)) == []
    lay_out(include, OF_THE_COMPILER, 13020)
    assert cuda_headers.folders(torch_for("13.2", tmp_path)) == [include]
    assert cuda_headers.folders(torch_for("12.8", tmp_path)) == []
    assert cuda_headers.folders(torch_for(None, tmp_path)) == []


def test_where_the_module_is_there_nothing_is_built(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build-torch"]) == 0
    assert "is there: " in capsys.readouterr().out
    assert not cache.exists()


def test_without_torch_there_is_nothing_to_build(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert f"cannot import torch in {sys.executable}" in refusal(capsys)


def test_a_torch_that_is_too_old_is_refused(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1")
    assert "torch 2.3.1 is too old: the module needs 2.4 or later." in refusal(capsys)


def test_without_a_compiler_the_sentence_says_what_to_install(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "there is no C++ compiler 'no-such-compiler'." in refusal(capsys)


def test_without_ninja_the_sentence_says_what_to_install(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    which = shutil.which
    without = ModuleType("shutil")
    without.__dict__["which"] = lambda name: None if name == "ninja" else which(name)
    monkeypatch.setattr(build_torch, "shutil", without)
    assert f"Install it with: {sys.executable} -m pip install ninja" in refusal(capsys)


def test_without_pythons_headers_the_sentence_says_what_to_install(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert f"Python's headers are not in {tmp_path}." in refusal(capsys)


def test_a_cache_that_cannot_be_written_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said = refusal(capsys)
    assert f"cannot write {tmp_path / 'file'}" in said
    assert "XDG_CACHE_HOME" in said


def test_of_a_failed_build_the_first_error_is_told_and_nothing_stays(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert "error: no such luck" in refusal(capsys)
    assert [name for _, _, names in os.walk(cache / "xleak") for name in names] == []
