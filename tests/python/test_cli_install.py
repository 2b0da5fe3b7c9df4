"""`xleak install` and `xleak explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from xleak.cli import main
from xleak.cli.kernels import KernelSpecs


def installed(prefix: Path, name: str = "xleak") -> Any:
    folder = prefix / "share" / "jupyter" / "kernels" / name
    return json.loads((folder / "kernel.json").read_text())


def test_the_kernel_is_installed_under_a_prefix_with_its_logos(tmp_path: Path) -> None:
    assert main(["install", "--prefix", str(tmp_path)]) == 0
    spec = installed(tmp_path)
    assert spec["argv"] == [sys.executable, "-m", "xleak.kernel", "-f", "{connection_file}"]
    assert (spec["display_name"], spec["language"]) == ("Python 3 (xleak)", "python")
    folder = tmp_path / "share" / "jupyter" / "kernels" / "xleak"
    logos = {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}
    assert {path.name for path in folder.iterdir()} == {"kernel.json", *logos}


def test_the_kernel_is_installed_for_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    assert main(["install", "--user"]) == 0
    assert (tmp_path / "kernels" / "xleak" / "kernel.json").exists()


def test_sys_prefix_is_the_environment_of_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert main(["install", "--sys-prefix"]) == 0
    assert installed(tmp_path)["language"] == "python"


def test_a_second_kernel_has_its_own_name_and_environment(tmp_path: Path) -> None:
    arguments = ["--name", "Other", "--display-name", "Mine", "--env", "A", "1", "--env", "B", "2"]
    assert main(["install", "--prefix", str(tmp_path), *arguments]) == 0
    spec = installed(tmp_path, "other")
    assert (spec["display_name"], spec["env"]) == ("Mine", {"A": "1", "B": "2"})


def test_a_name_without_a_display_name_is_what_the_launcher_shows(tmp_path: Path) -> None:
    assert main(["install", "--prefix", str(tmp_path), "--name", "other"]) == 0
    assert installed(tmp_path, "other")["display_name"] == "other"


def test_installing_again_replaces_the_old_one(tmp_path: Path) -> None:
    for display_name in ("first", "second"):
        main(["install", "--prefix", str(tmp_path), "--display-name", display_name])
    assert installed(tmp_path)["display_name"] == "second"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--name", "no spaces"], "Invalid kernel name"),
        (["--prefix", "/dev/null/below"], "/dev/null"),
    ],
)
def test_what_cannot_be_installed_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], reason: str
) -> None:
    assert main(["install", "--prefix", str(tmp_path), *arguments]) == 2
    shown = capsys.readouterr().err
    assert reason in shown and len(shown.strip().splitlines()) == 1


def test_user_and_prefix_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--user", "--sys-prefix"]) == 2
    assert "not allowed with" in capsys.readouterr().err


def test_without_an_installed_kernelspec_this_interpreter_is_the_kernel() -> None:
    specs = KernelSpecs(kernel_dirs=[])
    assert specs.get_kernel_spec("xleak").argv[0] == sys.executable


def test_explain_prints_the_readme_of_a_rule_by_code_or_slug(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "xl401"]) == 0
    by_code = capsys.readouterr().out
    assert main(["explain", "big_value_in_output_cache"]) == 0
    assert capsys.readouterr().out == by_code
    assert by_code.startswith("# Big value in the output cache (XL401)")


def test_an_unknown_rule_is_one_sentence_that_names_the_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "XL999"]) == 2
    assert "XL401" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    import xleak

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"xleak {xleak.__version__}\n"
