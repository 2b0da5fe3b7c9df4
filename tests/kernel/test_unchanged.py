"""What user code can see of the interpreter is the same whether xleak watches or is switched off."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython

Starter = Callable[..., Session]

PREPARE = """
import gc, random, sys, warnings, weakref, zlib
random.seed(7)
class Noisy:
    def __init__(self, name, size):
        self.name, self.data = name, bytearray(size)
    def __repr__(self): return f"Noisy {self.name}"
    def __del__(self): print("gone", self.name)
"""

SHELL_STATE = """
def state():
    shell = get_ipython()
    hook = vars(shell.displayhook)
    return {
        "Out": {n: repr(value)[:40] for n, value in Out.items()},
        "In": [text[:20] for text in In],
        "underscores": [repr(globals().get(n))[:40] for n in ("_", "__", "___")],
        "hook": [repr(hook.get(n))[:40] for n in ("_", "__", "___")],
        "names": sorted(n for n in globals() if not n.startswith("_i")),
        "hidden": sorted(n for n in shell.user_ns_hidden if not n.startswith("_i")),
        "count": shell.execution_count,
    }
"""

INTERPRETER_STATE = """
def state():
    return {
        "gc": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.garbage, gc.get_freeze_count()),
        "warnings": len(warnings.filters),
        "random": zlib.crc32(repr(random.getstate()).encode()),
        "trace": (sys.gettrace(), sys.getprofile(), sys.getswitchinterval()),
        "limit": sys.getrecursionlimit(),
        "hooks": (sys.excepthook.__name__, sys.unraisablehook.__name__, sys.displayhook is get_ipython().displayhook),
        "modules": sorted(name for name in sys.modules if not name.startswith("xleak")),
    }
"""

TORCH_STATE = """
def state():
    storage = shown.untyped_storage()
    return {
        "random": zlib.crc32(repr((torch.get_rng_state().tolist(), np.random.get_state())).encode()),
        "modes": (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()),
        "references": [(sys.getrefcount(t), t._use_count()) for t in (shown, view, weight, loss)],
        "storage": (sys.getrefcount(storage), torch._C._storage_Use_Count(storage._cdata)),
        "version": (shown._version, weight._version, loss.requires_grad, weight.grad is None),
        "array": (sys.getrefcount(array), array.flags.writeable, sys.getrefcount(array.dtype)),
        "live": [sum(type(o) is kind for o in gc.get_objects()) for kind in KINDS],
        "calls": calls,
        "devices": torch.cuda.is_initialized(),
        "modules": len([name for name in sys.modules if not name.startswith("xleak")]),
        "filters": len(warnings.filters),
    }
"""

TORCH_CELLS = [
    "shown",
    "view",
    "shown = shown.clone()",
    "weight",
    "loss",
    "array.T",
    "[watching, shown]",
    "watching = None",
    "loss.backward()",
    "loss = loss.detach()",
    "weight.grad",
    "model = torch.nn.Linear(300, 300); model(torch.ones(2, 300)).sum().backward()\n"
    "torch.optim.SGD(model.parameters(), 0.1).step()",
    "model",
    "model = None",
    "(weight * 2).relu().sum()",
    "list(weight.view(1024, 1024))[:2]",
    "del Out[3]",
    "%reset -f out",
]

TORCH_PREPARE = """
import numpy as np, torch
np.random.seed(3); torch.manual_seed(3)
KINDS = (torch.Tensor, torch.nn.Parameter, np.ndarray)
calls = []
class Watching(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})
shown, array = torch.ones(1 << 20), np.ones(1 << 20)
view = shown[:3]
weight = torch.ones(1 << 20, requires_grad=True)
loss = (weight * shown).relu().sum()
watching = torch.ones(1 << 20).as_subclass(Watching)
"""

BIG = 20 << 20

USES_THE_CACHES = [
    f"kept = Noisy('kept', {BIG})\nkept",
    "[kept]",
    "kept = None",
    "sys.getrefcount(Out[5])",
    "for _ in range(3): pass",
    "3",
    "_5 = 'mine'",
    "del Out[5]",
    "1 / 0",
    "Out.pop(6, None) and 1",
    "%reset -f out",
    f"bytes({BIG})",
    "4",
    "_ + __",
]

FINALIZERS = [
    f"a = Noisy('a', {BIG})",
    "a = None; print('after a')",
    f"b = Noisy('b', {BIG})\nb",
    "r = weakref.ref(b, lambda _: print('callback'))",
    "n = [n for n, value in Out.items() if value is b]; print(n, sys.getrefcount(b), weakref.getweakrefcount(b))",
    "print(len(gc.get_referrers(b)))",
    "%reset -f out",
    "del b, n; print('after b')",
    f"c = Noisy('c', {BIG}); c.me = c",
    "del c; print('after c')",
    "gc.collect(); print('collected')",
    f"d = Noisy('d', {BIG})\ndef f(value): raise ValueError(value.name)\nf(d)",
    "del d; print('after d')",
    "1 / 0",
    "print('after another error')",
    f"Noisy('e', {BIG})",
    "print('after e')",
    "_ = __ = 0",
    f"Noisy('g', {BIG});",
    "print('after g')",
]


# Small enough that the watched kernel has findings and prints its line.
WATCHED = {"XLEAK_NOTICE_BYTES": "1000000"}


def seen(session: Session, cells: list[str]) -> list[tuple[str, str | None, str]]:
    """What each cell printed, its value, its error."""
    shown = []
    for cell in cells:
        ran = session.run(cell)
        shown.append((ran.text(), ran.value, str(ran.content.get("ename"))))
    return shown


def assert_the_same_without_xleak(start_kernel: Starter, cells: list[str]) -> None:
    watched = seen(start_kernel(**WATCHED), cells)
    assert watched == seen(start_kernel(XLEAK_DISABLE="1"), cells)


def with_state(state: str, cells: list[str]) -> list[str]:
    """The cells, with the state printed after each."""
    return [state, *[part for cell in cells for part in (cell, "print(state())")]]


@pytest.mark.parametrize("state", [SHELL_STATE, INTERPRETER_STATE], ids=["shell", "interpreter"])
def test_the_state_after_each_cell_is_the_same_with_and_without_xleak(
    start_kernel: Starter, state: str
) -> None:
    cells = [PREPARE, *with_state(state, USES_THE_CACHES)]
    assert_the_same_without_xleak(start_kernel, cells)


def test_torch_and_numpy_are_as_they_are_without_xleak(start_kernel: Starter) -> None:
    cells = [PREPARE, TORCH_PREPARE, *with_state(TORCH_STATE, TORCH_CELLS)]
    assert_the_same_without_xleak(start_kernel, cells)


def test_objects_are_finalized_at_the_same_moment_with_and_without_xleak(
    start_kernel: Starter,
) -> None:
    assert_the_same_without_xleak(start_kernel, [PREPARE, *FINALIZERS])


def test_the_cells_compared_here_are_watched(start_kernel: Starter) -> None:
    kernel = start_kernel(**WATCHED)
    told = []
    for cell in [PREPARE, *FINALIZERS]:
        ran = kernel.run(cell)
        # A client that is not known gets its lines on top of the next cell.
        told += [*ran.of("display_data"), *ran.of("update_display_data")]
        # The look comes after the reply, given a pause.
        kernel.findings()
    assert "xleak XL40" in str(told)
