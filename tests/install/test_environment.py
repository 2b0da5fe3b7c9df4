"""The wheel in an environment where nothing else is."""

import json
import os
import subprocess
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

LOADED = """
import xleak._native
maps = open("/proc/self/maps").read()
print([name for name in ("xeus", "zmq", "torch") if name in maps])
"""

IMPORTED = """
import sys
import xleak
print([name for name in ("torch", "numpy", "jupyter_client", "nbclient") if name in sys.modules])
"""


def python(environment: Path, code: str) -> str:
    command = [str(environment / "bin" / "python"), "-I", "-c", code]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return finished.stdout.strip()


def test_the_version_is_that_of_the_distribution(fresh_environment: Path) -> None:
    code = "import xleak, importlib.metadata as m; print(xleak.__version__ == m.version('xleak'))"
    assert python(fresh_environment, code) == "True"


def test_the_native_border_imports_without_xeus(fresh_environment: Path) -> None:
    assert python(fresh_environment, LOADED) == "[]"


def test_importing_xleak_imports_nothing_heavy(fresh_environment: Path) -> None:
    assert python(fresh_environment, IMPORTED) == "[]"


def test_jupyter_finds_the_kernel_of_the_environment(fresh_environment: Path) -> None:
    folder = fresh_environment / "share" / "jupyter" / "kernels"
    spec = KernelSpecManager(kernel_dirs=[str(folder)]).get_kernel_spec("xleak")
    assert spec.display_name == "Python 3 (xleak)"
    assert spec.argv == ["python", "-m", "xleak.kernel", "-f", "{connection_file}"]


def test_the_kernelspec_names_no_path(fresh_environment: Path) -> None:
    file = fresh_environment / "share" / "jupyter" / "kernels" / "xleak" / "kernel.json"
    text = file.read_text()
    json.loads(text)
    assert os.sep not in text


def test_the_command_line_says_its_version(fresh_environment: Path) -> None:
    command = [str(fresh_environment / "bin" / "xleak"), "--version"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout.startswith("xleak ")
