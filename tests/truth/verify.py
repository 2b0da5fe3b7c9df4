"""Checks cases without xleak: that a leak is there and its repair works, that a clean case leaves nothing.

python tests/truth/verify.py [-v] CASE.py …     one line for each; all cases without names
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cases
import counters
import form
from child import run_python
from play import Played

NEAR = (0.90, 1.10)
STAYS = 100_000
SECONDS = 10.0
HELD = 400_000_000
_PATIENCE = 90


def verify(path: Path, verbose: bool = False) -> tuple[bool, str]:
    """Whether the case is right, and a sentence on it."""
    try:
        case = cases.read(path)
        form.check(case)
    except (cases.BadCase, UnicodeDecodeError) as error:
        return False, str(error)
    try:
        played = run(case)
    except subprocess.TimeoutExpired:
        return False, f"ran for {_PATIENCE} s and was ended"
    except RuntimeError as error:
        return False, str(error)
    faults = [*_faults(case, played)]
    said = "; ".join(faults) if faults else _measured(case, played)
    if played.raised:
        errors = (f"cell {number} raises {error}" for number, error in played.raised.items())
        said += f" [{'; '.join(errors)}]"
    if verbose:
        said += "".join(f"\n      {part}" for part in played.parts)
        said += f"\n      peak resident {played.peak / 1e6:.0f} MB, {played.wall:.1f} s"
    return not faults, said


def run(case: cases.Case) -> Played:
    """Runs the case in a child; what it measured."""
    with tempfile.TemporaryDirectory(prefix="truth_") as folder:
        environment = {**counters.environment(), "HOME": folder, "TMPDIR": folder}
        arguments = [cases.HERE / "play.py", case.path.resolve()]
        child = run_python(arguments, folder, _PATIENCE, environment)
        if not child.stdout:
            output = Path(folder, "output.txt")
            last = output.read_text(errors="replace") if output.exists() else ""
            said = (last + child.stderr.decode(errors="replace")).strip()[-400:]
            raise RuntimeError(f"the process died with {child.returncode}: {said}")
    return Played(**json.loads(child.stdout))


def _faults(case: cases.Case, played: Played) -> Iterator[str]:
    if played.problem:
        yield played.problem.strip()
        return
    # A machine at work makes the clock say more than the case takes.
    if (seconds := min(played.wall, played.processor)) > SECONDS:
        yield f"takes {seconds:.1f} s; at most {SECONDS:.0f} are asked"
    if played.written:
        yield f"writes outside its folder: {played.written[0]}"
    if case.leak:
        yield from _faults_of_leak(case.leak, played)
    elif _stays(played) >= STAYS:
        rounds = ", ".join(f"{step / 1e6:+.3f}" for step in _steps(played))
        yield f"is to be clean, and later rounds add {rounds} MB; the last is to add less than 0.1"


def _faults_of_leak(leak: cases.Leak, played: Played) -> Iterator[str]:
    share = -_steps(played)[0] / leak.bytes
    if not NEAR[0] <= share <= NEAR[1]:
        yield (
            f"`repair` gives {-_steps(played)[0] / 1e6:.3f} MB back, {share:.0%} of the "
            f"{leak.bytes / 1e6:.3f} that `leaked` says; {NEAR[0]:.0%} to {NEAR[1]:.0%} are asked"
        )


def _steps(played: Played) -> list[int]:
    return [later - earlier for earlier, later in itertools.pairwise(played.readings)]


def _stays(played: Played) -> int:
    """What the last round adds: a library's table that fills at its second use fills in an earlier one."""
    return _steps(played)[-1]


def _measured(case: cases.Case, played: Played) -> str:
    took = f"{min(played.wall, played.processor):.1f} s"
    if case.leak:
        back = -_steps(played)[0]
        share = back / case.leak.bytes
        return f"gives {back / 1e6:.2f} MB back, {share:.1%} of what it declares, {took}"
    steps = ", ".join(f"{step / 1e6:+.3f}" for step in _steps(played))
    return f"later rounds add {steps} MB, {took}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="*", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="with the counters")
    arguments = parser.parse_args()
    paths = arguments.case or [path for half in cases.HALVES for path in cases.all_paths(half)]
    slugs = Counter(path.stem for path in {path.resolve() for path in [*paths, *_tree(paths)]})
    wrong = 0
    for path in paths:
        is_right, said = verify(path, arguments.verbose)
        if slugs[path.stem] > 1:
            is_right, said = False, f"has a slug that another case has too; {said}"
        wrong += not is_right
        print(f"{'ok' if is_right else 'WRONG':6}{path.stem}: {said}", flush=True)
    return int(wrong > 0)


def _tree(paths: list[Path]) -> Iterator[Path]:
    """All cases beside those that are checked, since a slug is unique."""
    roots = {path.resolve().parents[2] for path in paths if len(path.resolve().parents) > 2}
    for root in roots:
        if (root / "seen").is_dir() or (root / "unseen").is_dir():
            yield from (path for half in cases.HALVES for path in root.glob(f"{half}/*/*.py"))


if __name__ == "__main__":
    sys.exit(main())
