"""Source, notebooks and settings that nobody can read are said to be that, and end no process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_lint import LEAK, MODEL, notebook
from xleak import source
from xleak.cli import main

# More than the parser's stack holds: it counts it in 16 bits.
MANY = 70_000

NESTED = {
    "brackets": "x=" + "(" * 5_000,
    "many brackets": "x=" + "(" * MANY,
    "brackets in lines": "(\n" * MANY,
    "calls in lines": "f(\n" * MANY,
    "calls": "x=" + "a(" * MANY,
    "tuples": "x=" + "(1," * MANY,
    "words": "x=" + "not " * MANY,
    "lambdas": "x=" + "lambda a,b:" * MANY,
    "signs in lines": "*\n" * MANY,
    "signs in indented lines": " -\n" * MANY,
    "tries": "try:\n" * MANY,
    "conditions": "if\n" * MANY,
    "closed brackets in lines": ") a:\n" * MANY,
    "format strings": 'f"{' + "(" * MANY,
    "continued lines": "x = 1 + \\\n" + "\\\n" * MANY,
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("name", ["a.py", "a.ipynb"])
def test_code_that_is_nested_too_deeply_is_an_error_and_not_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str
) -> None:
    path = tmp_path / name
    text = NESTED[kind]
    path.write_text(text if name == "a.py" else notebook(text))
    before = path.read_bytes()
    assert main(["lint", str(path)]) == 1
    assert "invalid-syntax" in capsys.readouterr().out
    assert main(["fix", str(path)]) == 2
    assert path.read_bytes() == before


def test_what_is_nested_too_deeply_hides_no_finding_of_another_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(MODEL, NESTED["many brackets"], LEAK))
    main(["lint", "--format", "json", str(path)])
    found = [(it["code"], it["cell"]) for it in json.loads(capsys.readouterr().out)["findings"]]
    assert found == [("invalid-syntax", 2), ("XL203", 3)]


BIG = {
    "a list": "x = [" + "1, " * 100_000 + "]\n",
    "a table": "x = {\n" + '    "a": [1, 2, {"x": "y"}],\n' * 10_000 + "}\n",
    "a class": "class C:\n" + "    def f(self):\n        return self.x + 1\n" * 10_000,
    "functions": "@a\n@b\ndef f(x):\n    '''It's\nsaid ('''\n    return f'{x!r} ('\n\n" * 5_000,
    "clauses": "try:\n    pass\nexcept E:\n    pass\nelse:\n    pass\n\n" * 5_000,
}


@pytest.mark.parametrize("kind", BIG)
def test_a_script_that_is_only_long_is_read_to_its_end(kind: str) -> None:
    file = source.lint_text("a.py", (MODEL + BIG[kind] + LEAK).encode())
    assert file.report.doubtful == []
    assert [it.code for it in file.report.findings] == ["XL203"]


@pytest.mark.parametrize("text", ["x = 1\n\0y = 2\n", "x = 1  # \0\n", "\0", "%%bash\n\0"])
@pytest.mark.parametrize("name", ["a.py", "a.ipynb"])
def test_source_with_a_nul_character_is_an_error_and_not_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, name: str
) -> None:
    path = tmp_path / name
    path.write_text(text if name == "a.py" else notebook(text))
    assert main(["lint", str(path)]) == 1
    assert "it has a NUL character" in capsys.readouterr().out


@pytest.mark.parametrize("form", [99, 5, 1, 0, -4, "4", None, [4]])
def test_a_notebook_of_an_unknown_format_is_said_to_be_that_and_not_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: object
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(MODEL, LEAK, nbformat=form))
    before = path.read_bytes()
    assert main(["lint", str(path)]) == 2
    [sentence] = capsys.readouterr().err.splitlines()
    assert "format" in sentence
    assert main(["fix", str(path)]) == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize("setting", ["a = " + "[" * 100_000, "a = " + "{b=" * 100_000])
def test_settings_that_are_nested_too_deeply_are_bad_usage(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(setting)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["lint", "a.py"]) == 2
    [sentence] = capsys.readouterr().err.splitlines()
    assert "pyproject.toml: it is nested too deeply." in sentence
