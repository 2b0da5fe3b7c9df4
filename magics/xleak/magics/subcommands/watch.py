"""`%xleak watch`: which tensors came since a moment."""

from __future__ import annotations

from IPython.core.error import UsageError

from xleak.render.units import counted, human_bytes
from xleak.shell import tensors
from xleak.watching.baseline import Baseline, told

HELP = {
    "watch": "from here on, remember which tensors are new",
    "watch --diff": "those made since then that are alive, the largest first",
}
_MOST = 20

_baseline: Baseline | None = None


def run(arguments: list[str]) -> None:
    """Marks the baseline, or compares with it."""
    global _baseline
    if arguments not in ([], ["--diff"]):
        raise UsageError(f"%xleak watch takes --diff or nothing, got {' '.join(arguments)!r}")
    if why := tensors.why_unknown():
        raise UsageError(f"%xleak watch cannot tell: {why}")
    if not arguments:
        _baseline = Baseline()
        print(
            "Tensors made from here on are new: `%xleak watch --diff` lists those that are alive."
        )
    elif _baseline is None:
        raise UsageError("there is no baseline yet: run %xleak watch first")
    else:
        _tell(_baseline)


def _tell(baseline: Baseline) -> None:
    new = baseline.new_tensors()
    if not new:
        print("No tensor that was made since the baseline is alive.")
        return
    size = human_bytes(sum(it.facts.bytes for it in new))
    print(f"{counted(len(new), 'tensor')} made since the baseline and alive, {size}:")
    print("\n".join(f"  {line}" for line in told(new, _MOST)))
