"""What keeps memory that a cell let go of, in plain containers of its pieces."""

from __future__ import annotations

import pytest
from shells import MIB, Session

torch = pytest.importorskip("torch")

MAKE = "import torch\nnet = torch.nn.Linear(1024, 1024)\nweights = list(net.parameters())"

ROWS = "import torch\nrows = [torch.ones(1024, 1024)]"
BOX = "class Box: pass\nbox = Box()\nbox.rows = rows"


def asked(session: Session, *cells: str) -> dict[str, int]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL422"]
    return {it.fixes[0].code or "": (it.bytes or 0) // MIB for it in found}


def test_a_list_of_its_parameters_keeps_a_deleted_model(session: Session) -> None:
    found = asked(session, MAKE, "print(len(weights))", "del net", "print('on')")
    assert found == {"del weights[0]": 4}
    assert asked(session, "del weights[0]") == {}


LOG = """
class Log:
    def __init__(self): self.rows, self.watched = [], []
    def watch(self, net): self.watched.append(net)
    def write(self, loss): self.rows.append(loss)
    def norm(self): return float(self.watched[0].weight.detach().norm())
log = Log()
"""


def test_a_method_that_does_not_read_it_is_no_use_of_what_keeps_it(session: Session) -> None:
    watch = "log.watch(net); del weights"
    found = asked(session, LOG, MAKE, watch, "del net", "log.write(0.5); print(log.rows)")
    assert list(found.values()) == [4]
    assert asked(session, "print(log.norm())") == {}


# The attributes of `log` take the address of what is gone.
MOVES = """
address = id(pieces)
del pieces
tried = [{}]
while id(tried[-1]) != address and len(tried) < 1000:
    tried.append({})
assert id(tried[-1]) == address
tried[-1].update(log.__dict__)
log.__dict__ = tried[-1]
del tried
"""


def test_what_has_its_address_after_it_is_not_what_was_deleted(session: Session) -> None:
    pieces = "pieces = dict(net.named_parameters()); log.watch(net); del weights"
    asked(session, LOG, MAKE, pieces, MOVES, "del net")
    assert asked(session, "print(log.norm())") == {}


def test_a_name_that_the_same_cell_deletes_and_binds_again_was_let_go(session: Session) -> None:
    again = "del net\nnet = torch.nn.Linear(2, 2)\nlog.watch(net)"
    found = asked(session, LOG, MAKE, "log.watch(net); del weights", again, "print(log.rows)")
    assert list(found.values()) == [4]
    assert asked(session, "print(log.norm())") == {}


@pytest.mark.parametrize(
    "cells",
    [
        (MAKE, "1", "del net", "print(weights[0].sum())"),
        (
            "import torch\nrows = torch.ones(1024, 1024)\nkept = [rows]",
            "1",
            "del rows",
            "print('on')",
        ),
        (ROWS, "1", BOX, "1", "del box", "print('on')"),
    ],
    ids=["used", "of data", "there before"],
)
def test_what_shows_the_pieces_is_silent(session: Session, cells: tuple[str, ...]) -> None:
    assert asked(session, *cells) == {}
