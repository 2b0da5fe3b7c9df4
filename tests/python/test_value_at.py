"""What a dictionary of the user's has under a key, looked up without comparing other keys."""

from __future__ import annotations

from xleak import _native


def test_a_value_is_found_wherever_its_entry_has_moved_to() -> None:
    names = {f"n{number}": number for number in range(1000)}
    names["sought"] = -1
    assert _native.value_at(names, "sought") == -1
    for number in range(999):
        del names[f"n{number}"]
        assert _native.value_at(names, "sought") == -1
    # The table is made again, with fewer entries before it.
    names.update({f"m{number}": number for number in range(1000)})
    assert _native.value_at(names, "sought") == -1
    del names["sought"]
    assert _native.value_at(names, "sought") is None
    names["sought"] = -2
    assert _native.value_at(names, "sought") == -2


def test_a_key_that_is_not_there_leaves_another_dictionary_s_alone() -> None:
    first, second = {"a": 1, "b": 2}, {"b": 3, "a": 4}
    for _ in range(2):
        assert [_native.value_at(it, "b") for it in (first, second, {})] == [2, 3, None]
