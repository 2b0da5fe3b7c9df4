"""Views that keep what nobody shows: a single one is a warning only where it keeps much."""

from __future__ import annotations

import pytest
from shells import Session
from xleak import _native

torch = pytest.importorskip("torch", reason="the views are torch's")


def told(session: Session, *cells: str) -> dict[str, tuple[str, str]]:
    """(severity, message) by holder, once the views outlived the cell that made them."""
    session.run("import torch, numpy as np")
    for cell in (*cells, "1", "2"):
        assert session.run(cell)
    found = [it for it in _native.findings() if it.code == "XL118"]
    return {it.key: (it.severity, it.message) for it in found}


def test_the_variable_that_a_loop_leaves_is_a_note(session: Session) -> None:
    found = told(session, "for row in torch.randn(2000, 1000):\n    level = row.sum().item()")
    assert found == {
        "row": (
            "note",
            "`row` shows 3.9 KiB and keeps 7.6 MiB alive: the storage of the tensor that it was cut "
            "from, which no name reaches. Keep a copy: `row = row.clone()`.",
        )
    }


def test_so_is_each_of_several_names_that_it_leaves(session: Session) -> None:
    loop = "for a, b in zip(torch.randn(2000, 1000), np.ones((1000, 1000))):\n    a.sum()"
    found = told(session, loop)
    assert {name: severity for name, (severity, _) in found.items()} == {"a": "note", "b": "note"}
    assert "the memory of the array or tensor that it was cut from" in found["b"][1]
    assert found["b"][1].endswith("Keep a copy: `b = b.copy()`.")


def test_rows_of_a_tensor_that_has_a_name_are_not_reported(session: Session) -> None:
    loop = "for a, b in zip(X_train, y_train):\n    a.sum()"
    assert told(session, "X_train, y_train = torch.rand(2000, 999), torch.rand(2000)", loop) == {}


def test_a_large_one_is_a_warning_whatever_made_it(session: Session) -> None:
    found = told(session, "for row in torch.randn(5000, 1000):\n    level = row.sum().item()")
    assert found["row"][0] == "warning"
    session.run("del row")
    found = told(session, "head = torch.rand(5000, 1000)[:2]\nlast = [np.ones((3000, 1000))[0]]")
    assert {name: it[0] for name, it in found.items()} == {"head": "warning", "last[0]": "warning"}


def test_a_single_one_in_a_container_is_judged_as_by_name(session: Session) -> None:
    found = told(session, "parts = {'a': torch.rand(1000, 1000)[0], 'b': 3}")
    assert found["parts['a']"][0] == "note"


def test_several_in_a_container_are_a_warning_from_a_mebibyte(session: Session) -> None:
    found = told(session, "rows = [torch.rand(300, 1000)[0] for _ in range(2)]")
    severity, message = found["rows"]
    assert severity == "warning"
    assert message == (
        "2 views in `rows` show 7.8 KiB and keep 2.3 MiB alive: the storages of the tensors that they "
        "were cut from, which no name reaches. Keep copies: `rows[:] = [v.clone() for v in rows]`."
    )


def test_the_code_that_the_sentence_gives_frees_what_it_says(session: Session) -> None:
    told(session, "for row in torch.randn(2000, 1000):\n    level = row.sum().item()")
    (found,) = (it for it in _native.findings() if it.code == "XL118")
    code = found.message.rpartition(": `")[2].removesuffix("`.")
    assert code == found.fixes[0].code
    session.run(code)
    session.run("3")
    assert [it for it in _native.findings() if it.code == "XL118"] == []


def test_rows_that_have_a_view_each_are_one_finding_and_the_one_that_a_loop_left_is_apart(
    session: Session,
) -> None:
    row = "from collections import namedtuple\nRow = namedtuple('Row', 'k part')"
    make = "rows = [Row(k, np.ones((500, 500)).diagonal()) for k in range(5)]\nfor r in rows: pass"
    assert "4 views in `rows`" in told(session, row, make)["rows"][1]
    (found,) = (it for it in _native.findings() if it.code == "XL118")
    assert found.fixes[0].code.startswith("rows[0] = rows[0]._replace(part=rows[0][1].copy()); ")
    session.run(found.fixes[0].code)
    session.run("3")
    assert [it for it in _native.findings() if it.code == "XL118"] == []


def test_attributes_in_slots_have_views_as_others_have(session: Session) -> None:
    shot = (
        "class Shot:\n    __slots__ = ('head',)\n"
        "    def __init__(self): self.head = np.frombuffer(bytes(3_000_000), 'u1', count=64)"
    )
    found = told(session, shot, "shots = [Shot() for _ in range(2)]")
    assert found["shots"][0] == "warning"


def test_several_containers_get_a_loop_each(session: Session) -> None:
    make = (
        "def cut():\n    table = np.ones((900, 1000))\n"
        "    return {k: [table[n] for n in range(3)] for k in 'ab'}\nparts = cut()"
    )
    session.run("import numpy as np")
    assert list(session.reported("XL118", make, "1", "2").values()) == [
        (
            6,
            "parts['a'][:] = [v.copy() for v in parts['a']]; "
            "parts['b'][:] = [v.copy() for v in parts['b']]",
        )
    ]
    [found] = [it for it in _native.findings() if it.code == "XL118"]
    assert session.reported("XL118", found.fixes[0].code or "") == {}
