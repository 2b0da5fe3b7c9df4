"""Memory that objects of extension modules have, and show by no interface, is theirs."""

from __future__ import annotations

import pytest
from shells import MIB, Session
from xleak import _native
from xleak.shell.heap import take_snapshot

PICTURE = "from PIL import Image, ImageDraw\npage = Image.new('RGB', (2000, 1000))"
# Pillow has four bytes for each pixel.
PICTURE_BYTES = 4 * 2000 * 1000
FOREST = """
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
data = np.random.default_rng(0).random((4000, 5))
forest = ExtraTreesRegressor(20, random_state=0).fit(data, data.sum(1))
"""


def retained(session: Session, *names: str) -> list[int]:
    heap = take_snapshot(session.watcher, None)
    assert heap is not None
    return [heap.retained_bytes(name) for name in names]


def test_the_pixels_of_a_picture_are_its_own(session: Session) -> None:
    assert session.run(PICTURE)
    assert retained(session, "page") == [pytest.approx(PICTURE_BYTES, rel=0.01)]
    before = _native.block_sums().alive_bytes
    assert session.run("del page")
    assert before - _native.block_sums().alive_bytes == pytest.approx(PICTURE_BYTES, rel=0.01)


def test_a_reference_that_an_object_does_not_show_leads_to_them(session: Session) -> None:
    assert session.run(PICTURE + "\npen = ImageDraw.Draw(page).draw\ndel page")
    assert retained(session, "pen") == [pytest.approx(PICTURE_BYTES, rel=0.01)]


def test_two_objects_with_one_picture_share_it(session: Session) -> None:
    assert session.run(PICTURE + "\npen = ImageDraw.Draw(page)")
    assert all(kept < MIB for kept in retained(session, "page", "pen"))
    assert session.run("del page")
    assert retained(session, "pen") == [pytest.approx(PICTURE_BYTES, rel=0.01)]


def test_the_nodes_of_trees_are_those_of_their_forest(session: Session) -> None:
    assert session.run(FOREST)
    # Of 4,000 rows a grown tree has 7,999 nodes of 64 bytes.
    [kept] = retained(session, "forest")
    assert kept >= 20 * 7999 * 64
    before = _native.block_sums().alive_bytes
    assert session.run("del forest")
    assert before - _native.block_sums().alive_bytes == pytest.approx(kept, rel=0.1)


def test_a_number_that_looks_like_an_address_makes_nobody_an_owner(session: Session) -> None:
    assert session.run(PICTURE + "\nimport numpy as np\nspare = np.zeros(4)")
    blocks = [it for it in _native.living_blocks() if it.bytes >= MIB and it.cell]
    session.shell.user_ns["address"] = blocks[-1].address
    assert session.run("import ctypes\nfalse = np.float64(address), ctypes.c_void_p(address)")
    assert retained(session, "page") == [pytest.approx(PICTURE_BYTES, rel=0.01)]


def test_old_addresses_in_memory_of_somebody_else_make_no_owner(session: Session) -> None:
    # What Pillow let go of has addresses of rows, and the small arrays of the forest get it.
    assert session.run(PICTURE)
    assert session.run(FOREST)
    page, forest = retained(session, "page", "forest")
    assert page == pytest.approx(PICTURE_BYTES, rel=0.01)
    assert forest >= 20 * 7999 * 64
