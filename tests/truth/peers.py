"""The same cases under tools that others wrote, where they can say anything of them.

python tests/truth/peers.py seen | unseen     totals by peer; writes results/peers_seen.json or peers_unseen.json

guppy3, objgraph and memray look at a process and list what is alive: they accuse nobody, so their first
answer is compared with the truth. torch-preflight reads source: it can be wrong of a clean case too.
A peer that is not installed is named with its pin; `pip install -r tests/requirements/peers.in` beside the
environment's own packages adds those.
"""

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cases
from child import run_python
from judge import has_word, is_near
from peer_child import PEERS, Answer

PINS = cases.HERE.parent / "requirements" / "peers.in"
RESULTS = cases.HERE / "results"
PREFLIGHT = "torch-preflight"
# Its rules on memory; the others are about results and speed.
_MEMORY_RULES = "TG001,TG002"
_PATIENCE = 120


@dataclass(frozen=True)
class Said:
    """What a peer said rightly of a case."""

    is_clean: bool
    holder: bool = False
    bytes: bool = False
    cell: bool = False
    line: bool = False
    accused: bool = False
    failed: bool = False


def missing() -> dict[str, str]:
    """The peers that are not installed, as pip names them."""
    pins = [line for line in PINS.read_text(encoding="utf-8").splitlines() if "==" in line]
    named = {pin.partition("==")[0]: pin for pin in pins}
    return {name: named.get(name, name) for name in (*PEERS, PREFLIGHT) if not _version(name)}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def asked(peer: str, case: cases.Case) -> Said:
    """What the peer says of the case."""
    with tempfile.TemporaryDirectory(prefix="truth_") as folder:
        return _preflight(case, Path(folder)) if peer == PREFLIGHT else _child(peer, case, folder)


def _child(peer: str, case: cases.Case, folder: str) -> Said:
    if case.leak is None:
        return Said(is_clean=True)
    try:
        arguments: list[str | Path] = [cases.HERE / "peer_child.py", peer, case.path.resolve()]
        child = run_python(arguments, folder, _PATIENCE)
        answer = Answer(**json.loads(child.stdout))
    except (subprocess.TimeoutExpired, ValueError):
        return Said(is_clean=False, failed=True)
    number = case.order[answer.execution - 1] if answer.execution else None
    return Said(
        is_clean=False,
        holder=any(has_word(answer.text, word) for word in case.leak.holders),
        bytes=is_near(answer.bytes, case.leak.bytes),
        cell=number == case.leak.cause_cell,
        line=case.is_cause(number, answer.line),
    )


def _preflight(case: cases.Case, folder: Path) -> Said:
    """Its findings on memory, on the cells one below the other."""
    script = folder / f"{case.slug}.py"
    script.write_text("\n".join(cell.source for cell in case.cells) + "\n", encoding="utf-8")
    command: list[str | Path] = [
        "-m",
        "torch_preflight",
        "check",
        "-f",
        "json",
        "--select",
        _MEMORY_RULES,
        script,
    ]
    try:
        ended = run_python(command, folder, _PATIENCE)
        found: list[dict[str, Any]] = json.loads(ended.stdout)["diagnostics"]
    except (subprocess.TimeoutExpired, ValueError):
        return Said(is_clean=case.leak is None, failed=True)
    if case.leak is None:
        return Said(is_clean=True, accused=bool(found))
    places = [_place(case, it["line"]) for it in found]
    cells = [(cell, line) for cell, line in places if cell == case.leak.cause_cell]
    return Said(
        is_clean=False,
        cell=bool(cells),
        line=any(case.is_cause(cell, line) for cell, line in cells),
    )


def _place(case: cases.Case, line: int) -> tuple[int, int]:
    """The cell of a line of the script, and the line within it."""
    for cell in case.cells:
        count = len(cell.source.splitlines())
        if line <= count:
            return cell.number, line
        line -= count
    return len(case.cells), line


def summed(every: Sequence[Said]) -> dict[str, int]:
    """How many cases a peer was right on."""
    leaking = [said for said in every if not said.is_clean]
    clean = [said for said in every if said.is_clean]
    return {
        "leaking": len(leaking),
        "holder": sum(said.holder for said in leaking),
        "bytes": sum(said.bytes for said in leaking),
        "cell": sum(said.cell for said in leaking),
        "line": sum(said.line for said in leaking),
        "clean": len(clean),
        "accused": sum(said.accused for said in clean),
        "failed": sum(said.failed for said in every),
    }


def _results(paths: Sequence[Path]) -> Iterator[tuple[str, dict[str, int]]]:
    every = [cases.read(path) for path in paths]
    for peer in (*PEERS, PREFLIGHT):
        if _version(peer):
            yield peer, summed([asked(peer, case) for case in every])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="+", metavar="seen | unseen | CASE.py")
    chosen = parser.parse_args().what
    half = chosen[0] if chosen[0] in cases.HALVES and len(chosen) == 1 else None
    for name, pin in missing().items():
        print(f"{name} is not installed: pip install {pin}")
    results: dict[str, dict[str, int]] = {}
    for peer, counts in _results(cases.all_paths(half) if half else [Path(it) for it in chosen]):
        if not results:
            print(" " * 16 + "".join(f"{name:>9}" for name in counts))
        results[peer] = counts
        print(f"{peer:16}" + "".join(f"{count:9}" for count in counts.values()), flush=True)
    if half:
        RESULTS.mkdir(exist_ok=True)
        written = {
            "versions": {peer: _version(peer) for peer in results},
            "missing": [*missing()],
            "totals": results,
        }
        path = RESULTS / f"peers_{half}.json"
        path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
