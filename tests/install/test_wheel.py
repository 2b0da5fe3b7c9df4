"""What a wheel holds, and what its native modules ask of the machine."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
import torch
from xleak.shell import torch_module

MODULES = ("_native", "_kernel", "_torch", "libxleak_monitor")


def native(unpacked: Path, stem: str) -> Path:
    (module,) = (unpacked / "xleak").glob(f"{stem}*.so")
    return module


def dynamic(module: Path, tag: str) -> set[str]:
    """The values of one tag of the dynamic section, by readelf(1)."""
    table = subprocess.run(["readelf", "-d", module], capture_output=True, text=True, check=True)
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", table.stdout))


@pytest.mark.parametrize("stem", MODULES)
def test_a_native_module_finds_the_monitor_beside_itself_and_nowhere_else(
    unpacked: Path, stem: str
) -> None:
    assert dynamic(native(unpacked, stem), "RUNPATH") == {"$ORIGIN"}


@pytest.mark.parametrize("stem", ["_native", "_kernel"])
def test_both_modules_share_one_monitor(unpacked: Path, stem: str) -> None:
    assert "libxleak_monitor.so" in dynamic(native(unpacked, stem), "NEEDED")


def test_the_module_for_torch_is_never_unloaded(unpacked: Path) -> None:
    table = subprocess.run(
        ["readelf", "-d", native(unpacked, "_torch")], capture_output=True, text=True, check=True
    )
    assert "NODELETE" in table.stdout


def test_the_module_for_torch_says_what_it_was_built_for(unpacked: Path) -> None:
    told = (unpacked / "xleak" / "_torch.built_for").read_text()
    assert told.strip() == torch_module.key_of(torch)


def test_the_wheel_holds_the_sources_of_the_module_for_torch(unpacked: Path, root: Path) -> None:
    sources = {path.name for path in (root / "monitor" / "torch").glob("*.?pp")}
    assert sources
    assert {path.name for path in (unpacked / "xleak" / "torch_sources").iterdir()} == sources


@pytest.mark.parametrize("stem", ["_native", "libxleak_monitor"])
def test_the_monitor_and_its_border_link_neither_xeus_nor_zmq_nor_libpython(
    unpacked: Path, stem: str
) -> None:
    needed = dynamic(native(unpacked, stem), "NEEDED")
    assert needed
    assert not [name for name in needed if re.search(r"xeus|zmq|libpython|torch|c10", name)]


@pytest.mark.parametrize("stem", MODULES)
def test_a_native_module_knows_no_path_of_the_machine_that_built_it(
    unpacked: Path, stem: str, root: Path
) -> None:
    content = native(unpacked, stem).read_bytes()
    assert bytes(root) not in content
    assert bytes(Path.home()) + b"/" not in content


def test_the_wheel_holds_the_readme_of_every_smell(unpacked: Path, root: Path) -> None:
    smells = {path.parent.name for path in root.glob("monitor/smells/*/smell.cpp")}
    assert smells
    assert {path.parent.name for path in unpacked.glob("xleak/smells/*/README.md")} == smells


def test_the_wheel_holds_the_sidebar_as_jupyterlab_looks_for_it(unpacked: Path) -> None:
    (folder,) = unpacked.glob("*.data/data/share/jupyter/labextensions/xleak")
    built = json.loads((folder / "package.json").read_text())["jupyterlab"]["_build"]
    assert (folder / built["load"]).is_file()
    assert (folder / "schemas" / "xleak" / "plugin.json").is_file()
    assert json.loads((folder / "install.json").read_text())["packageName"] == "xleak"


def test_the_sidebar_is_small(unpacked: Path) -> None:
    scripts = unpacked.glob("*.data/data/share/jupyter/labextensions/xleak/static/*.js")
    sizes = [len(gzip.compress(script.read_bytes())) for script in scripts]
    assert 0 < sum(sizes) <= 250 << 10


def test_the_wheel_holds_no_sources_and_no_build_folders(unpacked: Path) -> None:
    strangers = [
        path
        for path in unpacked.rglob("*")
        if path.suffix in {".in", ".o"}
        or (path.suffix in {".cpp", ".hpp"} and path.parent.name != "torch_sources")
        or path.name == "__pycache__"
    ]
    assert strangers == []
