"""What the package asks objects of unknown type is nothing that the user's code answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from operand_checker import Returns, findings

PACKAGE = Path(__file__).parents[2] / "magics" / "xleak"
FOLDERS = ("agent", "diagnosis", "magics", "panel", "shell", "watching")
SOURCES = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]


def found_in(source: str, folder: Path) -> list[str]:
    path = folder / "it.py"
    path.write_text(source)
    return [text for _, text in findings(path, Returns([path]))]


def test_no_object_of_unknown_type_is_asked() -> None:
    returns = Returns([*SOURCES, PACKAGE / "_native.pyi"])
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in SOURCES
        for line, text in findings(path, returns)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("return isinstance(it, dict)", "isinstance(it, dict)"),
        ("return it == 1", "it == 1"),
        ("return it in (1, 2)", "it in (1, 2)"),
        ("return 1 in it", "1 in it"),
        ("return len(it)", "len(it)"),
        ("for part in it: pass", "for part in it:"),
        ("return [part for part in it]", " for part in it"),
        ("if it: return 1", "if it:"),
        ("return it or 1", "it or 1"),
        ("return not it", "not it"),
        ("made = f(1)\n    return made == 1", "made == 1"),
        ("for made in many():\n        return len(made)", "len(made)"),
    ],
)
def test_each_kind_of_question_is_found(body: str, asked: str, tmp_path: Path) -> None:
    source = f"def many() -> list[Any]: ...\ndef f(it: object) -> Any:\n    {body}\n"
    assert found_in(source, tmp_path) == [asked]


@pytest.mark.parametrize(
    "body",
    [
        "return it is None or it is many",
        "return type(it) is str and it == 'text'",
        "return is_exactly(it, (list, tuple)) and len(it)",
        "return many(it) == 1",
    ],
)
def test_identity_and_what_a_test_of_the_type_made_known_are_left(
    body: str, tmp_path: Path
) -> None:
    assert found_in(f"def f(it: Any) -> int:\n    {body}\n", tmp_path) == []
