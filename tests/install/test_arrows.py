"""What may include what: monitor knows neither Python nor Jupyter nor LibTorch."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

FOREIGN = re.compile(r"#\s*include\s*[<\"](Python\.h|pybind11|xeus|zmq|torch|ATen|c10)")


def of_the_monitor(root: Path, file: Path) -> bool:
    """monitor/torch is a module of its own: the one place that includes LibTorch."""
    monitor = root / "monitor"
    return file.is_relative_to(monitor) and not file.is_relative_to(monitor / "torch")


def test_the_monitor_is_compiled_with_no_include_path_but_its_own(root: Path) -> None:
    commands = json.loads((root / "build" / "dev" / "compile_commands.json").read_text())
    monitor = [c for c in commands if of_the_monitor(root, Path(c["file"]))]
    assert monitor
    for command in monitor:
        words = shlex.split(command["command"])
        paths = [word[2:] for word in words if word.startswith("-I")]
        paths += [after for word, after in pairwise(words) if word == "-isystem"]
        own = (root / "monitor", root / "build")
        assert [p for p in paths if not any(Path(p).is_relative_to(o) for o in own)] == []


def test_no_source_of_the_monitor_includes_python_jupyter_or_libtorch(root: Path) -> None:
    sources = [*root.glob("monitor/**/*.cpp"), *root.glob("monitor/**/*.hpp")]
    sources = [path for path in sources if of_the_monitor(root, path)]
    assert sources
    assert [path.name for path in sources if FOREIGN.search(path.read_text())] == []


def test_only_one_folder_includes_libtorch(root: Path) -> None:
    torch = re.compile(r"#\s*include\s*<(torch|ATen|c10)/")
    sources = [*root.glob("monitor/**/*.?pp"), *root.glob("kernel/**/*.?pp")]
    found = {path.parent for path in sources if torch.search(path.read_text())}
    assert found == {root / "monitor" / "torch"}
