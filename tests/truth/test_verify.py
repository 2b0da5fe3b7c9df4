"""The verifier tells right cases from wrong ones, by memory of each allocator."""

from pathlib import Path

import pytest
from verify import verify

LEAKING = """\
# /// truth
# question = "grows"
# style = "short"
# needs = []
# thread = "A forum thread"
# leaked = "{leaked}"
# cause_cell = 2
# cause_line = "made"
# holder = ["log"]
# repair = "log.clear()"
# ///
# %%
import mmap
log = []
# %%
made = {made}
log.append(made)
del made
# %%
print(len(log))
"""
CLEAN = """\
# /// truth
# question = "grows"
# style = "short"
# needs = []
# thread = "A forum thread"
# ///
# %%
import sys
box = sys.__dict__.setdefault("box", [])
# %%
rows = list(range(200_000))
{use}
del rows
print("done")
"""
OF_MALLOC = ("8_000_000", "bytes(8_000_000)")
MAPPED = (
    "8 << 20",
    "mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON); made.write(bytes(8 << 20))",
)


def verified(folder: Path, text: str) -> tuple[bool, str]:
    path = folder / "numbers_in_a_log.py"
    path.write_text(text)
    return verify(path)


@pytest.mark.parametrize(("leaked", "made"), [OF_MALLOC, MAPPED])
def test_a_repair_gives_back_what_is_declared(tmp_path: Path, leaked: str, made: str) -> None:
    is_right, said = verified(tmp_path, LEAKING.format(leaked=leaked, made=made))
    assert is_right, said
    assert "gives 8." in said


def test_blocks_of_python_are_counted(tmp_path: Path) -> None:
    # A list of one: its head, with what the collector needs, and its item's block.
    leaked, made = "100_000 * (8 + 64 + 16 + 32)", "[[n + 1000] for n in range(100_000)]"
    is_right, said = verified(tmp_path, LEAKING.format(leaked=leaked, made=made))
    assert is_right, said


def test_too_much_declared_is_wrong(tmp_path: Path) -> None:
    is_right, said = verified(tmp_path, LEAKING.format(leaked="9_600_000", made=OF_MALLOC[1]))
    assert not is_right
    assert "83% of the 9.600 that `leaked` says" in said


def test_a_repair_that_raises_is_wrong(tmp_path: Path) -> None:
    text = LEAKING.format(leaked=OF_MALLOC[0], made=OF_MALLOC[1])
    is_right, said = verified(tmp_path, text.replace('"log.clear()"', '"lgo.clear()"'))
    assert not is_right
    assert "`repair` raises NameError" in said


def test_a_clean_case_leaves_nothing(tmp_path: Path) -> None:
    is_right, said = verified(tmp_path, CLEAN.format(use="rows.reverse()\nrows.sort()"))
    assert is_right, said


def test_a_clean_case_that_adds_in_each_round_is_wrong(tmp_path: Path) -> None:
    is_right, said = verified(tmp_path, CLEAN.format(use="box.append(rows)\nrows.sort()"))
    assert not is_right
    assert "the last is to add less than 0.1" in said


def test_a_file_outside_the_folder_is_reported(tmp_path: Path) -> None:
    use = f"open({str(tmp_path / 'left.txt')!r}, 'w').close()\nrows.sort()"
    is_right, said = verified(tmp_path, CLEAN.format(use=use))
    assert not is_right
    assert "writes outside its folder" in said
